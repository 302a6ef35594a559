"""The sentences of a passage, how much of the question each one holds, and what the question names.

Plain Python.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import chain, compress, pairwise
from operator import or_
from types import MappingProxyType
from typing import Protocol, TypeAlias

from documents.text.sentences import sentence_spans
from documents.types import TableHead
from embeddings.lexical.sentences import Analysis, describe_sentences
from embeddings.lexical.terms import idf, lexemes, question_lexemes
from rag.types.retrieval import Passage, Retrieval
from rag.types.sentences import SentenceScore, SentenceScores

KEPT_PASSAGES = 2048
KEPT_HEADINGS = 4096
KEPT_TERMS = 64  # questions, while they are answered
ASKING = frozenset(lexemes("work tell explain describe define"))  # "How does it work?", "Tell me about it"
_UNKNOWN_OVER_KNOWN = 1.1  # idf(0, N) - idf(1, N) in a collection of any size
# "What does it mean?", "How long does it take?": answers say so in other words, so these weigh less.
FRAMING = frozenset(lexemes("mean happen use take get need"))
FRAMING_SHARE = 0.25
PARAPHRASED = "en"  # the language of `Retrieval.paraphrases`
NONE: Mapping[str, Mapping[str, float]] = MappingProxyType({})
_MEASURE = re.compile(
    r"\bhow\s+(long|large|big|small|tall|high|heavy|deep|wide|thick|old|far|fast|quickly|often|soon|late|early"
    r"|hot|cold|strong|expensive)\b",
    re.IGNORECASE,
)


Weighed: TypeAlias = tuple[tuple[str, float], ...]


class Shares(dict[int, float]):
    """`Terms.coverage` of the words whose bits are set, in the order of `Terms.looked_for`.

    For a word that is not among them counts what weighs most of what is said for it.
    Hundreds of sentences hold the same few words of a question: each combination is summed up once.
    """

    def __init__(self, terms: "Terms") -> None:
        super().__init__()
        self._mass = terms.mass
        self._worth = [
            (1 << n, terms.weights[word], terms.stands_for(word)) for n, word in enumerate(terms.weights)
        ]

    def __missing__(self, held: int) -> float:
        mass = 0.0
        for bit, weight, others in self._worth:
            if held & bit:
                mass += weight
            elif others:
                mass += max([worth for place, worth in others if held >> place & 1], default=0.0)
        share = self[held] = min(1.0, mass / self._mass) if self._mass else 0.0
        return share


class Occurrences(dict[Analysis, tuple[tuple[int, ...], ...]]):
    """`Analysis.occurrences` of each of the question's words, looked up once for all stages."""

    def __init__(self, words: Iterable[str]) -> None:
        super().__init__()
        self._words = tuple(words)

    def __missing__(self, analysis: Analysis) -> tuple[tuple[int, ...], ...]:
        found = self[analysis] = tuple(map(analysis.occurrences, self._words))
        return found


@dataclass(frozen=True, slots=True)
class Terms:
    """The question's distinct lexemes with their idf, and the sum of it. Of one question, and short-lived.

    names: of the words, those that name something: numbers,
    and words with a capital letter that do not begin the question. subjects: names whose lack tells that
    something else is meant, word by word; see `misspelled`. paraphrases: as `Retrieval` has them.
    looked_for: the words, in the order of the weights, and their paraphrases.
    """

    weights: Mapping[str, float]
    words: frozenset[str]
    mass: float
    names: frozenset[str] = frozenset()
    subjects: tuple[frozenset[str], ...] = ()
    paraphrases: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    looked_for: tuple[str, ...] = field(init=False, repr=False, compare=False)
    shares: Shares = field(init=False, repr=False, compare=False)
    occurrences: Occurrences = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        others = chain(*(self.paraphrases.get(word, ()) for word in self.weights))
        object.__setattr__(self, "looked_for", tuple(dict.fromkeys(chain(self.weights, others))))
        object.__setattr__(self, "shares", Shares(self))
        object.__setattr__(self, "occurrences", Occurrences(self.looked_for))

    def stands_for(self, word: str) -> list[tuple[int, float]]:
        """Return what is said for a word, each as its place in `looked_for` and what it weighs, at most as
        much as the word.
        """
        others = self.paraphrases.get(word, {})
        weight = self.weights[word]
        return [(self.looked_for.index(other), min(weight, worth)) for other, worth in others.items()]

    def held(self, words: frozenset[str]) -> list[float]:
        """Return the idf of each of the question's words that are in `words`."""
        return [weight for word, weight in self.weights.items() if word in words]

    def words_in(self, analysis: Analysis) -> frozenset[str]:
        """Return which of the question's words the text holds."""
        return frozenset(compress(self.weights, self.occurrences[analysis]))

    def mass_in(self, words: frozenset[str]) -> float:
        return sum(self.held(words))

    def coverage(self, words: frozenset[str]) -> float:
        """Return share [0, 1] of the question's idf mass that stands in `words`; 0 for a question without
        words.
        """
        return min(1.0, self.mass_in(words) / self.mass) if self.mass else 0.0

    def share_of_names(self, words: frozenset[str]) -> float:
        """Return the `coverage` of the names alone; 1 for a question without any."""
        if not self.names:
            return 1.0
        mass = self.mass_in(self.names)
        return min(1.0, self.mass_in(words & self.names) / mass) if mass else 1.0

    def share_of_subjects(self, words: frozenset[str]) -> float:
        """Return the share of idf mass of the subject that is held least; 1 for a question without any."""
        return min([self.mass_in(one & words) / self.mass_in(one) for one in self.subjects], default=1.0)


def question_terms(
    text: str,
    known: Mapping[str, float],
    language: str = "",
    paraphrases: Mapping[str, Mapping[str, float]] = NONE,
) -> Terms:
    """Return the terms. known: idf of the question's lexemes; one that is missing counts as held by no chunk.

    language: of the documents that the terms are looked for in, which decides on the analysis. Words that
    only ask are left out, unless there is nothing else; those of its frame weigh less.
    """
    words = frozenset(question_lexemes(text, [language])[language])
    words = words - ASKING or words
    unknown = max([idf(0, 0), *(weight + _UNKNOWN_OVER_KNOWN for weight in known.values())])
    weights = {word: known.get(word, unknown) for word in sorted(words)}
    for word in words & _framing(text):
        weights[word] *= FRAMING_SHARE
    subjects = tuple(found for name in subjects_of(text, language) if (found := name & words))
    names = names_of(text, language) & words
    return Terms(weights, words, sum(weights.values()), names, subjects, paraphrases)


def _framing(text: str) -> frozenset[str]:
    return FRAMING.union(*(lexemes(measure) for measure in _MEASURE.findall(text[:2000])))


class Analysed(Protocol):
    """A passage or a block. analysis: as `describe_sentences` returns it; "" where nobody has stored it.

    table_head: title and columns of the table that it has rows of, () if there is none.
    """

    @property
    def content(self) -> str: ...
    @property
    def language(self) -> str: ...
    @property
    def analysis(self) -> str: ...
    @property
    def table_head(self) -> tuple[str, ...]: ...


def analysis_in(text: Analysed) -> Analysis:
    if text.analysis:
        return _read(text.analysis)
    return analysis_of(text.content, text.language, text.table_head)


_read = lru_cache(maxsize=KEPT_PASSAGES)(Analysis)


@lru_cache(maxsize=KEPT_PASSAGES)
def analysis_of(content: str, language: str = "", table_head: tuple[str, ...] = ()) -> Analysis:
    """Analyse a text of which nothing is stored."""
    return Analysis(describe_sentences(content, language, TableHead.of(table_head)))


@lru_cache(maxsize=KEPT_PASSAGES)
def sentences_around(content: str, start: int, end: int, beside: int = 0) -> str:
    """Return the sentences that `content[start:end]` touches, and so many before and after them."""
    spans = sentence_spans(content)
    touched = [n for n, (first, last) in enumerate(spans) if first < end and last > start]
    if not touched:
        return content[start:end]
    first, last = max(0, touched[0] - beside), min(len(spans) - 1, touched[-1] + beside)
    return content[spans[first][0] : spans[last][1]]


def words_of(text: str, language: str = "") -> frozenset[str]:
    """Return the lexemes of a short text, such as a question or a title."""
    return frozenset(lexemes(text, language))


def words_of_headings(passage: Passage) -> frozenset[str]:
    """Return the lexemes of what stands above a passage: its headings, and its document's title and name."""
    text = f"{passage.title} {passage.chapter} {passage.section} {passage.document_name}"
    return _words_of_headings(text, passage.language)


_words_of_headings = lru_cache(maxsize=KEPT_HEADINGS)(words_of)


def score_sentences(content: str, terms: Terms, language: str = "") -> SentenceScores:
    """Return every sentence of the passage, in reading order, scored for the question."""
    return _without_similarities(analysis_of(content, language), terms)


def _without_similarities(analysis: Analysis, terms: Terms) -> SentenceScores:
    return _scored(analysis, terms, (None,) * len(analysis.spans))


def score_passage(passage: Passage, terms: Terms) -> SentenceScores:
    """Score the same with each sentence's cosine to the question, where the passage came with one."""
    analysis = analysis_in(passage)
    if not passage.similarities:
        return _without_similarities(analysis, terms)
    if analysis.spans == passage.bounds:  # unless the text was split by other rules when it was stored
        return _scored(analysis, terms, passage.similarities)
    known = dict(zip(passage.bounds, passage.similarities, strict=True))
    return _scored(analysis, terms, tuple(map(known.get, analysis.spans)))


def _scored(analysis: Analysis, terms: Terms, similarities: tuple[float | None, ...]) -> SentenceScores:
    """Score without a call in Python for each sentence."""
    holding, share = _holding(analysis, terms), terms.shares.__getitem__
    alone, both = map(share, holding), map(share, map(or_, holding, [0, *holding[:-1]]))
    return SentenceScores(*analysis.bounds, tuple(alone), tuple(both), similarities)


def terms_by_language(question_text: str, retrieval: Retrieval) -> dict[str, Terms]:
    languages = {passage.language for passage in retrieval.passages}
    known = tuple(retrieval.idf.items())
    said = tuple((word, tuple(others.items())) for word, others in retrieval.paraphrases.items())
    return {
        language: _terms(question_text, known, language, said if language == PARAPHRASED else ())
        for language in languages
    }


@lru_cache(maxsize=KEPT_TERMS)
def _terms(
    question_text: str, known: Weighed, language: str, paraphrases: tuple[tuple[str, Weighed], ...]
) -> Terms:
    """Make the terms once for all stages of a question."""
    said = {word: dict(others) for word, others in paraphrases}
    return question_terms(question_text, dict(known), language, said)


def with_sentences(question_text: str, retrieval: Retrieval) -> Retrieval:
    """Return the retrieval in its order, with the sentences of every passage scored."""
    terms = terms_by_language(question_text, retrieval)
    scored = (p._replace(sentences=score_passage(p, terms[p.language])) for p in retrieval.passages)
    return replace(retrieval, passages=tuple(scored))


def _holding(analysis: Analysis, terms: Terms) -> list[int]:
    """Return for each sentence the words that it holds, as bits in the order of `terms.looked_for`."""
    holding, bit = [0] * len(analysis.spans), 1
    for places in terms.occurrences[analysis]:
        for place in places:
            holding[place] |= bit
        bit += bit
    return holding


def worth(sentence: SentenceScore) -> float:
    """Return what passages and sentences are ranked by, [0, 1]."""
    return (sentence.coverage + sentence.coverage_with_previous) / 2


KEPT_QUESTIONS = 256
READ_CHARS = 2000
_WORD = re.compile(r"\w[\w.,&'’-]*")
_YEAR = re.compile(r"(?<![\w.,$€£-])(?:1[5-9]|20)\d\d(?![\w%-]|[.,]\d)")
_TOKEN = re.compile(r"[^\W\u2e80-\u9fff\uac00-\ud7af][^\W\u2e80-\u9fff\uac00-\ud7af'’-]*(?:[-'’]\w+)*")
_SHORTENED = re.compile(r"[A-Z]{2,3}s?(?:['’]s)?")  # EU, USA: a text may say the whole
_ENDED = re.compile(r"[.?!:]\W*$")  # between two words: the second begins a sentence
NOUNS_ARE_CAPITAL = frozenset({"de", "lb"})
SPELLED = 6  # letters from which a name may differ in one


@lru_cache(maxsize=KEPT_QUESTIONS)
def names_of(text: str, language: str) -> frozenset[str]:
    """Return the lexemes of numbers and of words with a capital letter that do not begin the question."""
    words = _WORD.findall(text[:READ_CHARS])
    found = [word for n, word in enumerate(words) if word[0].isdigit() or (n and word[0].isupper())]
    return frozenset(lexemes(" ".join(found), language))


@lru_cache(maxsize=KEPT_QUESTIONS)
def subjects_of(text: str, language: str) -> tuple[frozenset[str], ...]:
    """Return the lexemes of each name and year that a document must know if it is to answer.

    Narrower than `names_of`: only what documents spell as questions do. No numbers but years, no codes with
    digits, no abbreviations of two or three letters; nothing by its capital letter in a language where every
    noun has one, nor in a question that Is Written Like This.
    """
    text = text[:READ_CHARS]
    found = _YEAR.findall(text)
    if language not in NOUNS_ARE_CAPITAL:
        found += _runs(text)
    named = (frozenset(lexemes(name, language)) for name in dict.fromkeys(found))
    return tuple(filter(None, named))


def misspelled(name: str, words: Iterable[str]) -> bool:
    """Return whether one of the words is the name but for a letter, not its first: one more, one less or
    another.
    """
    if len(name) < SPELLED:
        return False
    half = len(name) // 2  # the letter is in one of the halves: the other one is whole
    begun, ended = name[:half], name[-half:]
    alike = [word for word in words if word[0] == name[0] and len(word) >= SPELLED - 1]
    near = [word for word in alike if word.startswith(begun) or word.endswith(ended)]
    return any(_differ_by_one(name, word) for word in near)


def _runs(text: str) -> list[str]:
    """Words with a capital letter that follow each other; none if capital letters are a matter of style."""
    tokens = list(_TOKEN.finditer(text))
    within = [
        token for before, token in pairwise(tokens) if not _ENDED.search(text, before.end(), token.start())
    ]
    if not within or _is_headline([token[0] for token in within]):
        return []
    runs: list[str] = []
    end = -1
    for token in within:
        word = token[0]
        if word[0].isupper() and not _SHORTENED.fullmatch(word) and not any(map(str.isdigit, word)):
            joined = text[end : token.start()] == " "
            runs[len(runs) - joined :] = [f"{runs[-1]} {word}" if joined else word]
            end = token.end()
    return runs


def _is_headline(words: Sequence[str]) -> bool:
    """Return whether it Is Written Like This, or LIKE THIS."""
    small = any(word.istitle() and len(word) > 1 and not lexemes(word) for word in words)
    return small or (len(words) > 1 and all(word[0].isupper() or word[0].isdigit() for word in words))


def _differ_by_one(one: str, other: str) -> bool:
    if len(one) == len(other):
        return sum([a != b for a, b in zip(one, other, strict=True)]) == 1
    shorter, longer = sorted((one, other), key=len)
    at = next((n for n, letter in enumerate(shorter) if letter != longer[n]), len(shorter))
    return shorter[at:] == longer[at + 1 :]
