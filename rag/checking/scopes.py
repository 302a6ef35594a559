"""Of whom a sentence says something, where a claim says it of more or of others. Plain Python.

"Deaths among smokers rose" is not "deaths rose", "some of the tests failed" not "the tests failed", "Ann's
brother" not "Ann", and of "the man hired by Lee left" nothing is left in "Lee left".
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

from rag.checking import grammar, vocabulary
from rag.checking.phrases import key_of, marker_of
from rag.checking.statements import Statement

NEAR = 4  # tokens of what limits a noun


def scopes_agree(claim: Statement, said: Statement) -> bool:
    opening = list(_opening(claim))
    if len(claim.content) + len(claim.negations) < 2:  # it says nothing of it
        return True
    return not any(_reaches_further(claim, place, said) for place in opening)


def _reaches_further(claim: Statement, place: int, said: Statement) -> bool:
    places = _places(said).get(key_of(claim.tokens[place]), ())
    rules = (_is_of_another, _does_what_another_does, _has_its_limit_left_out, _is_counted)
    return bool(places) and any(all(rule(claim, place, said, n) for n in places) for rule in rules)


@lru_cache(maxsize=4096)
def _places(statement: Statement) -> Mapping[str, Sequence[int]]:
    found: dict[str, list[int]] = {}
    for n, token in enumerate(statement.tokens):
        found.setdefault(key_of(token), []).append(n)
    return found


def _opening(claim: Statement) -> Iterator[int]:
    """Places of the words that the claim begins with, its subject among them."""
    begun = False
    for n, token in enumerate(claim.tokens):
        if begun and (token.after or token.kind not in ("word", "name")):
            return
        if token.text in grammar.CASES or token.text in grammar.AUXILIARY:
            return
        if token.kind in ("word", "name"):
            begun = True
            yield n


def _is_of_another(claim: Statement, place: int, said: Statement, there: int) -> bool:
    """Whether the noun only tells whose: "Ann's brother", "children of members"."""
    token, owner = claim.tokens[place], said.tokens[there]
    if token.owner:
        return False
    if owner.owner:
        behind = said.tokens[there + 1 : there + 2]
        return bool(behind and behind[0].stem) and behind[0].stem not in claim.stems
    if there < 2 or marker_of(said.tokens, there) != "of":
        return False
    of = next(n for n in range(there, -1, -1) if said.tokens[n].text == "of")
    head = said.tokens[of - 1] if of else None
    plain = head is not None and (head.kind == "word" or head.first) and head.text not in grammar.APPOSITIVE
    return plain and head is not None and head.stem not in claim.stems and _opens(said, of - 1)


def _opens(said: Statement, place: int) -> bool:
    """Whether the word stands where a subject does."""
    while place > 0 and not said.tokens[place].after:
        place -= 1
        token = said.tokens[place]
        if token.text in vocabulary.ALL_JOINING:
            return True
        if token.kind != "stop" or token.text in grammar.AUXILIARY or token.text in grammar.CASES:
            return False
    return True


def _does_what_another_does(claim: Statement, place: int, said: Statement, there: int) -> bool:
    """Whether it is only the doer of something else: "the manager hired by Lee fired Kim"."""
    if claim.tokens[place].kind != "name" or marker_of(said.tokens, there) not in grammar.AGENTS:
        return False
    by = next(n for n in range(there, -1, -1) if said.tokens[n].text in grammar.AGENTS)
    done = said.tokens[by - 1] if by else None
    following = said.tokens[there + 1 : there + 2]
    verb = bool(following) and following[0].kind == "word" and following[0].stem in claim.stems
    return done is not None and done.kind == "word" and done.stem not in claim.stems and verb


def _has_its_limit_left_out(claim: Statement, place: int, said: Statement, there: int) -> bool:
    """Whether it is said of some alone: "infants with fever", "employees who have worked for two years"."""
    if any(token.text in vocabulary.DETERMINERS for token in claim.tokens[:place]):
        return False
    behind = said.tokens[there + 1 : there + 1 + NEAR]
    if not behind or behind[0].after or behind[0].text not in grammar.LIMITING:
        return False
    limit = next((token.stem for token in behind if token.kind in ("word", "name")), "")
    return bool(limit) and limit not in claim.stems


def _is_counted(claim: Statement, place: int, said: Statement, there: int) -> bool:
    """Whether it is said of a share of them: "some of the tests"; and the claim tells none."""
    before = [token.text for token in said.tokens[max(0, there - NEAR) : there]]
    while before and before[-1] in grammar.BEFORE_NOUNS | grammar.THEIR:
        before.pop()
    if len(before) < 2 or before[-1] != "of":
        return False
    return before[-2] in grammar.SHARES and claim.texts.isdisjoint(grammar.SHARES) and not _has_number(claim)


def _has_number(claim: Statement) -> bool:
    return any(token.number for token in claim.tokens)
