"""Whether a claim is surer of itself than the sentence that it rests on. Plain Python."""

from rag.checking import vocabulary
from rag.checking.statements import Statement
from rag.checking.words import Token

AHEAD = 4  # tokens that a word may stand before what it weakens
MOST = 2 / 3  # of a claim's words, where it is about them


def no_surer(claim: Statement, said: Statement) -> bool:
    """ "May cause" is not "causes", "expects to open" not "opened", "if it agrees" not "it agreed"."""
    return (
        not _dropped(claim, said, vocabulary.HEDGING, vocabulary.HEDGES, "")
        and not _dropped(claim, said, vocabulary.PLANNING, vocabulary.PLANS, "to")
        and not _assumed(claim, said)
    )


def _dropped(
    claim: Statement, said: Statement, weak: frozenset[str], kept: frozenset[str], link: str
) -> bool:
    """Whether the claim states what the sentence only says with one of the weak words before it."""
    if weak.isdisjoint(said.texts) or not kept.isdisjoint(claim.texts):
        return False
    for place, token in enumerate(said.tokens):
        if token.text in weak and not _is_month(said.tokens, place):
            behind = said.tokens[place + 1 : place + 1 + AHEAD]
            if link and not (behind and behind[0].text == link):
                continue
            verb = next((one for one in behind if one.kind == "word" and not one.text.endswith("ly")), None)
            if verb and verb.stem in claim.stems:
                return True
    return False


def _is_month(tokens: tuple[Token, ...], place: int) -> bool:
    around = (*tokens[max(0, place - 1) : place], *tokens[place + 1 : place + 2])
    return tokens[place].text == "may" and any(token.kind == "number" for token in around)


def _assumed(claim: Statement, said: Statement) -> bool:
    """Whether the claim rests on what the sentence only supposes."""
    if vocabulary.CONDITIONS.isdisjoint(said.texts) or not vocabulary.CONDITIONAL.isdisjoint(claim.texts):
        return False
    supposed = {token.clause for token in said.tokens if token.text in vocabulary.CONDITIONS}
    stems = {token.stem for token in said.tokens if token.clause in supposed and token.stem}
    others = {token.stem for token in said.tokens if token.clause not in supposed}
    words = [claim.tokens[place].stem for place in claim.content]
    only = sum(word in stems and word not in others for word in words)
    return bool(words) and only >= MOST * len(words)
