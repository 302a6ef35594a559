"""Turns of speech of several words that say what one says, written as that one. Plain Python.

In a claim and in a passage alike: so what is not worth a word of its own in either cannot part them.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias

from rag.checking.vocabulary import DETERMINERS
from rag.checking.words import Token, tokens_of

# As it is written, and how else it may be said.
_TURNS = """
must: has to | have to | had to | needs to | need to | ought to | is required to | are required to | shall
must: is obliged to | are obliged to | is supposed to | are supposed to | is expected to | are expected to
may: is allowed to | are allowed to | is permitted to | are permitted to
can: is able to | are able to
could: was able to | were able to
was: used to be
because of: due to | owing to | thanks to | on account of | as a result of
before: prior to
after: subsequent to
few: a handful of
most: the majority of | the vast majority of
several: a number of
if: provided that | as long as | on condition that | in the event that | in case
although: even though | despite the fact that
whenever: every time | each time
immediately: at once | right away | straight away
compared with: compared to | when compared to | when compared with | in comparison with | in comparison to
and: as well as
ceo: chief executive officer | chief executive
cfo: chief financial officer | finance chief | chief finance officer
died: passed away
after that: thereafter | afterwards
known as: referred to as | also known as
switched off: turned off | shut off
switch off: turn off | shut off
switched on: turned on
switch on: turn on
instead of: rather than | as opposed to
except: apart from | other than | with the exception of | except for | aside from
"""
_OPENINGS = """
in summary|in short|in brief|in conclusion|in addition|in contrast|by contrast|in other words|in total
|in general|to summari[sz]e|to sum up|to conclude|on the (?:other|one) hand|as a result|for example
|for instance|(?:it is|it's) (?:worth|important to) (?:noting|note|mention|mentioning) that
|(?:please )?note that|it should be noted that
|(?:the|this) {text}(?: also)? (?:says|states|mentions|notes|explains
|indicates|describes|specifies|reports|shows) that|additionally|furthermore|moreover|however
|therefore|thus|consequently|specifically|notably|importantly|overall|finally|similarly|likewise|meanwhile
|(?:according to|based on) the (?:provided |given )?{text}
|zusammenfassend|außerdem|laut (?:dem )?(?:text|dokument)|en résumé|selon le (?:document|texte)
|en resumen|además|según el (?:documento|texto)
"""
_TEXT = "(?:document|text|passage|source|article|context|information)"
PERIODS = frozenset(("second", "minute", "hour", "day", "night", "week", "month", "quarter", "year"))
_ADVERBS = {
    "daily": "day", "weekly": "week", "monthly": "month", "yearly": "year", "annually": "year",
    "hourly": "hour", "quarterly": "quarter", "nightly": "night",
}  # fmt: skip
_EACH = frozenset(("a", "an", "per", "each", "every"))
ENGLISH = ("", "en")
Form: TypeAlias = tuple[tuple[str, ...], tuple[Token, ...]]  # words, and what is written for them


def _opening() -> re.Pattern[str]:
    forms = _OPENINGS.strip().replace("\n", "").replace("{text}", _TEXT).replace(" ", "[ ]")
    return re.compile(rf"\A[\s*_]*(?:{forms})\b[*_]*,?\s+", re.IGNORECASE)


_OPENING = _opening()
_ASIDE = re.compile(
    r",[ ](?:on[ ]the[ ]other[ ]hand|however|in[ ]contrast|by[ ]contrast|for[ ]example|for[ ]instance"
    r"|in[ ]turn|in[ ]fact|therefore|instead|allerdings|cependant|toutefois|sin[ ]embargo),(?=[ ])",
    re.IGNORECASE,
)


def without_opening(claim: str) -> str:
    """Without what only leads up to it, such as "In summary," and "The document states that"."""
    opening = _OPENING.match(claim)
    while opening and opening.end() < len(claim):
        claim = claim[opening.end() :]
        opening = _OPENING.match(claim)
    return _ASIDE.sub("", claim) if ", " in claim else claim


def plainer(tokens: Sequence[Token], language: str) -> list[Token]:
    """The tokens of an English text in the fewest words that say it; those of another one as they are."""
    if language not in ENGLISH:
        return list(tokens)
    made: list[Token] = []
    place = 0
    while place < len(tokens):
        token = tokens[place]
        words, taken = _written(tokens, place) if token.text in _STARTS else ((), 1)
        made += (one._replace(first=token.first, aside=token.aside) for one in words)
        if not words:
            made.append(token)
        place += taken
    return made


def _written(tokens: Sequence[Token], place: int) -> tuple[tuple[Token, ...], int]:
    """What stands for the turn that begins there, and how many tokens it takes; ((), 1) if none does."""
    text = tokens[place].text
    if text in _BESIDE:
        plain = not place or tokens[place - 1].text in DETERMINERS or tokens[place - 1].kind == "mark"
        return ((), 1) if plain else (_BESIDE[text], 1)
    following = tokens[place + 1].text if place + 1 < len(tokens) else ""
    if text in _EACH and following in PERIODS:
        return _PER[following], 2
    if text in _ADVERBS:
        return _PER[_ADVERBS[text]], 1
    for form, words in _STARTS[text]:
        if form == tuple(token.text for token in tokens[place : place + len(form)]):
            return words, len(form)
    return (), 1


def _made(text: str) -> tuple[Token, ...]:
    return tuple(token._replace(first=False) for token in tokens_of(f"x {text}", "en")[1:])


def _forms() -> Iterator[Form]:
    for line in _TURNS.strip().splitlines():
        written, _, forms = line.partition(":")
        for form in forms.split("|"):
            yield tuple(form.split()), _made(written)


def _by_first(forms: Iterable[Form]) -> Mapping[str, list[Form]]:
    found: dict[str, list[Form]] = {}
    for form, words in sorted(forms, key=lambda one: -len(one[0])):
        found.setdefault(form[0], []).append((form, words))
    for word in (*_EACH, *_ADVERBS, "following", "preceding"):
        found.setdefault(word, [])
    return found


_BESIDE = {"following": _made("after"), "preceding": _made("before")}  # but not "the following"
_PER = {period: _made(f"per {period}") for period in PERIODS}
_STARTS = _by_first(_forms())
