"""Who did it, and to whom: names and numbers of a sentence in each other's place. Plain Python."""

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import combinations, islice, pairwise

from rag.checking import vocabulary
from rag.checking.dates import date_before
from rag.checking.phrases import fronted
from rag.checking.phrasings import PERIODS
from rag.checking.statements import Statement
from rag.checking.words import Token

NEAREST, NEXT, BINDING = 3, 1, 1  # what neighbours weigh: the words that say something, and those that bind
WIDE, PER_WORD = 12, 4  # tokens that the words of a clause may be spread over
STEPS = 3  # words that bind, looked past
Features = frozenset[tuple[str, str, int]]
Anchor = tuple[str, Features]


def exchanged(claim: Statement, said: Statement) -> bool:
    """Whether a name or a number stands where the sentence has another one, or names are turned around."""
    if _turned(claim, said):
        return True
    same_voice = _passive(claim) == _passive(said)
    return (
        _misplaced(_numbers(claim), _numbers(said))
        or _misplaced(_opposites(claim), _opposites(said))
        or (same_voice and _misplaced(_names(claim), _names(said)))
    )


def is_compact(claim: Statement, said: Statement) -> bool:
    """Whether the words of each clause stand near each other: in a long sentence all kinds of words occur."""
    if len(said.tokens) <= WIDE:
        return True
    return all(
        _width(claim, clause, said) <= WIDE + PER_WORD * len(claim.content_of(clause))
        for clause in claim.clauses()
    )


def _width(claim: Statement, clause: int, said: Statement) -> int:
    """Tokens of the shortest stretch that holds all that the sentence holds of the clause."""
    keys, known = _keys(said)
    wanted = known.intersection([_key(claim.tokens[place]) for place in claim.content_of(clause)])
    last: dict[str, int] = {}
    least = len(said.tokens)
    for place, key in enumerate(keys):
        if key in wanted:
            last[key] = place
            if len(last) == len(wanted):
                least = min(least, place - min(last.values()))
    return least if wanted else 0


@lru_cache(maxsize=4096)
def _keys(statement: Statement) -> tuple[tuple[str, ...], frozenset[str]]:
    """Of its tokens, in order and all together."""
    keys = tuple(map(_key, statement.tokens))
    return keys, frozenset(keys)


def _key(token: Token) -> str:
    return token.number.value if token.number else token.stem


def _misplaced(claimed: Sequence[Anchor], there: Sequence[Anchor]) -> bool:
    """Whether one has more neighbours in common with another one than with itself."""
    if len(there) < 2:
        return False
    for value, features in claimed:
        own = [_weight(features & other) for name, other in there if name == value]
        if not own:
            continue
        strange = max([_weight(features & other) for name, other in there if name != value], default=0)
        if strange > max(own) and strange >= NEAREST:
            return True
    if len(claimed) < 2:
        return False
    values = [value for value, _ in there]
    single = {value: n for n, value in enumerate(values) if values.count(value) == 1}
    known = [(value, features, single[value]) for value, features in claimed if value in single]
    return any(_swapped(one, other, there) for one, other in combinations(known, 2))


def _swapped(
    one: tuple[str, Features, int], other: tuple[str, Features, int], there: Sequence[Anchor]
) -> bool:
    """Whether the two follow each other the other way round, and nothing tells that they belong so."""
    if one[2] <= other[2]:
        return False
    first, second = there[one[2]][1], there[other[2]][1]
    straight = _weight(one[1] & first) + _weight(other[1] & second)
    return straight <= _weight(one[1] & second) + _weight(other[1] & first)


def _weight(features: Features) -> int:
    return sum([weight for _, _, weight in features])


@lru_cache(maxsize=4096)
def _numbers(statement: Statement) -> tuple[Anchor, ...]:
    return tuple(
        (token.number.value, _around_number(statement.tokens, n))
        for n, token in enumerate(statement.tokens)
        if token.kind == "number" and token.number
    )


def _around_number(tokens: Sequence[Token], place: int) -> Features:
    """A year stands for its whole date: "in 1856" for "on 10 July 1856"."""
    begin = date_before(tokens, place)
    alone = _around(tokens, place, place)
    return alone if begin == place else alone | _around(tokens, begin, place)


@lru_cache(maxsize=4096)
def _opposites(statement: Statement) -> tuple[Anchor, ...]:
    """Words that have one, such as "before" and "increased"; and periods, as in "per day"."""
    return tuple(
        (vocabulary.STRICT[token.text], _around(statement.tokens, n, n))
        for n, token in enumerate(statement.tokens)
        if token.text in vocabulary.STRICT and token.kind != "number"
    ) + tuple(
        (token.text, _around(statement.tokens, n - 1, n))
        for n, token in enumerate(statement.tokens)
        if token.text in PERIODS and n and statement.tokens[n - 1].text == "per"
    )


@lru_cache(maxsize=4096)
def _names(statement: Statement) -> tuple[Anchor, ...]:
    return tuple(
        (statement.tokens[run[-1]].stem, _around(statement.tokens, run[0], run[-1])) for run in statement.runs
    )


def _around(tokens: Sequence[Token], first: int, last: int) -> Features:
    """The nearest words on both sides, up to one that says something."""
    left = _neighbours("<", tokens[:first][::-1], tokens[first].aside)
    return frozenset((*left, *_neighbours(">", tokens[last + 1 :], tokens[last].aside)))


def _neighbours(side: str, tokens: Sequence[Token], aside: bool) -> Iterator[tuple[str, str, int]]:
    nearest = (token for token in tokens if token.aside == aside or not token.aside)
    weight = NEAREST
    for token in islice(nearest, STEPS + 2):
        if token.kind == "stop" or token.text in vocabulary.ALL_JOINING:
            if weight == NEAREST and token.text not in vocabulary.DETERMINERS:
                yield side, token.text, BINDING
            continue
        yield side, token.stem or "#", weight if token.stem else BINDING
        if weight == NEXT:
            return
        weight = NEXT


def _passive(statement: Statement) -> bool:
    by = vocabulary.by(statement.language)
    return any(run[0] and _stands_before(statement.tokens, run[0], by) for run in statement.runs)


def _stands_before(tokens: Sequence[Token], place: int, words: frozenset[str]) -> bool:
    return any(token.text in words for token in tokens[max(0, place - 2) : place])


def _turned(claim: Statement, said: Statement) -> bool:
    """Whether two names stand around the same word the other way round."""
    order = _between_names(said)
    for (one, word, other), passive in _between_names(claim).items():
        straight, turned = order.get((one, word, other)), order.get((other, word, one))
        if straight is not None:
            if straight != passive:
                return True
        elif turned is not None and turned == passive:
            return True
    return False


@lru_cache(maxsize=4096)
def _between_names(statement: Statement) -> Mapping[tuple[str, str, str], bool]:
    """(name, word, name) as they follow each other -> whether "by" comes before the second."""
    found: dict[tuple[str, str, str], bool] = {}
    by = vocabulary.by(statement.language)
    for first, second in pairwise(statement.runs):
        if fronted(statement.tokens, first[0]):
            continue
        passive = _stands_before(statement.tokens, second[0], by)
        for token in statement.tokens[first[-1] + 1 : second[0]]:
            if token.kind == "word":
                key = (statement.tokens[first[-1]].stem, token.stem, statement.tokens[second[-1]].stem)
                found.setdefault(key, passive)
    return found
