"""Text -> sentences, in one linear pass, for any script that ends sentences with a mark."""

import re
from collections.abc import Iterator


def _words(listed: str) -> frozenset[str]:
    return frozenset(listed.split())


# Never at a sentence's end: a name or more of the sentence always follows.
ABBREVIATIONS = _words(
    """
    dr mr mrs ms mx prof rev hon gen col capt lt sgt maj cmdr gov sen rep pres st ste mt ft messrs
    eds trans vs cf viz ca approx resp incl excl eg ie loc ibid
    bzw bsp vgl bd dipl ing str hrsg geb gest evtl ggf inkl zzgl zb
    mme mlle mm env av boul sra srta dña sig dott
    """
)
# Only before a number: "No. 5", but "He said no. 5 of them agreed" is rarer than "He said no. They left."
NUMBERED = _words(
    """
    fig figs eq eqs sec ch chap vol vols pp p ed no nos nr art para ref refs tab app ex op abb abs
    núm pág págs jan feb mar apr jun jul aug sep sept oct nov dec
    """
)
# May also stand at a sentence's end; the word that follows decides.
OPEN_ENDED = _words("etc inc ltd co corp llc plc jr sr al esq bros dept est usw uvm ags")
# German and Scandinavian ordinals: "3. Mai".
MONTHS = _words(
    """
    januar februar märz april mai juni juli august september oktober november dezember
    januari februari mars maj augusti
    """
)
# Words that, with a capital, open a sentence far more often than they carry on with a name.
STARTERS = _words(
    """
    The A An This That These Those There Then Thus It Its He She We They I You His Her Our Their In On At By
    For From With To As If When While Where After Before Although Though However But And Or So Since
    Because During Under Over All Some Many Most Each Both No Not One Two What Who Why How
    Der Die Das Ein Eine Er Sie Es Wir Im In Am Auf Mit Nach Bei Seit Doch Aber
    Le La Les Un Une Il Elle Ils Nous Dans Pour El Los Las En Por Con Se
    """
)


# Possessive quantifiers and alternatives that always consume what they looked at: nothing is read twice.
_BREAK = re.compile(
    r"""
      (?P<paragraph>\n(?:[^\S\n]*+\n)++)
    | (?P<line>\n)
    | (?P<full>[。！？｡؟۔।॥።։]++["'”’»)\]」』）】》]*+)
    | (?P<mark>[.!?…]++["'”’»)\]*_]*+)
    """,
    re.VERBOSE,
)
_NEXT_WORD = re.compile(r"""\s*+["'“‘«(\[*_¿¡„]*+(\w{0,20}+)""")
_LAST_WORD = re.compile(r"[^\s(\[\"'“‘«„/–—]*+\Z")
_ITEM = re.compile(r"\s*+(?:[-*+•‣▪●◦○■□►–—]\s|\(?(?:\d{1,3}|[a-zA-Z]|[ivx]{1,4})[.)]\s|#{1,6}\s|\|)")
_TABULAR = re.compile(
    r"(?:\d[\d.,%)]*+|[$€£—–])\s++[$€£(+–—-]*+\d[\d.,%)]*+\s*+\Z"
)  # two figures at a line's end
_DEFINITION = re.compile(r"[ \t]{0,3}:[ \t]+\S")
_LOOK = 48  # characters looked at on each side of a mark
_NARROW = 50  # a line shorter than this may be a heading or a cell rather than wrapped prose


def sentence_spans(text: str) -> list[tuple[int, int]]:
    """(start, end) of each sentence: in order, not overlapping, without surrounding white space.

    Headings, list items and rows of tables count as sentences; a sentence may run over line ends.
    Linear in the length of `text`, whatever it holds.
    """
    spans = []
    start = 0
    for end in _iter_ends(text):
        first, last = strip_span(text, start, end)
        if first < last:
            spans.append((first, last))
        start = end
    return spans


def strip_span(text: str, start: int, end: int) -> tuple[int, int]:
    """The span without the white space at its ends; empty (start == end) if there is nothing else."""
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return start, end


def _iter_ends(text: str) -> Iterator[int]:
    line_start = sentence_start = position = 0
    worded = False  # marks alone (". . . .") end nothing
    for found in _BREAK.finditer(text):
        worded = worded or not (found.start() == position or text[position : found.start()].isspace())
        kind, position = found.lastgroup, found.end()
        if kind == "line":
            ends = _is_end_at_line(text, line_start, found.start())
        elif kind == "mark":
            ends = worded and _is_end_at_mark(text, sentence_start, found)
        else:
            ends = True
        if kind in ("line", "paragraph"):
            line_start = position
        if ends:
            yield position
            sentence_start, worded = position, False
    yield len(text)


def _is_end_at_mark(text: str, sentence_start: int, found: re.Match[str]) -> bool:
    """Whether a full stop, question or exclamation mark (or a run of them) ends its sentence."""
    end = found.end()
    if end == len(text):
        return True
    if not text[end].isspace():
        return False
    word = _NEXT_WORD.match(text, end)
    following = word.group(1) if word else ""
    if following[:1].islower():
        return False
    return found.group()[0] != "." or is_end_at_full_stop(text, sentence_start, found.start(), following)


def is_end_at_full_stop(text: str, sentence_start: int, stop: int, following: str) -> bool:
    """Whether the full stop at `stop` ends its sentence. following: the next word, "" if there is none."""
    look_from = max(sentence_start, stop - _LOOK)
    before = _LAST_WORD.search(text[look_from:stop])
    word = before.group() if before else ""
    if word.isdecimal():
        return _is_end_after_number(text[look_from:stop], word, following)
    if len(word) == 1 and word.isupper():  # an initial, or "Plan B. The"
        return following in STARTERS
    if "." in word or word.casefold() in OPEN_ENDED:  # U.S., a.m., et al., Inc.
        return following in STARTERS
    if word.casefold() in NUMBERED:
        return not following[:1].isdecimal()
    return word.casefold() not in ABBREVIATIONS


def _is_end_after_number(before: str, number: str, following: str) -> bool:
    """Not in "1. Introduction" at a sentence's start, nor in "am 3. Mai"."""
    return len(number) > 3 or (before.strip() != number and following.casefold() not in MONTHS)


def _is_end_at_line(text: str, line_start: int, newline: int) -> bool:
    """Whether a single line end is more than the wrapping of a paragraph."""
    after = text[newline + 1 : newline + 1 + _LOOK * 2]
    if _DEFINITION.match(after):  # Markdown's "term", and on the next line ": what it means"
        return False
    if _ITEM.match(after) or text[line_start : line_start + 8].lstrip().startswith(("#", "|")):
        return True
    line, after = text[max(line_start, newline - _LOOK) : newline].strip(), after.lstrip().partition("\n")[0]
    if after[:1].islower() or line.endswith((",", ";", "-", "–", "(")):
        return False
    if _TABULAR.search(line):
        return True
    return newline - line_start < _NARROW and (len(line) < 0.75 * len(after) or len(after) < 30)
