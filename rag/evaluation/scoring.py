"""What was found and answered, held against what a question expects. Plain Python.

Whether a passage is relevant is decided by the first of these that the question has, always within the
expected document if it names one: grades (`relevant`); its evidence; its section and chapter; its answers;
its pages; the document alone.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import PurePath

from rag.evaluation.metrics import GradedRanking
from rag.evaluation.text_matching import (
    contains_number,
    contains_words,
    fold,
    parse_numbers,
    split_shingles,
    squash,
    strip_citations,
    tokenize,
)
from rag.evaluation.types import AnswerType, Case
from rag.types.retrieval import Passage

MAX_WORDS = 150  # of an answer: to paste whole passages is not to answer
LONG_RECALL = 0.6  # of the words of a long answer
LONG_WORDS = 8  # an expected answer of more words is a long one
SHARED_EVIDENCE = 0.3  # of the runs of four words, of the shorter text
EDGE_CHARS = 50  # by which a long answer is known that a chunk's end cuts


def grade_passages(case: Case, passages: Sequence[Passage]) -> GradedRanking:
    """Grade the passages, best first; a graded document counts where its first passage stands.

    With grades of documents the ranking is one of documents: further passages of one take no place in it.
    """
    if case.relevant:
        return _rank_by_grades(case, passages)
    return GradedRanking(_keep_first(is_relevant(case, passage) for passage in passages))


def find_document_rank(case: Case, passages: Sequence[Passage]) -> int:
    """Return the rank of the first passage of the expected document, from 1; 0 without one."""
    places = enumerate(passages, start=1)
    return next((rank for rank, passage in places if is_expected(case, passage)), 0)


def is_expected(case: Case, passage: Passage) -> bool:
    """Tell whether the passage is of the expected document, or of one of those that are graded."""
    if case.relevant:
        return _grade_key(case, passage) is not None
    return bool(case.document) and case.document.casefold() in document_names(passage)


def is_relevant(case: Case, passage: Passage) -> bool:
    if case.relevant or (case.document and not is_expected(case, passage)):
        return is_expected(case, passage)
    if case.evidence:
        return _shares_evidence(passage.content, case.evidence)
    if case.section or case.chapter:
        return _matches_section(case, passage)
    if case.answers:
        return _contains_answer(case, passage.content)
    if case.pages:
        return _overlaps_pages(case.pages, passage)
    return bool(case.document)


def document_names(passage: Passage) -> tuple[str, ...]:
    """Return all names of a document, case folded: id, file name, that without its ending, title."""
    name = PurePath(passage.document_name).name
    names = (str(passage.document_id), name, PurePath(name).stem, passage.title)
    return tuple(text.casefold() for text in names if text)


def is_correct(case: Case, answer: str) -> bool:
    """Tell whether the answer holds one of the expected ones.

    A span: word for word after normalisation. A number: the first figure of the expected answer, within half
    a percent. A long answer: word for word, or 60 % of its words, or half of its `key_numbers` with the same
    yes or no. More than 150 words are wrong whatever they hold.
    """
    answer = strip_citations(answer)
    return len(answer.split()) <= MAX_WORDS and any(
        _matches_expected(case, answer, expected, _language_of(case, place))
        for place, expected in enumerate(case.answers)
    )


def classify_answer(case: Case, expected: str) -> AnswerType:
    if case.answer_type:
        return case.answer_type
    if parse_numbers(expected) and not any(char.isalpha() for char in expected):
        return "number"
    return "long" if len(expected.split()) > LONG_WORDS else "span"


def first_passages(cited: Iterable[Passage]) -> list[Passage]:
    """Return the first passage of each cited document, in order."""
    return list({passage.document_id: passage for passage in reversed(list(cited))}.values())[::-1]


def has_right_page(case: Case, passages: Iterable[Passage]) -> bool | None:
    """Tell whether one of these passages of the expected document begins on an expected page.

    None if no pages are expected, or the passages have none.
    """
    pages = [p.page_number for p in passages if is_expected(case, p) and p.page_number is not None]
    return any(page in case.pages for page in pages) if case.pages and pages else None


def _rank_by_grades(case: Case, passages: Sequence[Passage]) -> GradedRanking:
    grades = {name.casefold(): grade for name, grade in case.relevant.items()}
    of_chunks = any(str(passage.chunk_id) in grades for passage in passages)
    gains: dict[str, float] = {}  # by target, in order of the first passage of each
    for passage in passages:
        key = _grade_key(case, passage)
        other = str(passage.chunk_id if of_chunks else passage.document_id)
        gains.setdefault(key or other, 0.0 if key is None else grades[key])
    return GradedRanking(tuple(gains.values()), tuple(sorted(grades.values(), reverse=True)))


def _grade_key(case: Case, passage: Passage) -> str | None:
    """Return under which of its names the passage, or its document, has a grade."""
    graded = {name.casefold() for name in case.relevant}
    return next((name for name in (str(passage.chunk_id), *document_names(passage)) if name in graded), None)


def _keep_first(relevant: Iterable[bool]) -> tuple[float, ...]:
    """Return gains for one target, which the first relevant passage holds."""
    gains, found = [], False
    for is_one in relevant:
        gains.append(float(is_one and not found))
        found = found or is_one
    return tuple(gains)


def _shares_evidence(content: str, evidence: str) -> bool:
    here, there = split_shingles(content), split_shingles(evidence)
    return bool(here and there) and len(here & there) / min(len(here), len(there)) >= SHARED_EVIDENCE


def _matches_section(case: Case, passage: Passage) -> bool:
    return (not case.chapter or fold(case.chapter) == fold(passage.chapter)) and (
        not case.section or fold(case.section) == fold(passage.section)
    )


def _contains_answer(case: Case, content: str) -> bool:
    text = squash(content)
    for expected in case.answers:
        wanted = squash(expected)
        if wanted and wanted in text:
            return True
        is_long = classify_answer(case, expected) == "long" and len(wanted) > EDGE_CHARS + 10
        if is_long and (wanted[:EDGE_CHARS] in text or wanted[-EDGE_CHARS:] in text):
            return True
    return False


def _overlaps_pages(pages: Sequence[int], passage: Passage) -> bool:
    if passage.page_number is None:
        return False
    last = passage.last_page or passage.page_number
    return any(passage.page_number <= page <= last for page in pages)


def _language_of(case: Case, place: int) -> str:
    """Return the language of an expected answer: of the document for the first, else of the question."""
    return case.document_lang or case.lang if place == 0 else case.lang


def _matches_expected(case: Case, answer: str, expected: str, lang: str) -> bool:
    kind = classify_answer(case, expected)
    if kind == "number":
        return bool(wanted := parse_numbers(expected)) and contains_number(wanted[0], parse_numbers(answer))
    if contains_words(answer, expected, lang):
        return True
    return kind == "long" and (
        _share_of_words(answer, expected, lang) >= LONG_RECALL or _has_key_numbers(case, answer, expected)
    )


def _share_of_words(answer: str, expected: str, lang: str) -> float:
    said, wanted = Counter(tokenize(answer, lang)), Counter(tokenize(expected, lang))
    return (said & wanted).total() / wanted.total() if wanted else 0.0


def _has_key_numbers(case: Case, answer: str, expected: str) -> bool:
    if not case.key_numbers or {*fold(expected).split()[:1], *fold(answer).split()[:1]} == {"yes", "no"}:
        return False
    said = parse_numbers(answer)
    return 2 * sum(contains_number(figure, said) for figure in case.key_numbers) >= len(case.key_numbers)
