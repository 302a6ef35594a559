"""A claim in the words of its sentence: "ineffective" for "not effective", "B is larger" for "A is smaller".

Plain Python. What comes out is held to the sentence as any other claim is.
"""

from collections.abc import Iterator
from itertools import islice

from rag.checking import grammar, vocabulary
from rag.checking.comparatives import TURNED
from rag.checking.comparisons import comparison_in
from rag.checking.statements import Statement, made_of
from rag.checking.words import Token

NEAR = 4  # tokens behind a negation among which the word stands that it denies


def reworded(claim: Statement, said: Statement) -> Iterator[Statement]:
    """At most three; none where the sentence has no word that says the opposite."""
    for tokens in (_affirmed(claim, said), _denied(claim, said), _turned(claim, said)):
        if tokens:
            yield made_of(tokens, claim.language)


def _affirmed(claim: Statement, said: Statement) -> list[Token]:
    """ "Not effective" as "ineffective"; [] where the sentence says no such thing."""
    for negation, word in _negated(claim):
        token = claim.tokens[word]
        opposite = next((one for one in said.tokens if _are_opposites(one, token, claim.language)), None)
        if opposite:
            before = (one for n, one in enumerate(claim.tokens[:word]) if n != negation)
            return [*before, opposite._replace(clause=token.clause), *claim.tokens[word + 1 :]]
    return []


def _denied(claim: Statement, said: Statement) -> list[Token]:
    """ "Ineffective" as "not effective"; [] where the sentence says no such thing."""
    for negation, word in _negated(said):
        for place, token in enumerate(claim.tokens):
            if token.text not in said.texts and _are_opposites(token, said.tokens[word], claim.language):
                put_in = (said.tokens[n]._replace(clause=token.clause) for n in (negation, word))
                return [*claim.tokens[:place], *put_in, *claim.tokens[place + 1 :]]
    return []


def _negated(statement: Statement) -> Iterator[tuple[int, int]]:
    """Places of "not" and of the word that it denies."""
    tokens = statement.tokens
    for n in statement.negations:
        if tokens[n].text in grammar.NOT or tokens[n].text.endswith("n't"):
            behind = range(n + 1, min(len(tokens), n + 1 + NEAR))
            words = (m for m in behind if tokens[m].kind == "word" and not tokens[m].text.endswith("ly"))
            yield from ((n, word) for word in islice(words, 1))


def _are_opposites(denying: Token, plain: Token, language: str) -> bool:
    """ "Ineffective" and "effective", "prohibited" and "permitted"."""
    if len(plain.text) >= grammar.BASE and denying.text.endswith(plain.text):
        return denying.text.removesuffix(plain.text) in grammar.negating(language)
    return (vocabulary.STRICT.get(denying.text), vocabulary.STRICT.get(plain.text)) == ("forbid", "allow")


def _turned(claim: Statement, said: Statement) -> list[Token]:
    """ "A is smaller than B" as "B is larger than A"; [] where the sentence says no such thing."""
    ours = comparison_in(claim)
    theirs = comparison_in(said) if ours else None
    if not ours or not theirs or ours.verb <= ours.start:
        return []
    tokens, other = claim.tokens, said.tokens[theirs.word]
    if other.text not in TURNED.get(tokens[ours.word].text, ()):
        return []
    verb = *tokens[ours.verb : ours.word], other._replace(clause=tokens[ours.word].clause)
    before, behind = tokens[ours.start : ours.verb], tokens[ours.than + 1 : ours.end]
    middle = tokens[ours.word + 1 : ours.than + 1]
    return [*tokens[: ours.start], *behind, *verb, *middle, *before, *tokens[ours.end :]]
