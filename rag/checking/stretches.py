"""Claims that are a piece of their sentence, all but word for word. Plain Python."""

from collections.abc import Sequence
from functools import lru_cache
from itertools import dropwhile

from rag.checking import grammar, vocabulary
from rag.checking.phrases import key_of
from rag.checking.statements import Statement

KEPT = 4096


def is_stretch(claim: Statement, said: Statement) -> bool:
    """Whether the words of the claim follow each other in the sentence, and only brackets are left out."""
    there = _telling(said)
    known = {key for key, _ in there}
    keys = list(dropwhile(lambda key: key not in known, (key for key, _ in _telling(claim))))
    return any(keys[:1] == [key] and _follows(keys, there[n:]) for n, (key, _) in enumerate(there))


def _follows(keys: Sequence[str], there: Sequence[tuple[str, bool]]) -> bool:
    done = 0
    for key, aside in there:
        if key == keys[done]:
            done += 1
            if done == len(keys):
                return True
        elif not aside:
            return False
    return False


@lru_cache(maxsize=KEPT)
def _telling(statement: Statement) -> Sequence[tuple[str, bool]]:
    """What says something, with the pronouns; and whether it stands in brackets."""
    return tuple(
        (key_of(token) or token.text, token.aside)
        for token in statement.tokens
        if token.text not in vocabulary.LIGHT and (key_of(token) or token.text in grammar.SUBJECTS)
    )
