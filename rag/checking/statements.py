"""A sentence taken apart once: what it names, counts and denies, and in which clause. Plain Python."""

import re
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from rag.checking import vocabulary
from rag.checking.vocabulary import NEGATIONS, NOT_NEGATIONS
from rag.checking.words import KEPT_STATEMENTS, Token, prepared, tokens_of, with_units

_BREAKS = frozenset(",;:.!?()[]—–。，、；：！？")
_QUOTED = re.compile(r'"([^"\n]{2,400})"|[「『《]([^「」『』《》\n]{2,400})[」』》]')
FEW = 2  # content words: fewer make no clause of their own


@dataclass(frozen=True, slots=True)
class Statement:
    """tokens: without marks. content: the places of those that say something. negations: places, too.

    runs: of the names that follow each other, their places. stems: with the joined ones of compounds. pairs:
    of characters, in scripts without spaces. quotes: what stands between quotation marks.
    """

    tokens: tuple[Token, ...]
    content: tuple[int, ...]
    negations: tuple[int, ...]
    runs: tuple[tuple[int, ...], ...]
    stems: frozenset[str]
    texts: frozenset[str]
    pairs: frozenset[str]
    quotes: tuple[str, ...]
    anaphoric: bool

    def clause(self, place: int) -> int:
        return self.tokens[place].clause

    def content_of(self, clause: int) -> list[int]:
        return [place for place in self.content if self.tokens[place].clause == clause]


@lru_cache(maxsize=KEPT_STATEMENTS)
def statement_of(text: str, language: str = "") -> Statement:
    tokens = _with_runs(_with_clauses(list(with_units(tokens_of(text, language)))))
    negations = tuple(n for n, token in enumerate(tokens) if _denies(tokens, n, language))
    denying = frozenset(n for n in negations if tokens[n].kind != "unspaced")
    content = tuple(n for n, t in enumerate(tokens) if n not in denying and (t.kind != "stop"))
    stems = {t.stem for t in tokens if t.kind in ("word", "name", "stop")} | {
        t.joined for t in tokens if t.joined
    }
    return Statement(
        tokens,
        content,
        negations,
        _runs(tokens),
        frozenset(stems),
        frozenset(t.text for t in tokens),
        frozenset(pair for t in tokens if t.kind == "unspaced" for pair in _pairs(t.text)),
        tuple(one or other for one, other in _QUOTED.findall(prepared(text))),
        any(t.text in vocabulary.PRONOUNS for t in tokens),
    )


def _pairs(run: str) -> list[str]:
    return [first + second for first, second in pairwise(run)] or [run]


def _with_clauses(tokens: list[Token]) -> list[Token]:
    """Numbered, marks left out; what is too short for a clause belongs to the one before, or to the next."""
    clauses: list[list[Token]] = [[]]
    for token in tokens:
        if token.kind == "mark":
            if token.text in _BREAKS and clauses[-1]:
                clauses.append([])
            continue
        if token.text in vocabulary.JOINING and clauses[-1]:
            clauses.append([])
        clauses[-1].append(token)
    merged: list[list[Token]] = []
    for clause in clauses:
        if merged and (_is_short(clause) or _is_short(merged[-1])):
            merged[-1] += clause
        else:
            merged.append(clause)
    return [token._replace(clause=n) for n, clause in enumerate(merged) for token in clause]


def _is_short(clause: list[Token]) -> bool:
    return (
        sum(len(t.text) // 3 + 1 if t.kind == "unspaced" else t.kind in ("word", "name") for t in clause)
        < FEW
    )


def _with_runs(tokens: list[Token]) -> tuple[Token, ...]:
    made: list[Token] = []
    run = -1
    for token in tokens:
        if token.kind != "name":
            made.append(token)
            continue
        if not (made and made[-1].kind == "name" and made[-1].clause == token.clause):
            run += 1
        made.append(token._replace(run=run))
    return tuple(made)


def _runs(tokens: tuple[Token, ...]) -> tuple[tuple[int, ...], ...]:
    found: dict[int, list[int]] = {}
    for place, token in enumerate(tokens):
        if token.run >= 0:
            found.setdefault(token.run, []).append(place)
    return tuple(map(tuple, found.values()))


def _denies(tokens: tuple[Token, ...], place: int, language: str) -> bool:
    token = tokens[place]
    if token.kind == "unspaced":
        return any(sign in token.text for sign in vocabulary.CJK_NEGATIONS) or any(
            sign in token.text for sign in vocabulary.JA_NEGATIONS
        )
    following = tokens[place + 1] if place + 1 < len(tokens) else None
    if token.text.endswith("n't") or token.text == "cannot":
        return True
    if token.text not in NEGATIONS or token.text in NOT_NEGATIONS.get(language or "en", frozenset()):
        return False
    if following is None:
        return True
    return following.text not in vocabulary.IGNORED_NEGATIONS and not (
        token.text == "no" and following.number
    )
