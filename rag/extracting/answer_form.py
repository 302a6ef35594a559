"""What form an answer would have: a time, a number, a name... Roughly, in several languages. Plain Python."""

import re
from functools import lru_cache
from typing import Literal

from embeddings.lexical.terms import question_lexemes
from rag.ranking.sentences import ASKING, words_of

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
def expected(question: str) -> frozenset[Form]:
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
    return "term" in expected(question) or _KIND.search(question[:QUESTION_CHARS]) is not None
