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
    if not (_against_agree(claim, said) and _sequences_agree(claim, said)):
        return False
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


def _against_agree(claim: Statement, said: Statement) -> bool:
    """ "Compared with A" is not "compared with B", nor "unlike A" "unlike B"."""
    for word in grammar.AGAINST & claim.texts & said.texts:
        ours, theirs = _behind(claim, word), _behind(said, word)
        if not ours <= theirs and not (ours - theirs).isdisjoint(map(key_of, said.tokens)):
            return False
    return True


def _behind(statement: Statement, word: str) -> frozenset[str]:
    """What stands behind its first occurrence, up to a mark."""
    tokens = statement.tokens
    place = next(n for n, token in enumerate(tokens) if token.text == word)
    end = next((m for m in range(place + 1, len(tokens)) if tokens[m].after), len(tokens))
    return frozenset(map(key_of, tokens[place + 1 : end])) - {""}


def _sequences_agree(claim: Statement, said: Statement) -> bool:
    """ "A before B" is not "B before A"."""
    for word in grammar.SEQUENCE & claim.texts & said.texts:
        (one, other), (first, second) = _two_sides(claim, word), _two_sides(said, word)
        if not one.isdisjoint(second - first - other) and not other.isdisjoint(first - second - one):
            return False
    return True


def _two_sides(statement: Statement, word: str) -> tuple[frozenset[str], frozenset[str]]:
    """What is said to be before (or after), and what it is before: "Before B, A", too."""
    tokens = statement.tokens
    place = next(n for n, token in enumerate(tokens) if token.text == word)
    until = next((m for m in range(place + 1, len(tokens)) if tokens[m].after), len(tokens))
    opens = all(not key_of(token) for token in tokens[:place])
    before = tokens[until:] if opens else tokens[:place]
    behind = tokens[place + 1 : until]
    return frozenset(map(key_of, before)) - {""}, frozenset(map(key_of, behind)) - {""}
