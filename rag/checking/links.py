"""What stands together in a sentence and not in a claim: from and to, who did which, amount and year."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise

from rag.checking import vocabulary
from rag.checking.statements import Statement
from rag.checking.words import Token

DIRECTIONS = frozenset(("to", "from", "by"))
KEPT = 4096
BETWEEN = 3  # tokens between a number and the one that belongs to it


def links_agree(claim: Statement, said: Statement) -> bool:
    return (
        _directions_agree(claim, said)
        and _doers_agree(claim, said)
        and _following_agree(claim, said)
        and _rates_agree(claim, said)
    )


def _rates_agree(claim: Statement, said: Statement) -> bool:
    """ "Per year" is not "per company"."""
    if "per" not in said.stems or "per" not in claim.stems:
        return True
    return all(pair in said.next_to for pair in claim.next_to if pair[0] == "per")


def _directions_agree(claim: Statement, said: Statement) -> bool:
    """ "Rose to 5" is not "rose by 5", "from Rome" not "to Rome"."""
    there = _directed(said)
    for key, words in _directed(claim).items():
        other = there.get(key)
        if other and words.isdisjoint(other) and words | other <= DIRECTIONS:
            return False
    return True


@lru_cache(maxsize=KEPT)
def _directed(statement: Statement) -> Mapping[str, set[str]]:
    """Names and numbers -> the words before them, the determiner left out."""
    found: dict[str, set[str]] = {}
    for place, token in enumerate(statement.tokens):
        if token.kind in ("name", "number"):
            before = [one.text for one in statement.tokens[max(0, place - 2) : place]]
            while before and before[-1] in vocabulary.DETERMINERS:
                before.pop()
            word = before[-1] if before else ""
            if word == "by" and token.kind == "name":
                word = ""  # who did it, which may be said in other ways
            found.setdefault(_key(token), set()).add(word)
    return found


def _doers_agree(claim: Statement, said: Statement) -> bool:
    """Of "approved by Ann and paid by Bob" nothing is left in "Bob approved"."""
    there = set(_done_by(said))
    verbs, names = {verb for verb, _ in there}, {name for _, name in there}
    if len(verbs) < 2 or len(names) < 2:
        return True
    claimed = {*_done_by(claim), *_active(claim)}
    return all(link in there for link in claimed if link[0] in verbs and link[1] in names)


def _done_by(statement: Statement) -> Iterator[tuple[str, str]]:
    """(verb, name) of "approved by the great Ann Lee"."""
    by = vocabulary.by(statement.language)
    tokens = statement.tokens
    for run in statement.runs:
        before = [n for n in range(max(0, run[0] - 3), run[0]) if tokens[n].text in by]
        if before and before[-1] and tokens[before[-1] - 1].kind == "word":
            yield tokens[before[-1] - 1].stem, tokens[run[-1]].stem


def _active(statement: Statement) -> Iterator[tuple[str, str]]:
    """(verb, name) of "Ann Lee approved"."""
    for run in statement.runs:
        following = statement.tokens[run[-1] + 1 : run[-1] + 2]
        if following and following[0].kind == "word":
            yield following[0].stem, statement.tokens[run[-1]].stem


def _following_agree(claim: Statement, said: Statement) -> bool:
    """Of "4 million in 2022 and 3 in 2021" nothing is left in "4 million in 2021"."""
    there = _followed(said)
    for one, between, other in _followed(claim):
        strange = any(first == one and joint == between for first, joint, _ in there)
        known = any((first, last) == (one, other) for first, _, last in there)
        if between and strange and not known:
            return False
    return True


@lru_cache(maxsize=KEPT)
def _followed(statement: Statement) -> Collection[tuple[str, tuple[str, ...], str]]:
    """Number, the words to the next number, and that one."""
    places = [n for n, token in enumerate(statement.tokens) if token.kind == "number" and token.number]
    return frozenset(
        (_key(statement.tokens[first]), between, _key(statement.tokens[last]))
        for first, last in pairwise(places)
        if len(between := _texts(statement.tokens[first + 1 : last])) <= BETWEEN and "and" not in between
    )


def _texts(tokens: Sequence[Token]) -> tuple[str, ...]:
    return tuple(token.text for token in tokens if token.text not in vocabulary.UNITS or token.stem == "in")


def _key(token: Token) -> str:
    return token.number.value if token.number else token.stem
