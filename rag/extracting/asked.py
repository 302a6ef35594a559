"""What form an answer would have: a time, a number, a name... Roughly, in several languages. Plain Python."""

import re
from functools import lru_cache
from typing import Literal

from embeddings.lexical import question_lexemes
from rag.sentences import ASKING

# name: of somebody or of a place. term: what something is called. which: one thing of a kind.
Form = Literal["time", "number", "name", "reason", "contrast", "term", "which"]
KEPT_QUESTIONS = 256
READ_CHARS = 2000

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
    "which": r"\b(?:which|what)\b|\bwelche[mnrs]?\b|\bquel(?:le)?s?\b|\bcuál|\bqual|哪|什么",
}
_PATTERNS = {form: re.compile(pattern, re.IGNORECASE) for form, pattern in _FORMS.items()}


@lru_cache(maxsize=KEPT_QUESTIONS)
def expected(question: str) -> frozenset[Form]:
    """The forms that its answer may have; none for a question that does not say."""
    read = question[:READ_CHARS]
    return frozenset(form for form, pattern in _PATTERNS.items() if pattern.search(read))


@lru_cache(maxsize=KEPT_QUESTIONS)
def asked_words(question: str, language: str) -> frozenset[str]:
    """Its lexemes in the analysis of a document's language; what only asks is left out, if there is more."""
    words = frozenset(question_lexemes(question, [language])[language])
    return words - ASKING or words
