"""Whether a claim is about what the sentence is about, and not about another thing in it. Plain Python."""

from collections.abc import Iterator

from rag.checking import vocabulary
from rag.checking.phrases import fronted
from rag.checking.statements import Statement

CLAUSES = frozenset(["when", "while", "whereas", "although", "though", "because", "since"])


def subjects_agree(claim: Statement, said: Statement) -> bool:
    return _doers_agree(claim, said) and not _of_a_later_clause(claim, said) and _ranges_agree(claim, said)


def _doers_agree(claim: Statement, said: Statement) -> bool:
    """Of "he worked for Ann Lee" nothing is left in "Ann Lee worked"."""
    for verb, name in _active(claim):
        verbs = [n for n, token in enumerate(said.tokens) if token.stem == verb and n]
        names = [n for n, token in enumerate(said.tokens) if token.stem == name]
        if verbs and names and names[0] > verbs[-1] and all(_has_doer(said, n) for n in verbs):
            return False
    return True


def _active(statement: Statement) -> Iterator[tuple[str, str]]:
    """(verb, name) of "Ann Lee worked"."""
    for run in statement.runs:
        following = statement.tokens[run[-1] + 1 : run[-1] + 2]
        if following and following[0].kind == "word" and not fronted(statement.tokens, run[0]):
            yield following[0].stem, statement.tokens[run[-1]].stem


def _has_doer(said: Statement, verb: int) -> bool:
    before = said.tokens[verb - 1]
    named = before.kind == "name" or (before.kind == "word" and not before.text.endswith("ly"))
    return named or before.text in vocabulary.pronouns(said.language)


def _of_a_later_clause(claim: Statement, said: Statement) -> bool:
    """Whether the claim says of its subject what the sentence says of another, before "when" and the like."""
    run = claim.runs[0] if claim.runs else ()
    if not run or any(token.text not in vocabulary.DETERMINERS for token in claim.tokens[: run[0]]):
        return False
    name = claim.tokens[run[0]].stem
    places = [n for n, token in enumerate(said.tokens) if token.stem == name]
    if not places or not _opens_clause(said, places[0]):
        return False
    others = {claim.tokens[n].stem or claim.tokens[n].text for n in claim.content if n not in run}
    return not any((token.stem or token.text) in others for token in said.tokens[places[0] + len(run) :])


def _opens_clause(said: Statement, place: int) -> bool:
    before = place - 1
    while before > 0 and said.tokens[before].text in vocabulary.DETERMINERS:
        before -= 1
    return before > 0 and said.tokens[before].text in CLAUSES


def _ranges_agree(claim: Statement, said: Statement) -> bool:
    """ "Between 10 and 12" is not 10."""
    claimed = {token.number.value for token in claim.tokens if token.number}
    for n, token in enumerate(said.tokens[:-3]):
        low, joint, high = said.tokens[n + 1 : n + 4]
        if token.text == "between" and joint.text == "and" and low.number and high.number:
            ends = {low.number.value, high.number.value}
            if len(ends & claimed) == 1 and len(ends) == 2 and not _again(said, ends & claimed, n):
                return False
    return True


def _again(said: Statement, value: set[str], place: int) -> bool:
    """Whether the number stands elsewhere, too."""
    others = (*said.tokens[:place], *said.tokens[place + 4 :])
    return any(token.number and token.number.value in value for token in others)
