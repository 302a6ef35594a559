"""A claim's words as the sentence has them: "purchased" where it says "bought". Plain Python."""

from collections.abc import Mapping
from functools import lru_cache

from rag.checking.agreement import missing
from rag.checking.statements import Statement, made_of
from rag.checking.thesaurus import groups
from rag.checking.vocabulary import LIGHT
from rag.checking.words import Token, stem_of

KEPT = 8  # languages
MOST = 1  # words of a claim that may be neither in the sentence nor stand for one in it
NOTHING: frozenset[str] = frozenset()


def in_its_words(claim: Statement, said: Statement) -> Statement | None:
    """The claim with words of the sentence in the place of those that stand for them; None if there are none.

    What comes out is held to the sentence as any other claim is: who does what, in which order, to whom.
    """
    friends = synonyms(claim.language)
    lacking = missing(claim, said) if friends else ()
    if not lacking or len(lacking) > len(claim.content) // 2 + 1:
        return None
    tokens = list(claim.tokens)
    taken: set[str] = set()
    strange = 0
    for place in lacking:
        token = tokens[place]
        wanted = friends.get(token.stem, NOTHING) if token.kind == "word" or token.first else NOTHING
        free = wanted & said.stems - claim.stems - taken
        other = _first(said, free) if free else None
        if other:
            taken.add(other.stem)
            tokens[place] = _in_place_of(token, other)
        elif token.text not in LIGHT and (strange := strange + 1) > MOST:
            return None
    return made_of(tokens, claim.language) if taken else None


def _first(said: Statement, stems: frozenset[str]) -> Token | None:
    return next((token for token in said.tokens if token.stem in stems and token.kind == "word"), None)


def _in_place_of(token: Token, other: Token) -> Token:
    return other._replace(clause=token.clause, first=token.first, aside=token.aside, after=token.after)


@lru_cache(maxsize=KEPT)
def synonyms(language: str) -> Mapping[str, frozenset[str]]:
    """Stems -> those that may stand for them."""
    found: dict[str, set[str]] = {}
    for words in groups(language):
        stems = {stem for word in words if (stem := stem_of(word, language))}
        for stem in stems:
            found.setdefault(stem, set()).update(stems - {stem})
    return {stem: frozenset(others) for stem, others in found.items()}
