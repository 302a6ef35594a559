"""Dense and BM25 retrieval in one SQL statement, fused by reciprocal rank."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import psycopg

from embeddings.lexical import SPARSE_DIMENSIONS, idf, lexemes, position
from embeddings.protocols import Embedder
from embeddings.types import Vector
from knowlex.common.async_db import fetch_all, fetch_one
from knowlex.common.components import component
from knowlex.common.errors import EmbedderError, RetrievalFailed
from rag.fusion import reciprocal_rank
from rag.retrievers import statements
from rag.types import Passage, Question, Retrieval

log = logging.getLogger(__name__)
ALL_CHUNKS = ""  # the lexeme under which the chunks themselves are counted


@dataclass(frozen=True, slots=True)
class _Facts:
    """The active model, and what the question's words are worth in the collections that are read."""

    model_id: int
    model_name: str
    dimensions: int
    calibration: dict[str, Any] | None
    has_vectors: bool
    idf: dict[str, float]  # of all words of the question
    known: tuple[str, ...]  # those that some chunk holds, the rarest first


class HybridRetriever:
    """depth: how many each ranking brings. candidates: how many are handed on, at least the question's top_k.
    rarest: candidates by words hold at least one of the question's so many rarest known words.
    """

    def __init__(self, *, depth: int = 40, candidates: int = 40, rarest: int = 8) -> None:
        self._depth, self._candidates, self._rarest = depth, candidates, rarest

    async def retrieve(self, question: Question) -> Retrieval:
        try:
            facts = await _facts(question)
            if facts is None or not facts.has_vectors:
                return Retrieval(())  # without embedding the question: that would be a model call for nothing
            vector = await _embedded(question.text, facts)
            rows = await fetch_all(
                statements.search(facts.model_id, facts.dimensions),
                self._parameters(question, vector, facts),
            )
        except psycopg.Error as exc:
            log.error("search failed", extra={"error": type(exc).__name__})
            raise RetrievalFailed("The search failed.") from exc
        passages = _fused(rows)[: max(self._candidates, question.top_k)]
        return Retrieval(passages, facts.idf, facts.model_name, facts.calibration)

    def _parameters(self, question: Question, vector: Vector, facts: _Facts) -> dict[str, Any]:
        rarest = facts.known[: self._rarest]
        return {
            "vector": vector,
            "collections": list(question.collection_ids),
            "depth": max(self._depth, question.top_k),
            "words": " | ".join(f"'{word}'" for word in rarest),  # letters and digits only: nothing to escape
            "weights": _sparse({word: facts.idf[word] for word in facts.known}),
        }


async def _facts(question: Question) -> _Facts | None:
    words = list(dict.fromkeys(lexemes(question.text)))
    row = await fetch_one(
        statements.FACTS,
        {"collections": list(question.collection_ids), "lexemes": [ALL_CHUNKS, *words]},
    )
    if row is None:
        return None
    chunks_with: dict[str, int] = row.pop("chunks_with")
    chunks = chunks_with.get(ALL_CHUNKS, 0)
    worth = {word: idf(chunks_with.get(word, 0), chunks) for word in words}
    known = sorted(
        (word for word in words if chunks_with.get(word, 0) > 0), key=lambda word: (-worth[word], word)
    )
    return _Facts(**row, idf=worth, known=tuple(known))


async def _embedded(text: str, facts: _Facts) -> Vector:
    embedder = component("EMBEDDER", Embedder)
    if embedder.model_name != facts.model_name:
        raise RetrievalFailed("The configured embedding model is not the active one.")
    try:
        vector = await embedder.aembed_query(text)
    except EmbedderError as exc:
        log.error("question not embedded", extra={"error": type(exc).__name__, "reason": exc.message})
        raise RetrievalFailed("The question could not be embedded.") from exc
    if len(vector) != facts.dimensions:
        raise RetrievalFailed(
            "The embedding model answers with vectors of another size than the stored ones."
        )
    return vector


def _sparse(worth: dict[str, float]) -> str:
    """The words' idf as pgvector's text form of a sparse vector, positions from 1."""
    places: dict[int, float] = {}
    for word, value in worth.items():
        place = position(word) + 1
        places[place] = places.get(place, 0.0) + value
    elements = ",".join(f"{place}:{value:.6g}" for place, value in sorted(places.items()))
    return f"{{{elements}}}/{SPARSE_DIMENSIONS}"


def _fused(rows: Sequence[dict[str, Any]]) -> tuple[Passage, ...]:
    passages = [_passage(row) for row in rows]
    return tuple(sorted(passages, key=_best_first))


def _best_first(passage: Passage) -> tuple[float, float, UUID]:
    return -passage.score, passage.distance, passage.chunk_id


def _passage(row: dict[str, Any]) -> Passage:
    score = reciprocal_rank((row["dense_rank"], row["sparse_rank"]))
    return Passage(**{**row, "distance": max(0.0, row["distance"]), "score": score})
