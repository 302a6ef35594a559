"""Whether what a claim denies is what a sentence denies. Plain Python."""

from collections.abc import Iterator, Sequence

from rag.checking import vocabulary
from rag.checking.statements import Statement
from rag.checking.words import Token

Denial = tuple[tuple[str, ...], str]
NOT_ONLY = ("not", "only")  # denies nothing, but says that there is more
NO_LONGER = frozenset((("no", "longer"), ("nicht", "mehr")))
AFTER = 2  # content words behind a negation that it may be about


def negations_agree(claim: Statement, said: Statement) -> bool:
    """Each one of the claim stands there, too, and none that denies a word of the claim is left out."""
    if NOT_ONLY in claim.next_to and NOT_ONLY not in said.next_to:
        return False
    left = list(_denials(said))
    for denied in _denials(claim):
        match = next((other for other in left if _same(denied, other)), None)
        if match is None:
            return False
        left.remove(match)
    return not _any_left_out(claim, left)


def denies_no_more(claim: Statement, said: Statement) -> bool:
    """Whether no word of the claim is denied in the sentence that is not denied in the claim."""
    heads = {denied[0][:1] for denied in _denials(claim)}
    return not _any_left_out(claim, [denied for denied in _denials(said) if denied[0][:1] not in heads])


def _any_left_out(claim: Statement, denials: list[Denial]) -> bool:
    asserted = claim.stems | claim.pairs
    return any(heads and heads[0] in asserted for heads, _ in denials)


def _denials(statement: Statement) -> Iterator[Denial]:
    """Of each negation the stems behind it, in their order, or else the one before; and the one before."""
    for place in statement.negations:
        token = statement.tokens[place]
        if token.kind == "unspaced":
            yield from (((around,), "") for around in _denied_characters(token.text))
            continue
        first = place + 1 + _ends_what_was(statement.tokens, place)
        behind = (n for n in statement.content if n >= first and _may_be_denied(statement.tokens[n], token))
        after = tuple(_said(statement, n) for n in behind)[:AFTER]
        before = [_said(statement, n) for n in statement.content if n < place][-1:]
        yield after or tuple(before), "".join(before)


def _ends_what_was(tokens: Sequence[Token], place: int) -> bool:
    """ "No longer", which denies what follows."""
    return place + 1 < len(tokens) and (tokens[place].text, tokens[place + 1].text) in NO_LONGER


def _may_be_denied(token: Token, negation: Token) -> bool:
    """Not how something is done, nor what stands behind a bracket that the negation stands in."""
    return not token.text.endswith("ly") and token.aside >= negation.aside


def _said(statement: Statement, place: int) -> str:
    token = statement.tokens[place]
    return token.number.value if token.number else token.stem


def _denied_characters(run: str) -> Iterator[str]:
    """Each negation with the character behind it, or before it at the end."""
    for n, character in enumerate(run):
        if character in vocabulary.DENYING_CHARACTERS:
            yield run[n : n + 2] if n + 1 < len(run) else run[max(0, n - 1) : n + 1]
    for ending in vocabulary.DENYING_ENDINGS:
        place = run.find(ending)
        if place >= 0:
            yield run[max(0, place - 1) : place + 1]


def _same(one: Denial, other: Denial) -> bool:
    heads, others = one[0], other[0]
    if not heads or not others:
        return not heads and not others
    return heads[0] == others[0] or _no_of_one(one, other) or _no_of_one(other, one)


def _no_of_one(one: Denial, other: Denial) -> bool:
    """Of "did not show an effect" and "showed no effect"."""
    (heads, _), (others, before) = one, other
    return len(heads) > 1 and heads[0] == before and heads[1] == others[0]
