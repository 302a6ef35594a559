"""The form of an answer that a question asks for (a time, a number, a name), and whether a sentence has it.

Roughly, in several languages. Plain Python."""

import re
from collections.abc import Callable, Iterable
from functools import lru_cache
from pathlib import Path
from typing import Literal, get_args

from embeddings.lexical.terms import question_lexemes
from rag.ranking.sentences import ASKING, NOUNS_ARE_CAPITAL, words_of
from rag.word_data import read_patterns

# name: of somebody or of a place. term: what something is called. way: how the reader does something.
Form = Literal["time", "number", "name", "reason", "contrast", "term", "way"]
FORMS: tuple[Form, ...] = get_args(Form)
KEPT_QUESTIONS = 256
QUESTION_CHARS = 2000

_DATA = Path(__file__).parent / "data"
_FEW_WORDS = r"\s+(?:\w+\s+){0,2}"
_ASKED = {
    key: pattern.replace("FEW", _FEW_WORDS)
    for key, pattern in read_patterns(_DATA / "question_forms.txt").items()
}
_ANSWERED = read_patterns(_DATA / "answer_forms.txt")
_PATTERNS = {form: re.compile(_ASKED[form], re.IGNORECASE) for form in FORMS}
_KIND = re.compile(
    rf"\b{_ASKED['which']}\s+(?:(?:types?|kinds?|sorts?)\s+of\s+)?"
    rf"((?!{_ASKED['no kind']})\w+(?:\s+(?!{_ASKED['no kind']})\w+){{0,2}})",
    re.IGNORECASE,
)
_ASKS_MEANING = re.compile(_ASKED["meaning"], re.IGNORECASE)


@lru_cache(maxsize=KEPT_QUESTIONS)
def expected_kinds(question: str) -> frozenset[Form]:
    """Return the forms that its answer may have; none for a question that does not say."""
    read = question[:QUESTION_CHARS]
    return frozenset(form for form, pattern in _PATTERNS.items() if pattern.search(read))


@lru_cache(maxsize=KEPT_QUESTIONS)
def asked_words(question: str, language: str) -> frozenset[str]:
    """Return the question's lexemes in a document's language, without those that only ask if there are
    more.
    """
    words = frozenset(question_lexemes(question, [language])[language])
    return words - ASKING or words


@lru_cache(maxsize=KEPT_QUESTIONS)
def kind_asked(question: str, language: str) -> frozenset[str]:
    """Return the lexemes of the kind of thing that is asked for: "stage" of "which stage of mitosis"."""
    found = _KIND.findall(question[:QUESTION_CHARS])
    return frozenset().union(*(words_of(kind, language) for kind in found))


@lru_cache(maxsize=KEPT_QUESTIONS)
def before_kind(question: str, language: str) -> re.Pattern[str]:
    """Return a pattern for what stands before a word of `kind_asked`: "product" in "product rule"."""
    kinds = "|".join(re.escape(kind) for kind in sorted(kind_asked(question, language)))
    return re.compile(rf"\b(\w[\w’'-]{{0,40}}+) (?:{kinds})\w{{0,4}}\b", re.IGNORECASE)


@lru_cache(maxsize=KEPT_QUESTIONS)
def asks_meaning(question: str) -> bool:
    """Tell whether it may ask what a term means, as "What is mitosis?"."""
    return _ASKS_MEANING.search(question[:QUESTION_CHARS]) is not None


@lru_cache(maxsize=KEPT_QUESTIONS)
def asks_for_term(question: str) -> bool:
    """Tell whether a term may be the answer, as in "Which stage ...?" or "What is it called?"."""
    return "term" in expected_kinds(question) or _KIND.search(question[:QUESTION_CHARS]) is not None


MUCH = 0.4  # of a question's words, that are a term of a definition list
MOST = 0.6  # of them, that a sentence begins with
READ_CHARS = 300
# Of Markdown: a term, and on the next line ": what it means".
_DEFINED = re.compile(r"([^\n:.]{2,60})\n[ \t]{0,3}:[ \t]+(\S+(?:[ \t]+\S+){0,5})")
# "In Rust, a _crate_ (or box) is ...": what stands before the verb. Emphasis is taken out before.
_BEGINS = re.compile(
    rf"\s*(?:[-+•]\s+|\d{{1,2}}\.\s+)?(?:(?:{_ANSWERED['within']})\s[^,.;:]{{2,40}},\s)?([^,;:.!?]{{2,70}}?)"
    rf"(?:\s\([^()]{{1,60}}\))?,?\s(?:{_ANSWERED['defines']})\s",
    re.IGNORECASE,
)
_MEANING = words_of("mean means meaning meant", "en")
_EMPHASIS = re.compile(r"[*_`]")


def defines(question: str, text: str, asked: frozenset[str], held: frozenset[str], language: str) -> float:
    """Return 1 if it says what the term means that is asked for, or which thing does of the kind asked for.

    "What is mitosis?": the term makes up much of the question. "Which stage ...?": the question lacks it, and
    the first words of what it means have "stage"; where they do not, it counts half. asked: the question's
    words; held: those of them in the text.
    """
    found = _DEFINED.match(text)
    if not found:
        enough = len(held) >= MOST * len(asked - _MEANING) and asks_meaning(question)
        return float(enough and says_what_is(text, asked, language))
    term = words_of(found[1], language)
    if term <= asked:
        return float(asks_meaning(question) and len(term) >= MUCH * len(asked))
    if kind_asked(question, language) & words_of(found[2], language):
        return 1.0
    return 0.5 if asks_for_term(question) else 0.0


def says_what_is(text: str, asked: frozenset[str], language: str, most: float = MOST) -> bool:
    """Tell whether it begins with little more than what is asked for, and then says what that is.

    most: share of the question's words that it must begin with.
    """
    found = _BEGINS.match(_EMPHASIS.sub("", text[:READ_CHARS]))
    if not found:
        return False
    term = words_of(found[1], language)
    return bool(term) and term <= asked and len(term) >= most * len(asked - _MEANING)


_FACTS: frozenset[Form] = frozenset({"time", "number", "name"})
_YEAR = r"(?<!\d)(?:1\d|20)\d\d(?![\d%.,]*\d|%)"
_NUMBER = re.compile(
    rf"(?<![\d.,])(?!{_YEAR})\d+(?:[.,]\d+)*|\b(?:{_ANSWERED['numeral']})\b|[一二三四五六七八九十百千万]+[年月日个人名次]",
    re.IGNORECASE,
)
_TIME = re.compile(rf"{_YEAR}|\b(?:{_ANSWERED['month']})\b|\bcentur(?:y|ies)\b|\bJahrhundert|\d+\s*[年月日]")
# A word with a capital letter that does not begin a sentence.
_NAME = re.compile(r"(?<![.!?:]\s)(?<!^)(?<=[\s(\"“'/-])[A-ZÀ-Þ][\w'’.-]*\w")
_REASON = re.compile(rf"\b(?:{_ANSWERED['reason']})\b|{_ANSWERED['unspaced reason']}", re.IGNORECASE)
_CONTRAST = re.compile(rf"\b(?:{_ANSWERED['contrast']})\b|\bdiffer", re.IGNORECASE)
_TERM = re.compile(rf"\b(?:{_ANSWERED['term']})\b|\*\*|[\"“«„]|称为|叫", re.IGNORECASE)
_WAY = re.compile(
    rf"(?<![\w/.-])--?[a-z][\w-]*|`[^`\n]{{2,80}}`|\b(?:{_ANSWERED['way']})\b|{_ANSWERED['unspaced way']}",
    re.IGNORECASE,
)
_TURNS: dict[Form, Callable[[str], object]] = {
    "reason": _REASON.search,
    "contrast": _CONTRAST.search,
    "term": _TERM.search,
}
_QUOTES = ("*", "“", '"', "«", "„", "_", "`")
# "is called a **hydrogen bond**", "is known as the “green flash”", "is called _borrowing_"
_CALLED = re.compile(
    rf"\b(?:{_ANSWERED['called']})\s+(?:[\w-]{{1,40}}\s+){{0,3}}?"
    r"(?:(?P<mark>\*\*?|_|`)([^*_`]{1,80})(?P=mark)|[“\"«„]([^”\"»“]{1,80})[”\"»“])",
    re.IGNORECASE,
)


def has_fact(forms: frozenset[Form], text: str, question: str, language: str) -> bool:
    """Tell whether it holds a time, number or name that is asked for and not in the question."""
    asked = question.casefold()
    if "time" in forms and _is_new(_TIME.findall(text), asked):
        return True
    if "number" in forms and not {one.casefold() for one in _NUMBER.findall(text)} <= _numbers(asked):
        return True
    named = "name" in forms and language not in NOUNS_ARE_CAPITAL
    return named and _is_new(_NAME.findall(text), asked)


def has_turn(forms: frozenset[Form], text: str) -> bool:
    """Tell whether it has words for the reason, difference or name that is asked for."""
    return any(_TURNS[form](text) for form in forms if form in _TURNS)


def tells_way(forms: frozenset[Form], text: str) -> bool:
    """Tell whether it tells the reader what to do or to type, where that is asked for."""
    return "way" in forms and _WAY.search(text) is not None


def is_called(forms: frozenset[Form], text: str, question: str) -> bool:
    """Tell whether it introduces a term that may be the answer and is not in the question."""
    if forms & _FACTS or not asks_for_term(question) or not any(quote in text for quote in _QUOTES):
        return False
    return _is_new((marked or quoted for _, marked, quoted in _CALLED.findall(text)), question.casefold())


def has_kind(question: str, text: str, words: frozenset[str], asked: frozenset[str], language: str) -> bool:
    """Tell whether it names one of the kind that is asked for: "the product rule" for a rule.

    words: the text's. asked: the question's.
    """
    if kind_asked(question, language).isdisjoint(words):
        return False
    before = [words_of(one, language) for one in before_kind(question, language).findall(text)]
    return any(one and not one & asked for one in before)


def _is_new(found: Iterable[str], asked: str) -> bool:
    return any(one.casefold().removesuffix("'s").removesuffix("’s") not in asked for one in found)


def repeats_number(question: str, text: str, said: Iterable[str]) -> bool:
    """Tell whether a number is asked for, and it has one of several figures that is said already."""
    if "number" not in expected_kinds(question):
        return False
    figures = (one for one in _NUMBER.findall(text) if one[0].isdecimal() and len(one) > 1)
    numbers = frozenset(figures) - _numbers(question.casefold())
    return any(not numbers.isdisjoint(_NUMBER.findall(one)) for one in said)


@lru_cache(maxsize=KEPT_QUESTIONS)
def _numbers(folded: str) -> frozenset[str]:
    return frozenset(_NUMBER.findall(folded))
