"""Whether a sentence says what a claim says, as far as words can tell. Plain Python."""

from collections.abc import Iterable
from itertools import pairwise

from rag.checking import vocabulary
from rag.checking.numbers import Number
from rag.checking.statements import Statement
from rag.checking.words import Token

ALLOWED_SHARE = 6  # one word of so many in a clause may be one that the sentence lacks


def agrees(claim: Statement, said: Statement, lent: frozenset[str] = frozenset()) -> bool:
    """lent: stems that the sentence may take from what stands before it, for its pronouns."""
    return (
        _words_agree(claim, said, lent)
        and all(number_holds(token.number, said) for token in claim.tokens if _counts(token))
        and _opposites_agree(claim, said)
        and _negations_agree(claim, said)
        and _runs_agree(claim, said, lent)
        and not _reversed(claim, said)
    )


def missing(claim: Statement, said: Statement, lent: frozenset[str] = frozenset()) -> list[int]:
    """Places of the claim's content words that the sentence lacks; numbers are another matter."""
    return [place for place in claim.content if not _held(claim.tokens[place], said, lent)]


def share(claim: Statement, said: Statement) -> float:
    """[0, 1], of the claim's content words and numbers that the sentence holds."""
    if not claim.content:
        return 0.0
    lacking = len(missing(claim, said))
    lacking += sum(not number_holds(t.number, said) for t in claim.tokens if _counts(t))
    return max(0.0, 1 - lacking / len(claim.content))


def number_holds(number: Number | None, said: Statement) -> bool:
    return number is None or any(_same(number, other.number, said) for other in said.tokens if _counts(other))


def _counts(token: Token) -> bool:
    return token.kind == "number" and token.number is not None


def _same(number: Number, other: Number | None, said: Statement) -> bool:
    if other is None or number.bound != other.bound or number.ordinal != other.ordinal:
        return False
    if number.value != other.value:
        return False
    return (
        not number.unit or number.unit == other.unit or (not other.unit and _unit_stands(number.unit, said))
    )


def _unit_stands(unit: str, said: Statement) -> bool:
    return any(vocabulary.UNITS.get(text) == unit for text in said.texts if len(text) > 1)


def _held(token: Token, said: Statement, lent: Iterable[str]) -> bool:
    if token.kind == "number":
        return True
    if token.kind == "unspaced":
        return _characters_held(token.text, said.pairs)
    if token.stem in said.stems or token.stem in lent or token.text in said.texts:
        return True
    return bool(token.joined) and token.joined in said.stems


def _characters_held(run: str, pairs: frozenset[str]) -> bool:
    """Every character in a pair that stands there, but for those that only bind."""
    for n, character in enumerate(run):
        around = run[max(0, n - 1) : n + 1], run[n : n + 2]
        if not any(pair in pairs for pair in around) and not _binds(character):
            return any(character in pair for pair in pairs) and len(run) == 1
    return True


def _binds(character: str) -> bool:
    return "\u3041" <= character <= "\u309f" or character in "的了在是和与及也于於为為有其这那之年月日、"


def _words_agree(claim: Statement, said: Statement, lent: frozenset[str]) -> bool:
    lacking = missing(claim, said, lent)
    counted: dict[int, int] = {}
    for place in lacking:
        token = claim.tokens[place]
        light = token.text in vocabulary.LIGHT and not (token.kind == "name" and not token.first)
        if light:
            continue
        if token.kind != "word" or token.text in vocabulary.STRICT or not token.text.isalpha():
            return False
        counted[token.clause] = counted.get(token.clause, 0) + 1
    return all(count <= len(claim.content_of(clause)) // ALLOWED_SHARE for clause, count in counted.items())


def _opposites_agree(claim: Statement, said: Statement) -> bool:
    sides = {vocabulary.STRICT[text] for text in said.texts if text in vocabulary.STRICT}
    for token in claim.tokens:
        side = vocabulary.STRICT.get(token.text)
        if side and side not in sides and token.stem not in said.stems and not token.number:
            return False
    return True


def _negations_agree(claim: Statement, said: Statement) -> bool:
    denied, there = _denied(claim), _denied(said)
    if claim.negations and not any(one & other for one in denied for other in there):
        return False
    if len(claim.negations) >= len(said.negations):
        return True
    asserted = {claim.tokens[n].stem for n in claim.content}
    return bool(claim.negations) or not any(_head(said, place) in asserted for place in said.negations)


def _denied(statement: Statement) -> list[set[str]]:
    """For each negation the stems that it may deny: the next three content words and the one before."""
    found = []
    for place in statement.negations:
        if statement.tokens[place].kind == "unspaced":
            found.append({statement.tokens[place].stem, "¬"})
            continue
        after = [n for n in statement.content if n > place][:3]
        before = [n for n in statement.content if n < place][-1:]
        found.append({statement.tokens[n].stem or statement.tokens[n].text for n in after + before})
    return found


def _head(said: Statement, place: int) -> str:
    if said.tokens[place].kind == "unspaced":
        return said.tokens[place].stem
    after = [n for n in said.content if n > place and said.clause(n) == said.clause(place)]
    before = [n for n in said.content if n < place]
    head = after[0] if after else before[-1] if before else place
    return said.tokens[head].stem


def _runs_agree(claim: Statement, said: Statement, lent: frozenset[str]) -> bool:
    """Names of several words stand together there, too."""
    said_pairs = {(a.stem, b.stem) for a, b in pairwise(said.tokens)}
    for run in claim.runs:
        words = [claim.tokens[place] for place in run]
        for one, other in pairwise(words):
            if one.first or one.stem in lent or other.stem in lent:
                continue
            if (one.stem, other.stem) not in said_pairs:
                return False
    return True


def _reversed(claim: Statement, said: Statement) -> bool:
    """Whether two names stand around the same word the other way round: who did it, and to whom?"""
    order = _around(said)
    for (one, verb, other), passive in _around(claim).items():
        straight, turned = order.get((one, verb, other)), order.get((other, verb, one))
        if straight is not None:
            if straight != passive:
                return True
        elif turned is not None and turned == passive:
            return True
    return False


def _around(statement: Statement) -> dict[tuple[str, str, str], bool]:
    """(name, word, name) as they follow each other -> whether "by" comes before the second."""
    found: dict[tuple[str, str, str], bool] = {}
    for first, second in pairwise(statement.runs):
        between = statement.tokens[first[-1] + 1 : second[0]]
        passive = any(token.text in vocabulary.BY for token in between[-2:])
        for token in between:
            if token.kind == "word":
                key = (statement.tokens[first[-1]].stem, token.stem, statement.tokens[second[-1]].stem)
                found.setdefault(key, passive)
    return found
