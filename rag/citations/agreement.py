"""Whether two texts agree in what can be compared: numbers, months, names, denials, reach. Plain Python."""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import zip_longest

from embeddings.lexical.terms import lexemes
from rag.citations.facts import is_same, name_parts, names_of, numbers_of, numbers_read_in
from rag.citations.tokens import DATA, Fact, table
from rag.word_data import read_patterns

MIN_NAME_LETTERS = 3  # letters; a shorter one by itself (TV, ∆G) may be any abbreviation
SMALL = 12  # counts in letters up to it may be the writer's own: "two reasons"
MIN_STEM_LETTERS = 4  # letters that words of one root share
MAX_ENDING_LETTERS = 4  # letters in which they may differ
MAX_BETWEEN = 0  # words of a passage that a claim in its words leaves out
KEPT = 8192
_EDGES = ".,;:!?()[]\"“”„«»*_`|'’"
_QUOTED = re.compile(r'["“„«]([^"“”„«»\n]{2,400})["”“»]|[「『《]([^「」『』《》\n]{2,400})[」』》]')
_WORD = re.compile(r"\w+(?:['’]\w{1,2}\b)?")
_DENIALS = frozenset(table("negations"))
_UNDENIED = frozenset({"only", "serif"})  # "not only", "sans serif"
_CLAUSE_CUT = re.compile(rf"[,;:.!?()–—\n]|\b(?:{'|'.join(table('conjunctions'))})\b", re.IGNORECASE)
_UNREAD_PATTERNS = read_patterns(DATA / "unread_numbers.txt")
_UNREAD = re.compile(
    rf"\b(?:{_UNREAD_PATTERNS['unread']})\b|{_UNREAD_PATTERNS['unread unspaced']}", re.IGNORECASE
)
_PRONOUNS = frozenset(table("pronouns"))
_REACH: Mapping[str, str] = table("strong_words")
_ALIASES: Mapping[str, str] = table("aliases")
# It answers a question, and denies nothing by itself: "No, it has no bath" denies once. It numbers: "No. 5".
_SAYS_NO = re.compile(
    r"(?i:(?:\A|[.!?:;\n])\W*\b(no|nein|non|nee|não)(?=[,;:–—]))"
    r"|\b([Nn]o(?=\.\s?\d)|No(?=\s\d+\b(?!-)))"
)
_OPENING = re.compile(r"(?:\A|[.!?\n])\W*(\w+)")  # the first word of a sentence
# Polish, Japanese, Norwegian: of a country that may be called otherwise.
_DEMONYM = re.compile(r".{2,}(?:ish|ese|ian|ean|ch)s?\Z")


@lru_cache(maxsize=KEPT)
def words_in(text: str) -> frozenset[str]:
    """Return the words of a text in lower case, and the parts of those with a hyphen, point or apostrophe."""
    return frozenset(part for word in text.split() for part in name_parts(word.strip(_EDGES)))


def denials(text: str) -> list[str]:
    """Return the words that deny, in order; "not only" denies nothing."""
    return [found[0].lower() for found in _find_denials(text)]


def denies(text: str) -> bool:
    """Tell whether a clause of the text denies. In one clause two denials make none: "not without gloves"; in
    two they are two, as in "neither Ann nor Bob".
    """
    cuts = [cut.start() for cut in _CLAUSE_CUT.finditer(text)]
    by_clause = Counter(bisect_right(cuts, denial.start()) for denial in _find_denials(text))
    return any(count % 2 for count in by_clause.values())


def has_number(number: Fact, text: str) -> bool:
    """Tell whether the text has the number, or month.

    A small count in letters may be the writer's own: it is lacking only where the text gives another number
    to the same things.
    """
    if not number.per and _is_written_in(number, text):
        return True
    others = numbers_read_in(text)
    if any(is_same(number, stated) for stated in others):
        return True
    small = number.spelled and not number.unit and number.values[0] <= SMALL
    return small and not (number.noun and any(_counts_same(stated, number) for stated in others))


def has_unread_number(text: str) -> bool:
    """Tell whether the text spells a number in words that are not read."""
    read = {fact.start for fact in numbers_of(text)}
    return any(found.start() not in read for found in _UNREAD.finditer(text))


def has_other_number(number: Fact, text: str, given: str) -> bool:
    """Tell whether the text has a number of the same unit that is not given."""
    given_numbers = numbers_of(given)
    return any(
        stated.unit == number.unit and not any(is_same(claimed, stated) for claimed in given_numbers)
        for stated in numbers_of(text)
    )


def names_in(claim: str, language: str) -> list[Fact]:
    """Return the names whose lack contradicts a claim; a nation may be called in many ways."""
    return [name for name in names_of(claim, language) if not _DEMONYM.match(name.name[-1])]


def has_name(name: Fact, text: str) -> bool:
    """Tell whether the name stands in the text: its last word, what it is short for, or its short form."""
    words = words_in(text)
    if _has_word(name.name[-1], words):
        return True
    if len(name.name) > 1:
        return "".join(part[0] for part in name.name) in words
    return len(name.text) < MIN_NAME_LETTERS or (name.text.isupper() and _is_short_for(name.text, text))


def has_pronoun(text: str) -> bool:
    """Tell whether a sentence of the text begins with a word that may stand for a name."""
    return any(word.lower() in _PRONOUNS for word in _OPENING.findall(text))


def quotations(text: str) -> list[str]:
    """Return what stands between quotation marks, where it is more than a word."""
    quotes = (straight or angled for straight, angled in _QUOTED.findall(text))
    return [quote for quote in quotes if " " in quote.strip() or not quote.isascii()]


def agrees(claim: str, text: str, language: str) -> bool:
    """Tell whether all facts of the claim stand in the text, and both deny and generalise alike."""
    stated = numbers_read_in(text)
    if not all(any(is_same(fact, stated_number) for stated_number in stated) for fact in numbers_of(claim)):
        return False
    if not all(has_name(name, text) for name in names_of(claim, language)):
        return False
    return reach(claim) <= reach(text) and denies(claim) == denies(text)


def reach(text: str) -> frozenset[str]:
    """Return what makes a text claim more than another: "all", "only", "because", "more"."""
    return frozenset(_REACH[word] for word in words_in(text) if word in _REACH)


def in_one_go(claim: str, text: str, language: str) -> bool:
    """Tell whether the stems of the claim follow each other in the text, with the same denials and nothing
    else between them.
    """
    sought, stems = _sequence(claim, language), _sequence(text, language)
    starts = [position for position, stem in enumerate(stems) if stem in sought[:1]]
    return any(_starts_with(sought, stems[start:]) for start in starts)


@lru_cache(maxsize=KEPT)
def stems_of(text: str, language: str) -> tuple[str, ...]:
    return tuple(lexemes(text, language))


def _sequence(text: str, language: str) -> list[str]:
    """Return the stems of a text in order, and a sign for each word that denies."""
    sequence, done = [], 0
    for denial in _find_denials(text):
        sequence += [*stems_of(text[done : denial.start()], language), "¬"]
        done = denial.end()
    return [*sequence, *stems_of(text[done:], language)]


def _find_denials(text: str) -> list[re.Match[str]]:
    words = list(_WORD.finditer(text))
    others = {found.start(found.lastindex or 0) for found in _SAYS_NO.finditer(text)}
    others |= {fact.start for fact in numbers_of(text) if fact.kind == "month"}  # "Mai", Italian for "never"
    return [
        word
        for word, following in zip_longest(words, words[1:])
        if _denies(word[0].lower())
        and not (following and following[0].lower() in _UNDENIED)
        and word.start() not in others
    ]


def _denies(word: str) -> bool:
    return word in _DENIALS or word.endswith(("n't", "n’t"))


def _starts_with(sought: Sequence[str], stems: Sequence[str]) -> bool:
    position = skipped = 0
    for stem in stems:
        if stem == sought[position]:
            position += 1
            if position == len(sought):
                return True
        else:
            skipped += 1
            if skipped > MAX_BETWEEN:
                return False
    return False


def _is_written_in(fact: Fact, text: str) -> bool:
    """Tell whether the fact stands in the text as the claim writes it: most do, and need no reading."""
    position = text.find(fact.text)
    while position >= 0:
        end = position + len(fact.text)
        if not (text[position - 1 : position].isalnum() or text[end : end + 1].isalnum()):
            return True
        position = text.find(fact.text, position + 1)
    return False


def _counts_same(other: Fact, fact: Fact) -> bool:
    """Tell whether the other is a number of the same things."""
    return other.kind == "number" and other.ordinal == fact.ordinal and _is_akin(other.noun, fact.noun)


def _has_word(part: str, words: frozenset[str]) -> bool:
    if part in words or part.isdigit() or len(part) == 1:
        return True
    alias = _ALIASES.get(part)
    return any(
        _is_akin(part, word)
        or _is_compound_of(word, part)
        or (alias is not None and _ALIASES.get(word) == alias)
        for word in words
    )


def _is_compound_of(compound: str, part: str) -> bool:
    """Tell whether a compound, as German has them, contains the part: "Garten" in "Gartenfläche"."""
    return len(part) > MIN_STEM_LETTERS and (compound.startswith(part) or compound.endswith(part))


def _is_akin(one: str, other: str) -> bool:
    """Tell whether two words have one root: they begin alike and differ in a short ending."""
    if one == other:
        return bool(one)
    if one[:MIN_STEM_LETTERS] != other[:MIN_STEM_LETTERS] or len(one) < MIN_STEM_LETTERS:
        return False
    shared = next(
        (n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other))
    )
    return (
        max(len(one), len(other)) - shared <= MAX_ENDING_LETTERS and min(len(one), len(other)) - shared <= 2
    )


def _is_short_for(short: str, text: str) -> bool:
    """Tell whether words with these initials follow each other in the text: IPCC, or CEO."""
    initials = "".join(word[0] for word in _WORD.findall(text)).upper()
    return len(short) > 1 and short.rstrip("s")[:2] in initials
