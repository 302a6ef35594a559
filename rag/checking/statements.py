"""A sentence taken apart once: what it names, counts and denies, and in which clause. Plain Python."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from rag.checking import vocabulary
from rag.checking.dates import with_dates
from rag.checking.phrasings import plainer
from rag.checking.words import KEPT_STATEMENTS, Token, prepared, tokens_before_numbers, tokens_of, with_units

_BREAKS = frozenset(",;:.!?()[]—–。，、；：！？")
_QUOTED = re.compile(r'"([^"\n]{2,400})"|[「『《]([^「」『』《》\n]{2,400})[」』》]')
BEGINNING = 5
FEW = 2  # content words: fewer make no clause of their own


@dataclass(frozen=True, slots=True, eq=False)  # known by identity: all of it is long to hash
class Statement:
    """tokens: without marks. content: the places of those that say something. negations: places, too.

    runs: of the names that follow each other, their places. stems: with the joined ones of compounds. names:
    the stems of names alone. beginnings: the first letters of stems. pairs: of characters, in scripts without
    spaces. next_to: stems that follow each other.
    """

    language: str
    tokens: tuple[Token, ...]
    content: tuple[int, ...]
    negations: tuple[int, ...]
    runs: tuple[tuple[int, ...], ...]
    stems: frozenset[str]
    names: frozenset[str]
    beginnings: frozenset[str]
    texts: frozenset[str]
    pairs: frozenset[str]
    next_to: frozenset[tuple[str, str]]

    def content_of(self, clause: int) -> list[int]:
        return [place for place in self.content if self.tokens[place].clause == clause]

    def clauses(self) -> list[int]:
        return sorted({token.clause for token in self.tokens})

    def part(self, clauses: Iterable[int]) -> "Statement":
        wanted = frozenset(clauses)
        return made_of([token for token in self.tokens if token.clause in wanted], self.language)


@lru_cache(maxsize=KEPT_STATEMENTS)
def statement_of(text: str, language: str = "") -> Statement:
    tokens = _with_runs(list(with_units(list(with_dates(plainer(tokens_of(text, language), language))))))
    return made_of(_with_clauses(tokens, vocabulary.joining(language)), language)


@lru_cache(maxsize=KEPT_STATEMENTS)
def has_content(text: str, language: str = "") -> bool:
    """Whether a statement of it has any, mostly without taking all of it apart.

    A word that says something and denies nothing is content, whatever follows: only what stands behind a
    number can become a part of it.
    """
    denying = vocabulary.denying(language)
    for token in tokens_before_numbers(text, language):
        if token.kind in ("word", "name") and not _has_denial(token, denying):
            return True
    return bool(statement_of(text, language).content)


def quotes_in(text: str) -> list[str]:
    """What stands between quotation marks."""
    return [one or other for one, other in _QUOTED.findall(prepared(text))]


def made_of(tokens: Sequence[Token], language: str) -> Statement:
    denying = vocabulary.denying(language)
    negations = tuple(n for n in range(len(tokens)) if _denies(tokens, n, denying))
    silent = frozenset(n for n in negations if tokens[n].kind != "unspaced")
    stems = {t.stem for t in tokens if t.kind in ("word", "name", "stop")}
    return Statement(
        language,
        tuple(tokens),
        tuple(n for n, token in enumerate(tokens) if token.kind != "stop" and n not in silent),
        negations,
        _runs(tokens),
        frozenset(stems | {t.joined for t in tokens}) - {""},
        frozenset(t.stem for t in tokens if t.kind == "name"),
        frozenset(stem[:BEGINNING] for stem in stems),
        frozenset(t.text for t in tokens),
        frozenset(pair for t in tokens if t.kind == "unspaced" for pair in _pairs(t.text)),
        frozenset((one.stem, other.stem) for one, other in pairwise(tokens)),
    )


def _pairs(run: str) -> list[str]:
    return [first + second for first, second in pairwise(run)] or [run]


def _with_clauses(tokens: list[Token], joining: frozenset[str]) -> list[Token]:
    """Numbered, marks left out; what is too short for a clause belongs to the one before, or to the next."""
    clauses: list[list[Token]] = [[]]
    mark = ""
    for token in tokens:
        if (token.kind == "mark" and token.text in _BREAKS) or token.text in joining:
            clauses.append([])
        if token.kind != "mark":
            clauses[-1].append(token._replace(after=mark) if mark else token)
        mark = token.text if token.kind == "mark" else ""
    merged: list[list[Token]] = []
    for clause in filter(None, clauses):
        if merged and (_is_short(clause) or _is_short(merged[-1])):
            merged[-1] += clause
        else:
            merged.append(clause)
    return [
        token._replace(clause=n) if n else token  # of the first clause it is already
        for n, clause in enumerate(merged)
        for token in clause
    ]


def _is_short(clause: list[Token]) -> bool:
    return sum(len(t.text) // 3 if t.kind == "unspaced" else t.kind in ("word", "name") for t in clause) < FEW


def _with_runs(tokens: list[Token]) -> list[Token]:
    """Names numbered, those that follow each other alike."""
    made: list[Token] = []
    run = -1
    for token in tokens:
        if token.kind == "name":
            run += not (made and made[-1].kind == "name")
            token = token._replace(run=run)
        made.append(token)
    return made


def _runs(tokens: Sequence[Token]) -> tuple[tuple[int, ...], ...]:
    found: dict[int, list[int]] = {}
    for place, token in enumerate(tokens):
        if token.run >= 0:
            found.setdefault(token.run, []).append(place)
    return tuple(map(tuple, found.values()))


def _denies(tokens: Sequence[Token], place: int, denying: frozenset[str]) -> bool:
    token = tokens[place]
    if token.kind == "unspaced":
        endings = any(sign in token.text for sign in vocabulary.DENYING_ENDINGS)
        return endings or not vocabulary.DENYING_CHARACTERS.isdisjoint(token.text)
    if not _has_denial(token, denying):
        return False
    if token.text.endswith("n't"):
        return True
    following = tokens[place + 1] if place + 1 < len(tokens) else None
    if following is None:
        return True
    return following.text not in vocabulary.NOT_DENIED and not (token.text == "no" and following.number)


def _has_denial(token: Token, denying: frozenset[str]) -> bool:
    return token.text in denying or token.text.endswith("n't")
