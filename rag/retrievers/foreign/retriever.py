"""Retrieval over what somebody else keeps: nearest by vector there, words, order and idf here."""

import asyncio
import logging
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from documents.text.languages import detect_language
from embeddings.protocols import Embedder
from embeddings.types import Vector
from knowlex.base.errors import EmbedderError, RetrievalFailed, VectorStoreFailed
from rag.context.selection import wording
from rag.deadlines import StageTimes
from rag.retrievers.foreign.filters import wheres_of
from rag.retrievers.foreign.places import placed
from rag.retrievers.foreign.protocols import CollectionReader, Record
from rag.retrievers.foreign.records import Candidate, candidate_of
from rag.retrievers.foreign.weighing import best, worth
from rag.types.answer import Reason
from rag.types.question import Question
from rag.types.retrieval import Retrieval

log = logging.getLogger(__name__)

# Records: words bring some of them forward, and are weighed by how many they stand in. Of 200, an approximate
# index lost answers that it finds among 300; more brought nothing.
LIMIT = 300
CANDIDATES = 40  # handed on, or the question's top_k
ENOUGH = 60  # texts; where copies leave fewer of LIMIT, more are asked for
MOST = 2000
COUNTED_S = 30.0  # how long a count is taken for true
LANGUAGES_KEPT = 10_000  # documents
LANGUAGE_PIECES = 8  # texts of a document that tell its language
# The same model under the names that others give it: what its cosines mean is known.
SAME_MODEL = {
    "all-minilm": "all-MiniLM-L6-v2",
    "all-minilm:latest": "all-MiniLM-L6-v2",
    "all-minilm:l6-v2": "all-MiniLM-L6-v2",
    "all-minilm:22m": "all-MiniLM-L6-v2",
    "sentence-transformers/all-MiniLM-L6-v2": "all-MiniLM-L6-v2",
}


class ForeignRetriever:
    """A Retriever over the records of `reader`, whose vectors are of the embedder's model.

    Reads neither the question's collections nor its mode. Its filters: `filters.filters_of`.
    calibration: weights of relevance for that model, None for those that ship.
    """

    def __init__(
        self,
        reader: CollectionReader,
        embedder: Embedder,
        *,
        limit: int = LIMIT,
        candidates: int = CANDIDATES,
        calibration: Mapping[str, Any] | None = None,
    ) -> None:
        self._reader, self._embedder, self._calibration = reader, embedder, calibration
        self._limit, self._candidates = limit, candidates
        self._counted = (0, 0.0)  # records, and until when that is taken for true
        self._languages: dict[str, str] = {}

    async def retrieve(self, question: Question) -> Retrieval:
        """Raises RetrievalFailed (from EmbedderError: the question could not be embedded), VectorStoreFailed,
        InvalidInput (filters).
        """
        took, wheres = StageTimes(), wheres_of(question)
        vector = await took.of("embed", self._embedded(question.text))
        candidates, records = await took.of("search", self._found(vector, wheres, question.top_k))
        started = time.perf_counter()
        idf_of = worth(question.text, candidates, records)
        passages = best(question.text, candidates, idf_of, max(self._candidates, question.top_k))
        took.note("words", started)
        return Retrieval(
            tuple(placed(passages)),
            idf_of,
            SAME_MODEL.get(self._embedder.model_name, self._embedder.model_name),
            self._calibration,
            stage_ms=took.milliseconds,
            vector=vector,
        )

    async def why_nothing(self, question: Question) -> Reason:
        filtered = wheres_of(question) != [None] and await self._reader.count() > 0
        return "filtered_out" if filtered else "no_documents"

    async def _embedded(self, text: str) -> Vector:
        try:
            return await self._embedder.aembed_query(text)
        except EmbedderError as exc:
            log.error("question not embedded", extra={"error": type(exc).__name__, "reason": exc.message})
            raise RetrievalFailed(f"The question could not be embedded. {exc.message}") from exc

    async def _found(
        self, vector: Vector, wheres: Iterable[Mapping[str, Any] | None], top_k: int
    ) -> tuple[list[Candidate], int]:
        """Nearest first, and of how many records. Where a filter lets no others through, of these alone:
        they are weighed as a small collection is.
        """
        counting = asyncio.ensure_future(self._count())
        counting.add_done_callback(_looked_at)
        try:
            for where in wheres:
                candidates, all_there_are = await self._nearest(vector, where, top_k)
                if candidates:
                    few = where is not None and all_there_are
                    return candidates, len(candidates) if few else await counting
            return [], 0
        finally:
            counting.cancel()

    async def _nearest(
        self, vector: Vector, where: Mapping[str, Any] | None, top_k: int
    ) -> tuple[list[Candidate], bool]:
        """Of each text one, and whether no others pass; more are asked for where copies of a few texts lie in
        front of all others.
        """
        limit = max(self._limit, top_k)
        records = await self._reader.nearest(vector, limit, where)
        candidates = await self._candidates_of(records)
        while len(records) == limit < MOST and len(candidates) < min(ENOUGH, self._limit):
            more = min(MOST, 4 * limit)
            try:
                records = await self._reader.nearest(vector, more, where)
            except VectorStoreFailed:  # some stores do not give as many; there are candidates already
                log.warning("no further records", extra={"limit": more})
                break
            limit = more
            candidates = await self._candidates_of(records)
        return candidates, len(records) < limit

    async def _candidates_of(self, records: Sequence[Record]) -> list[Candidate]:
        """Nearest first, no text twice, each of its document's language."""
        of_wording: dict[str, Candidate] = {}
        for record in sorted(records, key=lambda one: one.distance):
            candidate = candidate_of(record)
            if candidate is not None:
                of_wording.setdefault(wording(candidate.content), candidate)
        candidates = list(of_wording.values())
        unknown = [one for one in candidates if one.name not in self._languages]
        if unknown:  # in a thread: what tells short texts apart takes half a second to load
            self._languages |= await asyncio.to_thread(_languages_of, unknown)
        found = [one._replace(language=self._languages.get(one.name, "")) for one in candidates]
        while len(self._languages) > LANGUAGES_KEPT:
            del self._languages[next(iter(self._languages))]
        return found

    async def _count(self) -> int:
        records, until = self._counted
        if time.monotonic() < until:
            return records
        records = await self._reader.count()
        if records:
            self._counted = records, time.monotonic() + COUNTED_S
        return records


def _languages_of(candidates: Iterable[Candidate]) -> dict[str, str]:
    """By document, from those of their texts that are here."""
    texts: dict[str, list[str]] = {}
    for one in candidates:
        texts.setdefault(one.name, []).append(one.content)
    return {
        name: detect_language("\n\n".join(contents[:LANGUAGE_PIECES])) for name, contents in texts.items()
    }


def _looked_at(task: "asyncio.Future[int]") -> None:
    """Where the search itself failed, nobody waits for the count: its failure is no news."""
    if not task.cancelled():
        task.exception()
