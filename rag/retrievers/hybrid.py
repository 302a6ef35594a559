"""Dense and BM25 retrieval in one SQL statement, fused by reciprocal rank."""

import logging
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import psycopg

from embeddings import indexes
from embeddings.lexical import idf, lexemes, position
from embeddings.search import ZERO_DISTANCE, SearchModel, embed_question, search_model
from embeddings.store import sparse_text, vector_text
from knowlex.common.async_db import fetch_all, fetch_one
from knowlex.common.errors import RetrievalFailed
from rag.fusion import reciprocal_rank
from rag.retrievers import statements
from rag.types import Passage, Question, Retrieval

log = logging.getLogger(__name__)
ALL_CHUNKS = ""  # the lexeme under which the chunks themselves are counted


@dataclass(frozen=True, slots=True)
class _Words:
    """The question's words in the collections that are read. idf: of all. known: the rarest first.

    has_vectors: whether there is anything to search. calibration: of the model.
    """

    idf: dict[str, float]
    known: tuple[str, ...]
    has_vectors: bool
    calibration: dict[str, Any] | None


class HybridRetriever:
    """depth: how many each ranking brings. candidates: how many are handed on, at least the question's top_k.
    rarest: what BM25 orders holds at least one of the question's so many rarest known words.
    """

    def __init__(self, *, depth: int = 40, candidates: int = 40, rarest: int = 8) -> None:
        self._depth, self._candidates, self._rarest = depth, candidates, rarest

    async def retrieve(self, question: Question) -> Retrieval:
        try:
            return await self._retrieve(question)
        except psycopg.Error as exc:
            log.error("search failed", extra={"error": type(exc).__name__})
            raise RetrievalFailed("The search failed.") from exc

    async def _retrieve(self, question: Question) -> Retrieval:
        model = await search_model(question.collection_ids)
        if model is None or not model.dimensions:
            return Retrieval(())
        words = await _words(question, model)
        if not words.has_vectors:
            return Retrieval(())  # without embedding the question: that would be a model call for nothing
        vector = await embed_question(question.text, model)
        rows = await fetch_all(
            statements.search(model),
            {"vector": vector_text(vector), **self._parameters(question, words)},
            setup=indexes.SETUP if model.indexed else (),
        )
        passages = sorted(map(_passage, rows), key=_best_first)
        kept = tuple(passages[: max(self._candidates, question.top_k)])
        return Retrieval(kept, words.idf, model.name, words.calibration)

    def _parameters(self, question: Question, words: _Words) -> dict[str, Any]:
        rarest = words.known[: self._rarest]
        return {
            "collections": list(question.collection_ids),
            "limit": max(self._depth, question.top_k),
            "words": " | ".join(f"'{word}'" for word in rarest),  # letters and digits: nothing to escape
            "weights": _sparse(words),
        }


async def _words(question: Question, model: SearchModel) -> _Words:
    words = list(dict.fromkeys(lexemes(question.text)))
    collections = list(question.collection_ids)
    row = await fetch_one(
        statements.WORDS, {"model": model.id, "collections": collections, "lexemes": [ALL_CHUNKS, *words]}
    )
    assert row is not None, "an aggregate without GROUP BY has one row"
    chunks_with: dict[str, int] = row["chunks_with"]
    worth = {word: idf(chunks_with.get(word, 0), chunks_with.get(ALL_CHUNKS, 0)) for word in words}
    known = (word for word in words if chunks_with.get(word, 0) > 0)
    rarest_first = tuple(sorted(known, key=lambda word: (-worth[word], word)))
    return _Words(worth, rarest_first, row["has_vectors"], row["calibration"])


def _sparse(words: _Words) -> str:
    """The known words' idf at their hashed places."""
    places: dict[int, float] = {}
    for word in words.known:
        place = position(word)
        places[place] = places.get(place, 0.0) + words.idf[word]
    return sparse_text(places)


def _best_first(passage: Passage) -> tuple[float, float, UUID]:
    return -passage.score, passage.distance, passage.chunk_id


def _passage(row: dict[str, Any]) -> Passage:
    distance = row["distance"] if row["distance"] >= ZERO_DISTANCE else 0.0
    score = reciprocal_rank((row["dense_rank"], row["sparse_rank"]))
    return Passage(**{**row, "distance": distance, "score": score})
