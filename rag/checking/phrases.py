"""The parts of a sentence that a verb may hold together, and what each is about. Plain Python."""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from rag.checking import grammar, vocabulary
from rag.checking.statements import Statement
from rag.checking.words import Token

KEPT = 1024
ENDS = frozenset(".!?")  # of sentences
_BREAKS = frozenset(",;:.!?()—–")


class Part(NamedTuple):
    """tokens[start:end], from one mark or joining word to the next.

    joint: the word that joins it to what stands before, or "". subject: what its own subject is compared by,
    if it surely has one; its head comes last. reference: the pronoun that it has for a subject, or "".
    verb: the place of its first auxiliary, or -1. keys: of all that it says.
    """

    start: int
    end: int
    joint: str
    subject: tuple[str, ...]
    reference: str
    verb: int
    keys: frozenset[str]


def key_of(token: Token) -> str:
    """What a word or a number is compared by; "" for what says nothing."""
    if token.number:
        return token.number.value
    return token.stem if token.kind in ("word", "name", "unspaced") else ""


def marker_of(tokens: Sequence[Token], place: int) -> str:
    """The preposition before the word and its noun, "<" for an article that makes it an object, or ""."""
    named, verbal, passed = tokens[place].kind == "name", tokens[place].text.endswith(("ed", "ing")), 0
    while place and not tokens[place].after:
        place -= 1
        token = tokens[place]
        if token.text in grammar.CASES:
            return token.text
        if token.text in grammar.OBJECTS:
            return tokens[place - 1].text if place and tokens[place - 1].text in grammar.CASES else "<"
        if token.text in grammar.AUXILIARY or token.text in grammar.SUBJECTS:
            return ""
        if token.text in vocabulary.DETERMINERS:
            before = tokens[place - 1].text if place and not token.after else ""
            return before if before in grammar.CASES else ""
        if (named and token.kind == "word") or (token.text in grammar.GOING_ON and (passed or verbal)):
            return ""
        passed += 1
    return ""


def fronted(tokens: Sequence[Token], place: int) -> bool:
    """Whether the sentence begins with a preposition that this word belongs to: "In Rome lived ..."."""
    before = tokens[:place]
    return any(token.text in grammar.CASES for token in before) and all(t.kind == "stop" for t in before)


@lru_cache(maxsize=KEPT)
def parts_of(statement: Statement) -> tuple[Part, ...]:
    tokens = statement.tokens
    starts = [n for n in range(len(tokens)) if not n or _begins(statement, n)]
    ends = (*starts[1:], len(tokens))
    return tuple(
        _part(tokens, start, end)
        for start, end in zip(starts, ends, strict=True)
        if any(map(key_of, tokens[start:end]))
    )


def _begins(statement: Statement, place: int) -> bool:
    tokens = statement.tokens
    token = tokens[place]
    if token.after and token.after in _BREAKS:
        return token.after != "." or tokens[place - 1].kind != "name"  # "Dr. Lee"
    if token.text in vocabulary.joining(statement.language):
        return token.text not in grammar.ADVERBS
    return token.text in grammar.ALTERNATING and any(map(_makes_a_clause, _until_a_break(tokens, place + 1)))


def _until_a_break(tokens: Sequence[Token], place: int) -> Iterator[Token]:
    for token in tokens[place:]:
        if token.after or token.text in grammar.GOING_ON:
            return
        yield token


def _makes_a_clause(token: Token) -> bool:
    return token.text in grammar.AUXILIARY or token.text in grammar.SUBJECTS


def _part(tokens: Sequence[Token], start: int, end: int) -> Part:
    joint = tokens[start].text if _joins(tokens[start]) else ""
    begin = start + bool(joint)
    verb = next((n for n in range(begin, end) if _is_verb(tokens, n)), -1)
    reference = _reference(tokens, begin, end, joint)
    until = verb if verb >= 0 else _noun_until(tokens, begin, end, bool(joint) or _opens(tokens, start))
    subject = () if reference else tuple(_head(tokens, begin, until))
    keys = frozenset(key for token in tokens[start:end] if (key := key_of(token)))
    return Part(start, end, joint, subject, reference, verb, keys)


def _opens(tokens: Sequence[Token], place: int) -> bool:
    return not place or tokens[place].after in ENDS


def _joins(token: Token) -> bool:
    return token.text in vocabulary.ALL_JOINING or token.text in grammar.ALTERNATING


def _is_verb(tokens: Sequence[Token], place: int) -> bool:
    if tokens[place].text not in grammar.AUXILIARY:
        return False
    following = tokens[place + 1 : place + 2]
    return not (tokens[place].text == "may" and following and following[0].number)  # the month


def _reference(tokens: Sequence[Token], place: int, end: int, joint: str) -> str:
    """A pronoun; one that begins a relative clause only where no other subject follows it."""
    opens = tokens[place] if place < end else None
    if opens and opens.text in grammar.SUBJECTS:
        return opens.text
    if joint not in grammar.RELATIVES or opens is None:
        return ""
    return joint if opens.text in grammar.AUXILIARY or opens.kind == "word" else ""


def _noun_until(tokens: Sequence[Token], start: int, end: int, sure: bool) -> int:
    """Where the name ends that stands there, or the noun with its article; the start for neither."""
    place = start
    while place < end and tokens[place].text in grammar.BEFORE_NOUNS:
        place += 1
    if not sure or place >= end:
        return start
    if place == start and start and tokens[start - 1].text in grammar.CONTRASTING:
        return place + (tokens[place].kind == "word" and not tokens[place].text.endswith(grammar.NO_NOUN))
    if tokens[place].kind == "name":
        behind = next((n for n in range(place, end) if tokens[n].kind != "name"), end)
        return behind if behind > place + 1 or not tokens[place].first else _first_noun(tokens, place)
    return place + 1 if place > start and key_of(tokens[place]) else start


def _first_noun(tokens: Sequence[Token], place: int) -> int:
    """Behind the word that begins the sentence, where it may be a noun; else its own place."""
    behind = tokens[place + 1 : place + 2]
    followed = bool(behind) and behind[0].kind == "word" and not behind[0].after
    return place + (followed and not tokens[place].text.endswith(grammar.NO_NOUN))


def _head(tokens: Sequence[Token], start: int, end: int) -> Iterator[str]:
    """Of a subject, what stands before "of" and the like; nothing of what begins with a preposition."""
    for token in tokens[start:end]:
        if token.text in grammar.CASES:
            return
        if key := key_of(token):
            yield key
