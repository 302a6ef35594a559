"""Comparisons: "A is larger than B". Plain Python."""

from functools import lru_cache
from typing import NamedTuple

from rag.checking import grammar
from rag.checking.phrases import key_of
from rag.checking.statements import Statement
from rag.checking.words import Token

KEPT = 1024
NEAR = 8  # tokens between a comparative and its "than"


class Comparison(NamedTuple):
    """Places of tokens: start <= verb <= word < than < end. verb: what the comparative `word` goes with."""

    start: int
    verb: int
    word: int
    than: int
    end: int


def comparisons_agree(claim: Statement, said: Statement) -> bool:
    """ "A is larger than B" is not "B is larger than A", nor is "A is larger"."""
    ours, theirs = comparison_in(claim), comparison_in(said)
    if ours is None:
        return True
    if theirs is None:
        return False
    (before, behind), (first, second) = _sides(claim, ours), _sides(said, theirs)
    return before.isdisjoint(second - first - behind) and behind.isdisjoint(first - second - before)


@lru_cache(maxsize=KEPT)
def comparison_in(statement: Statement) -> Comparison | None:
    """The first one. "More than 5" is none, but a number."""
    tokens = statement.tokens
    for n, token in enumerate(tokens[:-1]):
        if token.text in grammar.COMPARING and not tokens[n + 1].number:
            word = next((m for m in range(n - 1, max(-1, n - NEAR), -1) if _is_comparative(tokens[m])), -1)
            if word > 0:
                start = next((m for m in range(word, 0, -1) if _begins(tokens[m])), 0)
                end = next((m for m in range(n + 1, len(tokens)) if _begins(tokens[m])), len(tokens))
                verb = next((m for m in range(start, word) if tokens[m].text in grammar.AUXILIARY), word - 1)
                return Comparison(start, verb, word, n, end)
    return None


def _is_comparative(token: Token) -> bool:
    """In German the word for "than" also means "as" and "when"."""
    return token.text in grammar.MORE or (token.kind == "word" and token.text.endswith("er"))


def _begins(token: Token) -> bool:
    return bool(token.after) or token.text in grammar.GOING_ON


def _sides(statement: Statement, found: Comparison) -> tuple[frozenset[str], frozenset[str]]:
    tokens = statement.tokens
    before, behind = tokens[found.start : found.than], tokens[found.than + 1 : found.end]
    return frozenset(map(key_of, before)) - {""}, frozenset(map(key_of, behind)) - {""}
