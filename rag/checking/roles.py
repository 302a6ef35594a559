"""Who does it to whom, by prepositions and by order around the verb. Plain Python."""

from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import combinations
from typing import NamedTuple

from rag.checking import grammar
from rag.checking.phrases import key_of, marker_of, parts_of
from rag.checking.statements import Statement

KEPT = 1024
_NONE: frozenset[str] = frozenset()


class Place(NamedTuple):
    """Of a word that stands once in its sentence. marker: see `marker_of`."""

    at: int
    marker: str


def roles_agree(claim: Statement, said: Statement) -> bool:
    """Of "A sends B to C" nothing is left in "C sends B to A", nor in "B sends A"."""
    claimed, there = _places(claim), _places(said)
    both = [key for key in claimed if key in there]
    for one, other in combinations(both, 2):
        if _swapped(claimed[one], claimed[other], there[one], there[other]):
            return False
        pair = _doer(claimed[one], claimed[other]), _doer(there[one], there[other])
        if None not in pair and pair[0] != pair[1]:
            words = _between(claim, claimed[one], claimed[other])
            if not set(words).isdisjoint(_between(said, there[one], there[other])):
                return False
    if any(_turned_in_its_part(claim, claimed, pair, said) for pair in combinations(claimed, 2)):
        return False
    if any(_swapped_again(claimed, one, other, said) for one, other in combinations(claimed, 2)):
        return False
    if any(_other_way(claimed[key].marker, there[key].marker) for key in both):
        return False
    doers = [key for key in both if there[key].marker in grammar.AGENTS and not claimed[key].marker]
    return not any(_suffers(claim, claimed[key].at, said, there[key].at) for key in doers)


def _suffers(claim: Statement, place: int, said: Statement, doer: int) -> bool:
    """Whether something is done to the claim's subject that it does itself in the sentence."""
    verb = next((n for n in range(place, len(claim.tokens)) if claim.tokens[n].text in grammar.PASSIVE), -1)
    if verb < 0 or verb + 1 >= len(claim.tokens):
        return False
    if claim.language == "de":  # where the verb comes last
        return claim.tokens[verb].text in said.texts and claim.tokens[-1].stem in said.stems
    by = next((n for n in range(doer, 0, -1) if said.tokens[n].text in grammar.AGENTS), 0)
    return bool(by) and said.tokens[by - 1].stem == claim.tokens[verb + 1].stem != ""


@lru_cache(maxsize=KEPT)
def _places(statement: Statement) -> Mapping[str, Place]:
    found: dict[str, list[int]] = {}
    for n, token in enumerate(statement.tokens):
        if token.kind in ("word", "name") and (key := key_of(token)):
            found.setdefault(key, []).append(n)
    return {
        key: Place(places[0], marker_of(statement.tokens, places[0]))
        for key, places in found.items()
        if len(places) == 1
    }


def _swapped(one: Place, other: Place, first: Place, second: Place) -> bool:
    """Whether each stands behind what the other one stands behind in the sentence."""
    if one.marker == other.marker:
        return False
    return (one.marker, other.marker) == (second.marker, first.marker)


def _turned_in_its_part(
    claim: Statement, claimed: Mapping[str, Place], pair: tuple[str, str], said: Statement
) -> bool:
    """Of words that stand more than once: whether every part that has both has them the other way round."""
    one, other = pair
    there = _markers(said)
    if one not in there or other not in there or (one in _places(said) and other in _places(said)):
        return False
    ours = _doer(claimed[one], claimed[other])
    words = frozenset(_between(claim, claimed[one], claimed[other]))
    found = [
        _doer(places[one], places[other])
        for part in parts_of(said)
        if (places := _places_in(said, part.start, part.end)) and one in places and other in places
        if not words.isdisjoint(_between(said, places[one], places[other]))
    ]
    return ours is not None and bool(found) and all(theirs is not None and theirs != ours for theirs in found)


def _places_in(statement: Statement, start: int, end: int) -> Mapping[str, Place]:
    tokens = statement.tokens
    return {
        key: Place(n, marker_of(tokens, n))
        for n in range(start, end)
        if tokens[n].kind in ("word", "name") and (key := key_of(tokens[n]))
    }


def _swapped_again(claimed: Mapping[str, Place], one: str, other: str, said: Statement) -> bool:
    """As `_swapped`, of words that stand more than once in the sentence: "the old file into the new file"."""
    markers = _markers(said)
    first, second = markers.get(one, _NONE), markers.get(other, _NONE)
    if not first or not second:
        return False
    ours, theirs = claimed[one].marker, claimed[other].marker
    return ours not in first and theirs not in second and ours in second and theirs in first


@lru_cache(maxsize=KEPT)
def _markers(statement: Statement) -> Mapping[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for n, token in enumerate(statement.tokens):
        if token.kind in ("word", "name") and (key := key_of(token)):
            found.setdefault(key, set()).add(marker_of(statement.tokens, n))
    return {key: frozenset(markers) for key, markers in found.items()}


def _doer(one: Place, other: Place) -> int | None:
    """0 or 1: which of the two does it; None where that cannot be told."""
    first = 0 if one.at < other.at else 1
    before, behind = (one, other) if first == 0 else (other, one)
    if before.marker == behind.marker:
        return first
    return 1 - first if not before.marker and behind.marker in grammar.AGENTS else None


def _between(statement: Statement, one: Place, other: Place) -> Iterator[str]:
    """What a verb may be; nothing for the items of a list."""
    start, end = sorted((one.at, other.at))
    tokens = statement.tokens[start + 1 : end + 1]
    parted = any(token.after or token.text in grammar.GOING_ON for token in tokens)
    if not parted or any(token.text in ("it", "they") for token in tokens):
        yield from (token.stem for token in tokens[:-1] if token.kind == "word")


def _other_way(marker: str, there: str) -> bool:
    """ "On the coast" and "from the coast"."""
    return (marker in grammar.AWAY and there in grammar.PLACING) or (
        marker in grammar.PLACING and there in grammar.AWAY
    )
