"""Dense and BM25 retrieval in one SQL statement, fused by reciprocal rank."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import psycopg

from embeddings.lexical import idf, lexemes, position
from embeddings.search import ZERO_DISTANCE, embed_question, usable_model
from embeddings.store import sparse_text, vector_text
from knowlex.common.async_db import fetch_all, fetch_one
from knowlex.common.errors import RetrievalFailed
from rag.retrievers import sentences, statements
from rag.types import Passage, Question, Retrieval

log = logging.getLogger(__name__)
ALL_CHUNKS = ""  # the lexeme under which the chunks themselves are counted


@dataclass(frozen=True, slots=True)
class _Words:
    """The question's words in the collections that are read.

    idf: of all. known: (word, in how many chunks it stands), the rarest first.
    """

    idf: dict[str, float]
    known: tuple[tuple[str, int], ...]

    def finding(self, rarest: int, most_matches: int) -> list[str]:
        """The words that find candidates: the rarest ones, as long as they stand in few enough chunks."""
        sums = accumulate(chunks for _, chunks in self.known[:rarest])
        return [
            word
            for n, ((word, _), matches) in enumerate(zip(self.known, sums, strict=False))
            if n == 0 or matches <= most_matches
        ]


class HybridRetriever:
    """depth: how many each ranking brings. candidates: how many are handed on, at least the question's top_k.

    What BM25 orders holds at least one of the question's `rarest` rarest known words, together with the rarer
    ones found in at most `most_matches` chunks; the rarest of all may stand in more.
    model_id: of the model to search with, where it is not the active one.
    """

    def __init__(
        self,
        *,
        depth: int = 40,
        candidates: int = 20,
        rarest: int = 8,
        most_matches: int = 2000,
        model_id: int | None = None,
    ) -> None:
        self._depth, self._candidates = depth, candidates
        self._rarest, self._most_matches = rarest, most_matches
        self._model_id = model_id

    async def retrieve(self, question: Question) -> Retrieval:
        try:
            return await self._retrieve(question)
        except psycopg.Error as exc:
            log.error("search failed", extra={"error": type(exc).__name__})
            raise RetrievalFailed("The search failed.") from exc

    async def _retrieve(self, question: Question) -> Retrieval:
        words = list(dict.fromkeys(lexemes(question.text)))
        scope = await fetch_one(
            statements.SCOPE,
            {
                "collections": list(question.collection_ids),
                "lexemes": [ALL_CHUNKS, *words],
                "model": self._model_id,
            },
        )
        if scope is None:
            return Retrieval(())
        model = usable_model(scope)
        if not model.dimensions or not scope["has_vectors"]:
            return Retrieval(())  # without embedding the question: that would be a model call for nothing
        known = _weighed(words, scope["chunks_with"])
        vector = await embed_question(question.text, model)
        rows = await fetch_all(
            statements.search(model),
            {"vector": vector_text(vector), **self._parameters(question, known)},
            setup=model.setup,
        )
        return Retrieval(tuple(map(_passage, rows)), known.idf, model.name, scope["calibration"])

    def _parameters(self, question: Question, words: _Words) -> dict[str, Any]:
        rarest = words.finding(self._rarest, self._most_matches)
        return {
            "collections": list(question.collection_ids),
            "limit": max(self._depth, question.top_k),
            "candidates": max(self._candidates, question.top_k),
            "words": " | ".join(f"'{word}'" for word in rarest),  # letters and digits: nothing to escape
            "weights": _sparse(words),
        }


def _weighed(words: Sequence[str], chunks_with: Mapping[str, int]) -> _Words:
    worth = {word: idf(chunks_with.get(word, 0), chunks_with.get(ALL_CHUNKS, 0)) for word in words}
    known = [(word, chunks_with[word]) for word in words if chunks_with.get(word, 0) > 0]
    return _Words(worth, tuple(sorted(known, key=lambda held: (held[1], held[0]))))


def _sparse(words: _Words) -> str:
    """The known words' idf at their hashed places."""
    places: dict[int, float] = {}
    for word, _ in words.known:
        place = position(word)
        places[place] = places.get(place, 0.0) + words.idf[word]
    return sparse_text(places)


def _passage(row: dict[str, Any]) -> Passage:
    if row["distance"] < ZERO_DISTANCE:
        row["distance"] = 0.0
    row["document_warnings"] = tuple(row["document_warnings"])
    row["unread_pages"] = tuple(row["unread_pages"])
    sentences.take(row)
    return Passage(**row)
