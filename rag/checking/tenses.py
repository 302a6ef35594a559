"""Whether a claim leaves out that something was, or is so for some, or on a condition. Plain Python."""

from collections.abc import Iterator, Sequence
from functools import lru_cache

from rag.checking import grammar, vocabulary
from rag.checking.phrases import Part, key_of, parts_of
from rag.checking.statements import Statement
from rag.checking.words import Token

KEPT = 4096


def limits_agree(claim: Statement, said: Statement) -> bool:
    """ "Was the tallest until 1887" is not "is the tallest", "free for adults over 60" not "for adults"."""
    return not (_still_claimed(claim, said) or _unconditional(claim, said) or _unrestricted(claim, said))


def _still_claimed(claim: Statement, said: Statement) -> bool:
    """Whether the claim says that something is, of which the sentence says that it was, and is no more."""
    if grammar.PRESENT.isdisjoint(claim.texts) or not claim.texts.isdisjoint(grammar.PAST | grammar.ENDED):
        return False
    part = _nearest(claim, said)
    texts = {token.text for token in said.tokens[part.start : part.end]} if part else set()
    if part and part.verb < 0 and not texts.isdisjoint(grammar.FORMERLY):
        return True
    if grammar.PAST.isdisjoint(texts) or not grammar.PRESENT.isdisjoint(texts):
        return False
    return not texts.isdisjoint(grammar.ENDED) or any(map(_is_superlative, claim.texts & texts))


def _is_superlative(text: str) -> bool:
    return vocabulary.STRICT.get(text, "").startswith("pole") or (len(text) > 5 and text.endswith("est"))


def _nearest(claim: Statement, said: Statement) -> Part | None:
    """The part of the sentence that holds most of what is claimed of its subject."""
    own = parts_of(claim)
    keys = {key_of(token) for token in claim.tokens}.difference(own[0].subject if own else ())
    return max(parts_of(said), key=lambda part: len(part.keys & keys), default=None)


def _unconditional(claim: Statement, said: Statement) -> bool:
    """Whether the claim is what the sentence says of a case alone, and the case is left out."""
    if grammar.SUPPOSING.isdisjoint(said.texts) or not grammar.SUPPOSED.isdisjoint(claim.texts):
        return False
    parts, nearest = parts_of(said), _nearest(claim, said)
    claimed = {key_of(token) for token in claim.tokens}
    return any(
        parts[n + 1 if n == 0 else n - 1] == nearest or (n > 0 and _is_choice(parts, n - 1, claimed))
        for n, part in enumerate(parts)
        if len(parts) > 1 and _supposes(said.tokens, part)
    )


def _is_choice(parts: Sequence[Part], n: int, claimed: set[str]) -> bool:
    """Whether the claim takes up the second of two: "every three months, or monthly if ..."."""
    if parts[n].joint or parts[n].subject or not n or parts[n].verb >= 0:
        return False
    others = frozenset[str]().union(*(part.keys for m, part in enumerate(parts) if m != n))
    return not claimed.isdisjoint(parts[n].keys - others)


def _supposes(tokens: Sequence[Token], part: Part) -> bool:
    before = tokens[part.start - 1].text if part.start else ""
    if tokens[part.start].text not in grammar.SUPPOSING or before in grammar.CONCEDING:
        return False
    return bool(part.subject or part.reference or part.verb >= 0)


def _unrestricted(claim: Statement, said: Statement) -> bool:
    """Whether the claim is about all of those of whom the sentence names a part: "adults over 60"."""
    claimed = {key_of(token) for token in claim.tokens}
    for noun, number in _restricted(said):
        alone = sum(token.stem == noun for token in said.tokens) == 1
        if alone and noun in claimed and number not in claimed:
            return True
    return False


@lru_cache(maxsize=KEPT)
def _restricted(said: Statement) -> Sequence[tuple[str, str]]:
    """Nouns, and the numbers that limit them."""
    return tuple(_limits(said))


def _limits(said: Statement) -> Iterator[tuple[str, str]]:
    for n, token in enumerate(said.tokens[:-2]):
        limit, number = said.tokens[n + 1 : n + 3]
        plural = token.text.endswith("s") or token.text in grammar.PEOPLE
        if plural and token.stem and limit.text in grammar.RESTRICTING and number.number and not limit.after:
            yield token.stem, number.number.value
