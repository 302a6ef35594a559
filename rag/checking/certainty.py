"""Whether a claim is surer of itself than the sentence that it rests on. Plain Python."""

from rag.checking import grammar, vocabulary
from rag.checking.statements import Statement
from rag.checking.words import Token

WOULD, WILL = frozenset(["would"]), frozenset(["will"])
AHEAD = 4  # tokens that a word may stand before what it weakens
MOST = 2 / 3  # of a claim's words, where it is about them


def no_surer(claim: Statement, said: Statement) -> bool:
    """ "May cause" is not "causes", "expects to open" not "opened", "if it agrees" not "it agreed"."""
    return (
        not _dropped(claim, said, vocabulary.HEDGING, vocabulary.HEDGES, "")
        and not _dropped(claim, said, vocabulary.PLANNING, vocabulary.PLANS, "to")
        and not _dropped(claim, said, vocabulary.HEARSAY, vocabulary.KEPT, "to")
        and not _dropped(claim, said, vocabulary.UNSURE, vocabulary.KEPT, "")
        and not _dropped(claim, said, WOULD, vocabulary.KEPT, "")
        and not _over_already(claim, said)
        and not _only_an_opinion(claim, said)
        and not _assumed(claim, said)
        and not _obliged(claim, said)
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
            if verb and verb.stem in claim.stems and not _said_surely(said, verb.stem, weak):
                return True
    return False


def _over_already(claim: Statement, said: Statement) -> bool:
    """Whether the claim says that something was, of which the sentence says that it will be."""
    if grammar.PAST.isdisjoint(claim.texts) or not grammar.PAST.isdisjoint(said.texts):
        return False
    return _dropped(claim, said, WILL, vocabulary.PLANS, "")


def _only_an_opinion(claim: Statement, said: Statement) -> bool:
    """Whether the claim states what somebody suspects, claims or denies: "they suspect that it leaks"."""
    if not (vocabulary.KEPT | vocabulary.OPINIONS).isdisjoint(claim.texts):
        return False
    for place, token in enumerate(said.tokens[:-1]):
        if token.text in vocabulary.OPINIONS and said.tokens[place + 1].text == "that":
            behind = {one.stem for one in said.tokens[place + 2 :]} - {""}
            before = {one.stem for one in said.tokens[:place] if one.kind != "stop"} - behind - {""}
            words = {claim.tokens[n].stem for n in claim.content} - {""}
            if words and words.isdisjoint(before) and len(words & behind) >= MOST * len(words):
                return True
    return False


def _said_surely(said: Statement, stem: str, weak: frozenset[str]) -> bool:
    """Whether the verb stands there once more, with a surer word before it."""
    places = [n for n, token in enumerate(said.tokens) if token.stem == stem]
    return any(
        weak.isdisjoint(before) and not grammar.AUXILIARY.isdisjoint(before)
        for n in places
        if (before := {token.text for token in said.tokens[max(0, n - AHEAD) : n]})
    )


def _is_month(tokens: tuple[Token, ...], place: int) -> bool:
    around = (*tokens[max(0, place - 1) : place], *tokens[place + 1 : place + 2])
    return tokens[place].text == "may" and any(token.kind == "number" for token in around)


def _obliged(claim: Statement, said: Statement) -> bool:
    """Whether the claim makes a duty of what the sentence only says to be so, or to be allowed."""
    if grammar.OBLIGING.isdisjoint(claim.texts) or not grammar.OBLIGING.isdisjoint(said.texts):
        return False
    return not any(_commands(said, n) for n in range(len(said.tokens)))


def _commands(said: Statement, place: int) -> bool:
    """Whether an imperative may stand there: a bare verb that a sentence or a clause begins with."""
    token, before = said.tokens[place], said.tokens[place - 1] if place else None
    opens = before is None or bool(token.after) or before.text in vocabulary.ALL_JOINING
    if token.text in ("never", "do", "don't", "please"):
        return opens
    following = said.tokens[place + 1 : place + 2]
    verbal = token.kind in ("word", "name") and not token.text.endswith(grammar.NO_IMPERATIVE)
    return opens and verbal and bool(following) and following[0].text not in grammar.AUXILIARY


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
