"""The form of an answer that a question asks for (a time, a number, a name), and whether a sentence has it.

Roughly, in several languages. Plain Python."""

import re
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Literal

from embeddings.lexical.terms import question_lexemes
from rag.ranking.sentences import ASKING, NOUNS_ARE_CAPITAL, words_of

# name: of somebody or of a place. term: what something is called.
Form = Literal["time", "number", "name", "reason", "contrast", "term"]
KEPT_QUESTIONS = 256
QUESTION_CHARS = 2000

_A_FEW = r"\s+(?:\w+\s+){0,2}"
_FORMS: dict[Form, str] = {
    "time": r"\bwhen\b"
    rf"|\b(?:what|which){_A_FEW}(?:years?|dates?|days?|months?|decades?|century|centuries|time|period|era)\b"
    r"|\bwann\b|\bwelche[mnrs]?\s+(?:jahr|tag|monat|datum)|\bquand\b|\bquelle\s+(?:année|date)\b|\bcuándo\b"
    r"|\bqu[ée]\s+(?:año|fecha)\b|\bquando\b|何时|什么时候|哪一?年|何年|いつ",
    "number": r"\bhow\s+(?:many|much|long|old|far|tall|high|large|big|fast|deep|wide|often|heavy|hot|cold"
    r"|soon)\b"
    rf"|\b(?:what|which){_A_FEW}(?:percentage|percent|proportion|share|number|amount|price|cost|age|rate"
    r"|population|size|range|length|height|weight|temperature|speed|distance|fraction|duration|value|ratio)\b"
    r"|\bwie\s*(?:viele?n?|lange?|alt|hoch|groß|weit|oft|schnell|teuer)\b|\bcombien\b|\bcuánt[oa]s?\b"
    r"|\bquant[oaie]s?\b|多少|几|多久|多长|多大|いくつ|いくら|何人",
    "name": r"\bwho(?:m|se)?\b|\bwe[rmn]\b|\bwessen\b|\bqui\b|\bquién(?:es)?\b|\bchi\b|\bquem\b|谁|誰"
    rf"|\bwhere\b|\b(?:what|which){_A_FEW}(?:country|countries|city|cities|town|place|continent|state|region"
    r"|county|village|location|island|river)\b"
    r"|\bwo(?:hin|her)?\b|\boù\b|\bdónde\b|\bdove\b|\bonde\b|哪里|何处|哪儿|在哪|どこ",
    "reason": r"\bwhy\b|\b(?:what|which)\b.{0,30}\b(?:reasons?|causes?|caused|causing|purpose)\b"
    r"|\bwarum\b|\bweshalb\b|\bwieso\b|\bpourquoi\b|\bpor\s*qu[eé]\b|\bperché\b|为什么|为何|なぜ",
    "contrast": r"\bdifferen|\bcompar|\bversus\b|\bvs\b|\bunterschied|\bdiffér|\bdiferen|区别|不同",
    "term": r"\b(?:called|named?|known as|term(?:ed)?|nickname|title)\b|\bhei(?:ß|ss)|\bgenannt\b|\bnennt\b"
    r"|\bappelle|\bllama|称为|叫做|名字",
}
_PATTERNS = {form: re.compile(pattern, re.IGNORECASE) for form, pattern in _FORMS.items()}

_WHICH = r"(?:which|what|welche[mnrs]?|quel(?:le)?s?|cuál(?:es)?|qué|qual|quali)"
# Where a kind ends: at a preposition or a verb.
_NO_KIND = (
    r"(?:of|in|on|at|to|for|from|by|with|is|are|was|were|be|do|does|did|has|have|had|can|could|will|would|may|might"
    r"|must|shall|should|and|or|that|the|an?|\w+ed|(?:take|make|use|get|need|mean|happen|occur|go|come)s?|ist|sind|wird|hat|est|sont|es|son|de|di|à)\b"
)
_KIND = re.compile(
    rf"\b{_WHICH}\s+(?:(?:types?|kinds?|sorts?)\s+of\s+)?((?!{_NO_KIND})\w+(?:\s+(?!{_NO_KIND})\w+){{0,2}})",
    re.IGNORECASE,
)
_ASKS_MEANING = re.compile(
    r"^\W*(?:what|who|was|wer|qu['’]est-ce|qué|cos['’])\s*(?:is|are|was|were|does|ist|sind|que|es|son|è)\b"
    r"|^\W*define\b|\bmean(?:t|ing)?\b|是什么",
    re.IGNORECASE,
)


@lru_cache(maxsize=KEPT_QUESTIONS)
def expected_kinds(question: str) -> frozenset[Form]:
    """The forms that its answer may have; none for a question that does not say."""
    read = question[:QUESTION_CHARS]
    return frozenset(form for form, pattern in _PATTERNS.items() if pattern.search(read))


@lru_cache(maxsize=KEPT_QUESTIONS)
def asked_words(question: str, language: str) -> frozenset[str]:
    """Its lexemes in the analysis of a document's language; what only asks is left out, if there is more."""
    words = frozenset(question_lexemes(question, [language])[language])
    return words - ASKING or words


@lru_cache(maxsize=KEPT_QUESTIONS)
def kind_asked(question: str, language: str) -> frozenset[str]:
    """The lexemes of the kind of thing that is asked for: "stage" of "which stage of mitosis"."""
    found = _KIND.findall(question[:QUESTION_CHARS])
    return frozenset().union(*(words_of(kind, language) for kind in found))


@lru_cache(maxsize=KEPT_QUESTIONS)
def before_kind(question: str, language: str) -> re.Pattern[str]:
    """Finds what stands before a word of `kind_asked`, "product" in "product rule"; not if that is empty."""
    kinds = "|".join(re.escape(kind) for kind in sorted(kind_asked(question, language)))
    return re.compile(rf"\b(\w[\w’'-]{{0,40}}+) (?:{kinds})\w{{0,4}}\b", re.IGNORECASE)


@lru_cache(maxsize=KEPT_QUESTIONS)
def asks_meaning(question: str) -> bool:
    """ "What is mitosis?": whether it may ask what a term means."""
    return _ASKS_MEANING.search(question[:QUESTION_CHARS]) is not None


@lru_cache(maxsize=KEPT_QUESTIONS)
def asks_for_term(question: str) -> bool:
    """ "Which stage ...?", "What is it called?": whether a term may be the answer."""
    return "term" in expected_kinds(question) or _KIND.search(question[:QUESTION_CHARS]) is not None


MUCH = 0.4  # of a question's words, that are a term of a definition list
MOST = 0.6  # of them, that a sentence begins with
READ_CHARS = 300
# Of Markdown: a term, and on the next line ": what it means".
_DEFINED = re.compile(r"([^\n:.]{2,60})\n[ \t]{0,3}:[ \t]+(\S+(?:[ \t]+\S+){0,5})")
# "In Rust, a _crate_ (or box) is ...": what stands before the verb. Emphasis is taken out before.
_BEGINS = re.compile(
    r"\s*(?:[-+•]\s+|\d{1,2}\.\s+)?(?:(?:in|for|at|by|within|dans|en)\s[^,.;:]{2,40},\s)?([^,;:.!?]{2,70}?)"
    r"(?:\s\([^()]{1,60}\))?,?\s(?:is|are|was|were|means?|refers?\sto|denotes?|describes?|defines?|represents?|consists?\sof|stands?\sfor"
    r"|ist|sind|war|waren|bedeutet|bezeichnet|est|sont|désigne|signifie|es|son|significa|è|sono)\s",
    re.IGNORECASE,
)
_MEANING = words_of("mean means meaning meant", "en")
_EMPHASIS = re.compile(r"[*_`]")


def defines(question: str, text: str, asked: frozenset[str], held: frozenset[str], language: str) -> float:
    """1 if it says what the term means that is asked for, or which thing does of the kind that is asked for.

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
    """It begins with little more than what is asked for, and then says what that is.

    most: share of the question's words that it must begin with.
    """
    found = _BEGINS.match(_EMPHASIS.sub("", text[:READ_CHARS]))
    if not found:
        return False
    term = words_of(found[1], language)
    return bool(term) and term <= asked and len(term) >= most * len(asked - _MEANING)


_FACTS: frozenset[Form] = frozenset({"time", "number", "name"})
_NUMERALS = (
    "one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|forty|fifty|hundred|thousand"
    "|million|billion|half|third|quarter|twice|once|none|zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn|zwölf"
    "|hundert|tausend|deux|trois|quatre|cinq|sept|huit|neuf|dix|dos|tres|cuatro|cinco|seis|siete|ocho|nueve|diez"
)
_MONTHS = (
    "January|February|March|April|May|June|July|August|September|October|November|December|Januar|Februar|März"
    "|Mai|Juni|Juli|Oktober|Dezember|janvier|février|mars|avril|mai|juin|juillet|août|septembre|octobre"
    "|novembre|décembre|enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|octubre|noviembre|diciembre"
)
_YEAR = r"(?<!\d)(?:1\d|20)\d\d(?![\d%.,]*\d|%)"
_NUMBER = re.compile(
    rf"(?<![\d.,])(?!{_YEAR})\d+(?:[.,]\d+)*|\b(?:{_NUMERALS})\b|[一二三四五六七八九十百千万]+[年月日个人名次]",
    re.IGNORECASE,
)
_TIME = re.compile(rf"{_YEAR}|\b(?:{_MONTHS})\b|\bcentur(?:y|ies)\b|\bJahrhundert|\d+\s*[年月日]")
# A word with a capital letter that does not begin a sentence.
_NAME = re.compile(r"(?<![.!?:]\s)(?<!^)(?<=[\s(\"“'/-])[A-ZÀ-Þ][\w'’.-]*\w")
_REASON = re.compile(
    r"\b(?:because|due to|since|as a result|caused?|causes|in order to|so that|therefore|thus|hence|reasons?"
    r"|owing to|thanks to|leads? to|led to|so as to|for this|weil|da|denn|wegen|damit|durch|parce que|porque"
    r"|debido)\b|因为|由于|为了|因此|ため|から",
    re.IGNORECASE,
)
_CONTRAST = re.compile(
    r"\b(?:whereas|while|unlike|contrast|than|however|both|instead|on the other hand|während|hingegen|tandis"
    r"|mientras)\b|\bdiffer",
    re.IGNORECASE,
)
_TERM = re.compile(
    r"\b(?:called|named|known as|termed|nicknamed|titled|entitled|referred to as|genannt|nennt|appelé"
    r"|llamad[ao])\b"
    r"|\*\*|[\"“«„]|称为|叫",
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
    r"\b(?:called|known as|termed|named|referred to as|genannt|appelée?s?|llamad[ao]s?)"
    r"\s+(?:[\w-]{1,40}\s+){0,3}?"
    r"(?:(?P<mark>\*\*?|_|`)([^*_`]{1,80})(?P=mark)|[“\"«„]([^”\"»“]{1,80})[”\"»“])",
    re.IGNORECASE,
)


def has_fact(forms: frozenset[Form], text: str, question: str, language: str) -> bool:
    """A time, a number or a name is asked for, and here is one that the question does not hold."""
    asked = question.casefold()
    if "time" in forms and _is_new(_TIME.findall(text), asked):
        return True
    if "number" in forms and not {one.casefold() for one in _NUMBER.findall(text)} <= _numbers(asked):
        return True
    named = "name" in forms and language not in NOUNS_ARE_CAPITAL
    return named and _is_new(_NAME.findall(text), asked)


def has_turn(forms: frozenset[Form], text: str) -> bool:
    """A reason, a difference or what something is called is asked for, and the sentence has words for it."""
    return any(_TURNS[form](text) for form in forms if form in _TURNS)


def is_called(forms: frozenset[Form], text: str, question: str) -> bool:
    """A term may be the answer, and here one is introduced that the question does not hold."""
    if forms & _FACTS or not asks_for_term(question) or not any(quote in text for quote in _QUOTES):
        return False
    return _is_new((marked or quoted for _, marked, quoted in _CALLED.findall(text)), question.casefold())


def has_kind(question: str, text: str, words: frozenset[str], asked: frozenset[str], language: str) -> bool:
    """It tells which of the kind that is asked for: "the product rule", if the question asks for a rule.

    words: the text's. asked: the question's.
    """
    if kind_asked(question, language).isdisjoint(words):
        return False
    before = [words_of(one, language) for one in before_kind(question, language).findall(text)]
    return any(one and not one & asked for one in before)


def _is_new(found: Iterable[str], asked: str) -> bool:
    return any(one.casefold().removesuffix("'s").removesuffix("’s") not in asked for one in found)


@lru_cache(maxsize=KEPT_QUESTIONS)
def _numbers(folded: str) -> frozenset[str]:
    return frozenset(_NUMBER.findall(folded))
