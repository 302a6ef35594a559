"""Search in a collection that somebody else keeps: nearest by vector there, words, order and idf here.

idf is estimated, since only the nearest records are known. In how many of the others a word stands is
guessed from the far half of the candidates, which have little but their subject in common with the question:
a quarter of that half's share is taken. On the evaluation's collections that does as well as the true counts,
without a request (docs/evaluation.md).
"""

import asyncio
import logging
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any

from documents.text.languages import detect_language
from embeddings.lexical.terms import idf, question_lexemes
from embeddings.protocols import Embedder
from embeddings.types import Vector
from knowlex.base.errors import EmbedderError, RetrievalFailed
from rag.context.selection import wording
from rag.deadlines import StageTimes
from rag.ranking.order import BM25, bm25
from rag.ranking.sentences import analysis_of, question_terms
from rag.types.answer import Reason
from rag.types.question import Filters, Question
from rag.types.retrieval import Passage, Retrieval
from rag_service.readers import CollectionReader, StoredRecord, Where, join_conditions, require_equal
from rag_service.records import SOURCES, CleanRecord, clean_record, to_passage

log = logging.getLogger(__name__)

# Records: words bring some of them forward, and are weighed by how many they stand in. Of 200, an approximate
# index lost answers that it finds among 300; more brought nothing.
LIMIT = 300
CANDIDATES = 40  # handed on, or the question's top_k
FAR_SHARE = 0.25
COUNTED_S = 30.0  # how long a count is taken for true
APART = 1_000_000  # characters between two passages
MOST_LANGUAGES = 10_000  # documents whose language is remembered
LANGUAGE_PIECES = 8  # texts of a document that tell its language
# The same model under the names that others give it: what its cosines mean is known.
SAME_MODEL = {
    "all-minilm": "all-MiniLM-L6-v2",
    "all-minilm:latest": "all-MiniLM-L6-v2",
    "all-minilm:l6-v2": "all-MiniLM-L6-v2",
    "all-minilm:22m": "all-MiniLM-L6-v2",
    "sentence-transformers/all-MiniLM-L6-v2": "all-MiniLM-L6-v2",
}


@dataclass(frozen=True, slots=True)
class CollectionFilters(Filters):
    """equal: `source`, the document's name, and keys of the metadata, each a scalar or a list of scalars."""

    equal: Mapping[str, Any] = field(default_factory=dict)

    def wheres(self) -> list[Where | None]:
        """Return what to search with, in turn, until something is found: not every collection has its
        documents' names under the same key.
        """
        others = [require_equal(key, value) for key, value in self.equal.items() if key != "source"]
        if "source" not in self.equal:
            return [join_conditions(others) if others else None]
        first, *rest = (require_equal(key, self.equal["source"]) for key in SOURCES)
        return [join_conditions([named, *others]) for named in (first, join_conditions(rest, "$or"))]


class CollectionRetriever:
    """A Retriever over the records of `reader`, whose vectors are of the embedder's model.

    Reads neither the question's collections nor its mode. Its filters are CollectionFilters.
    """

    def __init__(self, reader: CollectionReader, embedder: Embedder, *, limit: int = LIMIT) -> None:
        self._reader, self._embedder, self._limit = reader, embedder, limit
        self._total, self._counted_until = 0, 0.0
        self._languages: dict[str, str] = {}

    async def retrieve(self, question: Question) -> Retrieval:
        """Raises RetrievalFailed (from EmbedderError: the question could not be embedded) and
        VectorStoreFailed.
        """
        stages = StageTimes()
        vector = await stages.of("embed", self._embed(question.text))
        candidates, total = await stages.of("search", self._search(question, vector))
        started = time.perf_counter()
        idf_of = estimate_idf(question.text, candidates, total)
        passages = rank_candidates(question.text, candidates, idf_of, max(CANDIDATES, question.top_k))
        stages.note("words", started)
        return Retrieval(
            tuple(passages),
            idf_of,
            SAME_MODEL.get(self._embedder.model_name, self._embedder.model_name),
            None,
            stage_ms=stages.milliseconds,
            vector=vector,
        )

    async def why_nothing(self, question: Question) -> Reason:
        is_filtered = _wheres(question) != [None] and await self._reader.count() > 0
        return "filtered_out" if is_filtered else "no_documents"

    async def _embed(self, text: str) -> Vector:
        try:
            return await self._embedder.aembed_query(text)
        except EmbedderError as exc:
            log.error("question not embedded", extra={"error": type(exc).__name__, "reason": exc.message})
            raise RetrievalFailed(f"The question could not be embedded. {exc.message}") from exc

    async def _search(self, question: Question, vector: Vector) -> tuple[list[CleanRecord], int]:
        """Return the candidates, nearest first, and of how many records they are. Where a filter lets no
        others through, of these alone: they are weighed as a small collection is.
        """
        limit = max(self._limit, question.top_k)
        for where in _wheres(question):
            records = await self._reader.nearest(vector, limit, where)
            candidates = await self._to_candidates(records)
            if candidates:
                is_small = where is not None and len(records) < limit
                return candidates, len(candidates) if is_small else await self._count()
        return [], 0

    async def _to_candidates(self, records: Sequence[StoredRecord]) -> list[CleanRecord]:
        """Return them nearest first, no text twice, each of its document's language."""
        by_wording: dict[str, CleanRecord] = {}
        for record in records:
            candidate = clean_record(record)
            if candidate is not None:
                by_wording.setdefault(wording(candidate.content), candidate)
        candidates = list(by_wording.values())
        unknown = [candidate for candidate in candidates if candidate.document not in self._languages]
        if unknown:  # in a thread: what tells short texts apart takes half a second to load
            if len(self._languages) > MOST_LANGUAGES:
                self._languages = {}
            self._languages |= await asyncio.to_thread(_detect_languages, unknown)
        return [
            candidate._replace(language=self._languages.get(candidate.document, ""))
            for candidate in candidates
        ]

    async def _count(self) -> int:
        if time.monotonic() >= self._counted_until:
            self._total = await self._reader.count()
            self._counted_until = time.monotonic() + COUNTED_S
        return self._total


def estimate_idf(text: str, candidates: Sequence[CleanRecord], total: int) -> dict[str, float]:
    """Weigh every distinct lexeme of the question, in the analysis of each of the candidates' languages.

    candidates: nearest first. total: records of the whole collection.
    """
    by_language = question_lexemes(text, dict.fromkeys(candidate.language for candidate in candidates))
    asked = frozenset[str]().union(*by_language.values())
    analyses = [analysis_of(candidate.content, candidate.language) for candidate in candidates]
    contained = [list(filter(analysis.occurrences, asked)) for analysis in analyses]
    far = contained[len(contained) // 2 :]
    near_counts = Counter(word for words in contained for word in words)
    far_counts = Counter(word for words in far for word in words)
    total = max(total, len(candidates))
    others = FAR_SHARE * (total - len(candidates)) / max(1, len(far))
    return {word: idf(round(near_counts[word] + others * far_counts[word]), total) for word in asked}


def rank_candidates(
    text: str, candidates: Sequence[CleanRecord], idf_of: Mapping[str, float], limit: int
) -> list[Passage]:
    """Order them by cosine and BM25 as a share of its most: the first half of rag/ranking/order.py.

    candidates: nearest first.
    """
    languages = {candidate.language for candidate in candidates}
    terms = {language: question_terms(text, idf_of, language) for language in languages}
    passages = []
    for candidate in candidates:
        share = bm25(terms[candidate.language], analysis_of(candidate.content, candidate.language))
        score = 1 - candidate.record.distance + BM25 * share
        passages.append(to_passage(candidate)._replace(score=score, fused_score=score))
    passages.sort(key=attrgetter("score"), reverse=True)  # stable: of equals, the nearest first
    return set_apart(passages[:limit])


def set_apart(passages: Sequence[Passage]) -> list[Passage]:
    """Give each a place in its document that no other one overlaps or follows: nobody knows which do."""
    return [
        passage._replace(chunk_index=2 * number, start_char=APART * number)
        for number, passage in enumerate(passages)
    ]


def _wheres(question: Question) -> list[Where | None]:
    return question.filters.wheres() if isinstance(question.filters, CollectionFilters) else [None]


def _detect_languages(candidates: Iterable[CleanRecord]) -> dict[str, str]:
    """Detect each document's language from those of its texts that are here."""
    texts: dict[str, list[str]] = {}
    for candidate in candidates:
        texts.setdefault(candidate.document, []).append(candidate.content)
    return {
        name: detect_language("\n\n".join(contents[:LANGUAGE_PIECES])) for name, contents in texts.items()
    }
