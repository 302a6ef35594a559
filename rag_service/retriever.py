"""Search in a collection that somebody else keeps: nearest by vector there, words, order and idf here."""

import asyncio
import logging
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from documents.text.languages import detect_language
from embeddings.protocols import Embedder
from embeddings.types import Vector
from knowlex.base.errors import EmbedderError, RetrievalFailed, VectorStoreFailed
from rag.context.selection import wording
from rag.deadlines import StageTimes
from rag.types.answer import Reason
from rag.types.question import Filters, Question
from rag.types.retrieval import Retrieval
from rag_service.ranking import estimate_idf, rank_candidates
from rag_service.readers import CollectionReader, StoredRecord, Where, join_conditions, require_equal
from rag_service.records import SOURCES, CleanRecord, clean_record, set_positions

log = logging.getLogger(__name__)

# Records: words bring some of them forward, and are weighed by how many they stand in. Of 200, an approximate
# index lost answers that it finds among 300; more brought nothing.
LIMIT = 300
CANDIDATES = 40  # handed on, or the question's top_k
ENOUGH = 60  # texts; where copies leave fewer of LIMIT, more are asked for
MOST = 2000
COUNTED_S = 30.0  # how long a count is taken for true
LANGUAGES_CACHED = 10_000  # documents
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

    def __init__(
        self,
        reader: CollectionReader,
        embedder: Embedder,
        *,
        limit: int = LIMIT,
        candidates: int = CANDIDATES,
    ) -> None:
        self._reader, self._embedder = reader, embedder
        self._limit, self._candidates = limit, candidates
        self._total, self._counted_until = 0, 0.0
        self._languages: dict[str, str] = {}

    async def retrieve(self, question: Question) -> Retrieval:
        """Raises RetrievalFailed (from EmbedderError: the question could not be embedded) and
        VectorStoreFailed.
        """
        stages, wheres = StageTimes(), _wheres(question)
        vector = await stages.of("embed", self._embed(question.text))
        candidates, total = await stages.of("search", self._search(vector, wheres, question.top_k))
        started = time.perf_counter()
        idf_of = estimate_idf(question.text, candidates, total)
        most = max(self._candidates, question.top_k)
        passages = rank_candidates(question.text, candidates, idf_of, most)
        stages.note("words", started)
        return Retrieval(
            tuple(set_positions(passages)),
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

    async def _search(
        self, vector: Vector, wheres: Iterable[Where | None], top_k: int
    ) -> tuple[list[CleanRecord], int]:
        """Return the candidates, nearest first, and of how many records they are. Where a filter lets no
        others through, of these alone: they are weighed as a small collection is.
        """
        counting = asyncio.ensure_future(self._count())
        counting.add_done_callback(_ignore_failure)
        try:
            for where in wheres:
                candidates, are_all = await self._find_nearest(vector, where, top_k)
                if candidates:
                    is_small = where is not None and are_all
                    return candidates, len(candidates) if is_small else await counting
            return [], 0
        finally:
            counting.cancel()

    async def _find_nearest(
        self, vector: Vector, where: Where | None, top_k: int
    ) -> tuple[list[CleanRecord], bool]:
        """Return one candidate of each text, and whether no others pass; more are asked for where copies of
        a few texts lie in front of all others.
        """
        limit = max(self._limit, top_k)
        records = await self._reader.nearest(vector, limit, where)
        candidates = await self._to_candidates(records)
        while len(records) == limit < MOST and len(candidates) < min(ENOUGH, self._limit):
            more = min(MOST, 4 * limit)
            try:
                records = await self._reader.nearest(vector, more, where)
            except VectorStoreFailed:  # some stores do not give as many; there are candidates already
                log.warning("no further records", extra={"limit": more})
                break
            limit = more
            candidates = await self._to_candidates(records)
        return candidates, len(records) < limit

    async def _to_candidates(self, records: Sequence[StoredRecord]) -> list[CleanRecord]:
        """Return them nearest first, no text twice, each of its document's language."""
        of_wording: dict[str, CleanRecord] = {}
        for record in sorted(records, key=lambda record: record.distance):
            candidate = clean_record(record)
            if candidate is not None:
                of_wording.setdefault(wording(candidate.content), candidate)
        candidates = list(of_wording.values())
        unknown = [one for one in candidates if one.document not in self._languages]
        if unknown:  # in a thread: what tells short texts apart takes half a second to load
            self._languages |= await asyncio.to_thread(_detect_languages, unknown)
        candidates = [one._replace(language=self._languages.get(one.document, "")) for one in candidates]
        while len(self._languages) > LANGUAGES_CACHED:
            del self._languages[next(iter(self._languages))]
        return candidates

    async def _count(self) -> int:
        if time.monotonic() < self._counted_until:
            return self._total
        total = await self._reader.count()
        if total:
            self._total, self._counted_until = total, time.monotonic() + COUNTED_S
        return total


def _wheres(question: Question) -> list[Where | None]:
    return question.filters.wheres() if isinstance(question.filters, CollectionFilters) else [None]


def _detect_languages(candidates: Iterable[CleanRecord]) -> dict[str, str]:
    """Detect each document's language from those of its texts that are here."""
    texts: dict[str, list[str]] = {}
    for one in candidates:
        texts.setdefault(one.document, []).append(one.content)
    return {
        name: detect_language("\n\n".join(contents[:LANGUAGE_PIECES])) for name, contents in texts.items()
    }


def _ignore_failure(task: "asyncio.Future[int]") -> None:
    """Where the search itself failed, nobody waits for the count: its failure is no news."""
    if not task.cancelled():
        task.exception()
