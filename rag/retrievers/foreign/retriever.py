"""Retrieval over what somebody else keeps: nearest by vector there, words, order and idf here."""

import asyncio
import logging
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from uuid import UUID

from documents.languages import language_of
from embeddings.protocols import Embedder
from embeddings.types import Vector
from knowlex.common.errors import EmbedderError, RetrievalFailed, VectorStoreFailed
from rag.context.wording import wording
from rag.retrievers.foreign.filters import wheres_of
from rag.retrievers.foreign.places import placed
from rag.retrievers.foreign.protocols import CollectionReader, Record
from rag.retrievers.foreign.records import passage_of
from rag.retrievers.foreign.weighing import in_order, worth
from rag.stages import Stages
from rag.types import Passage, Question, Reason, Retrieval

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
        self._languages: dict[UUID, str] = {}

    async def retrieve(self, question: Question) -> Retrieval:
        """Raises RetrievalFailed (from EmbedderError: the question could not be embedded), VectorStoreFailed,
        InvalidInput (filters).
        """
        took, wheres = Stages(), wheres_of(question)
        vector = await took.of("embed", self._embedded(question.text))
        passages, records = await took.of("search", self._found(vector, wheres, question.top_k))
        started = time.perf_counter()
        idf_of = worth(question.text, passages, records)
        best = in_order(question.text, passages, idf_of)[: max(self._candidates, question.top_k)]
        took.note("words", started)
        return Retrieval(
            tuple(placed(best)),
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
    ) -> tuple[list[Passage], int]:
        """Nearest first, and how many records there are."""
        counting = asyncio.ensure_future(self._count())
        try:
            for where in wheres:
                passages = await self._nearest(vector, where, top_k)
                if passages:
                    return passages, await counting
            return [], 0
        finally:
            counting.cancel()

    async def _nearest(self, vector: Vector, where: Mapping[str, Any] | None, top_k: int) -> list[Passage]:
        """Of each text one; more are asked for where copies of a few texts lie in front of all others."""
        limit = max(self._limit, top_k)
        records = await self._reader.nearest(vector, limit, where)
        passages = self._passages(records)
        while len(records) == limit < MOST and len(passages) < min(ENOUGH, self._limit):
            limit = min(MOST, 4 * limit)
            try:
                records = await self._reader.nearest(vector, limit, where)
            except VectorStoreFailed:  # some stores do not give as many; there are passages already
                log.warning("no further records", extra={"limit": limit})
                break
            passages = self._passages(records)
        return passages

    def _passages(self, records: Sequence[Record]) -> list[Passage]:
        """Nearest first, no text twice, each of its document's language."""
        of_wording: dict[str, Passage] = {}
        for record in sorted(records, key=lambda one: one.distance):
            passage = passage_of(record)
            if passage is not None:
                of_wording.setdefault(wording(passage.content), passage)
        passages = list(of_wording.values())
        self._learn_languages(passages)
        return [passage.but(language=self._languages.get(passage.document_id, "")) for passage in passages]

    def _learn_languages(self, passages: Iterable[Passage]) -> None:
        """Of documents not seen before, from those of their texts that are here."""
        texts: dict[UUID, list[str]] = {}
        for passage in passages:
            if passage.document_id not in self._languages:
                texts.setdefault(passage.document_id, []).append(passage.content)
        for document_id, contents in texts.items():
            self._languages[document_id] = language_of("\n\n".join(contents[:LANGUAGE_PIECES]))
        while len(self._languages) > LANGUAGES_KEPT:
            del self._languages[next(iter(self._languages))]

    async def _count(self) -> int:
        records, until = self._counted
        if time.monotonic() < until:
            return records
        records = await self._reader.count()
        if records:
            self._counted = records, time.monotonic() + COUNTED_S
        return records
