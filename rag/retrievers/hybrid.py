"""Retrieval in PostgreSQL by meaning, by words, by both fused, or by a literal string: one statement each."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import lru_cache
from typing import Any
from uuid import UUID

import psycopg
from psycopg.sql import SQL

from embeddings.search.dense import ZERO_DISTANCE, SearchModel, embed_question, search_model_of
from embeddings.types import Vector
from embeddings.vectors.binary import vector_parameter
from knowlex.base.errors import KnowlexError, NotFound, RetrievalFailed
from knowlex.db.pool import Row, StatementTooLong
from knowlex.db.replica import fetch_all
from rag.deadlines import StageTimes
from rag.ranking.sentences import with_sentences
from rag.read_state import expected_state
from rag.retrievers import external, neighbours, statements
from rag.retrievers.empty import why_nothing
from rag.retrievers.examination import examine
from rag.retrievers.filtering import read_parameters
from rag.retrievers.naming import Sayings
from rag.retrievers.scope import Scope, Scopes
from rag.retrievers.spelling import respell_compounds, suggest_question
from rag.retrievers.words import make_needle
from rag.types.answer import Reason
from rag.types.context import Place
from rag.types.question import Question
from rag.types.retrieval import Examination, Passage, Retrieval, Saying

WIDER = (4, 16)  # times the usual depth of a search

Search = Callable[[int], Awaitable[Sequence[Row]]]


async def search_wider(search: Search, *, candidates: int, wanted: int) -> Sequence[Row]:
    """Return what `search` finds, best first.

    Where it is cut off before `wanted` different texts, search again WIDER times as deep, and keep only the
    first of each text.

    candidates: how many rows there are at most at the usual depth.
    """
    rows = await search(1)
    most = candidates
    for times in WIDER:
        if len(rows) < most or len({row["content"] for row in rows}) >= wanted:
            break
        rows, most = await search(times), candidates * times
    return rows if most == candidates else _first_of_each(rows)[:candidates]


def _first_of_each(rows: Sequence[Row]) -> list[Row]:
    first: dict[str, Row] = {}
    for row in rows:
        first.setdefault(row["content"], row)
    return list(first.values())


log = logging.getLogger(__name__)

# A string that no whole word helps to find is looked for in every chunk: 4 us of CPU each for a single word.
LITERAL_SETUP = (SQL("SET LOCAL statement_timeout = 4000"),)
OTHERS_S = 1.0  # for chunks that an answer can do without
TOO_MANY_TO_READ = (
    "The string could not be looked for in all texts within 4 seconds. Name a collection or filters, or take"
    " in the words around it."
)


class HybridRetriever:
    """A retriever in PostgreSQL.

    depth: how many each ranking brings. candidates: how many are handed on, at least the question's top_k.

    rrf_k, dense_weight: of the fusion; the other ranking weighs 1 - dense_weight. What BM25 orders holds at
    least one of the words that `QueryWords.candidate_query` has. model_id: of the model to search with, where
    it is not the active one.
    """

    def __init__(
        self,
        *,
        depth: int = 40,
        candidates: int = 20,
        rrf_k: int = 60,
        dense_weight: float = 0.5,
        model_id: int | None = None,
    ) -> None:
        self._depth, self._candidates = depth, candidates
        self._rrf_k, self._dense_weight, self._scopes = rrf_k, dense_weight, Scopes(model_id)
        self._sayings = Sayings()

    async def retrieve(self, question: Question) -> Retrieval:
        with _report_failures():
            return await self._retrieve(question)

    async def retrieve_within(self, question: Question, document_ids: Collection[UUID]) -> Retrieval:
        filters = replace(question.filters, document_ids=tuple(sorted(document_ids)))
        with _report_failures():
            return await self._retrieve(replace(question, filters=filters), widely=True)

    async def examine(self, question: Question, chunk_id: UUID) -> Examination:
        """Return what is known of this chunk. Raises NotFound, and as `retrieve`."""
        with _report_failures():
            scope = await self._scopes.even_if_empty(question)
            model, vector = None, None
            if scope is not None and question.mode in ("hybrid", "dense"):
                model = search_model_of(scope.row)
                if model.dimensions:
                    vector = await embed_question(question.text, model, state=question.state)
            depths = {**self._depths(question), **self._weights()}
            found = await examine(question, chunk_id, scope, model, vector, depths)
        if found is None:
            raise NotFound(f"Chunk not found: {chunk_id}", details={"field": "explain"})
        return found

    async def neighbours(
        self, question: Question, found: Retrieval, places: Sequence[Place]
    ) -> tuple[Passage, ...]:
        return await _fetch_others(question, found, neighbours.fetch_neighbours(question, found, places))

    async def sample(
        self, question: Question, found: Retrieval, document_id: UUID, count: int
    ) -> tuple[Passage, ...]:
        return await _fetch_others(
            question, found, neighbours.fetch_sample(question, found, document_id, count)
        )

    async def why_nothing(self, question: Question) -> Reason:
        with _report_failures():
            return await why_nothing(question)

    async def suggest(self, question: Question, *, sure: bool = False) -> str | None:
        with _report_failures():
            return await suggest_question(
                question.text, question.collection_ids, principals=question.principals, sure=sure
            )

    async def find_sayings(self, question: Question, lexemes: Collection[str]) -> Sequence[Saying]:
        with _report_failures():
            return await self._sayings.find(question, lexemes, self._scopes)

    async def respell(self, question: Question) -> str | None:
        with _report_failures():
            return await respell_compounds(
                question.text, question.collection_ids, principals=question.principals
            )

    async def _retrieve(self, question: Question, *, widely: bool = False) -> Retrieval:
        scope = await self._scopes.of(question, widely=widely)
        if scope is None:
            return Retrieval(())
        if question.mode in ("hybrid", "dense"):
            return await self._retrieve_by_meaning(question, scope)
        stages = StageTimes()
        rows = await self._search_wider(
            question, lambda times: stages.of("search", self._fetch_by_words(question, scope, times))
        )
        return replace(make_retrieval(rows, scope), stage_ms=stages.milliseconds)

    async def _retrieve_by_meaning(self, question: Question, scope: Scope) -> Retrieval:
        model = usable_model(scope)
        if model is None:
            return make_retrieval((), scope)  # to embed the question would be a call for nothing
        stages = StageTimes()
        vector = await stages.of("embed", embed_question(question.text, model, state=question.state))
        rows = await self._fetch_by_meaning(question, scope, model, vector, stages)
        return replace(make_retrieval(rows, scope, vector), stage_ms=stages.milliseconds)

    async def _search_wider(self, question: Question, search: Search) -> Sequence[Row]:
        return await search_wider(
            search, candidates=self._depths(question)["candidates"], wanted=question.top_k
        )

    async def _fetch_by_words(self, question: Question, scope: Scope, times: int) -> Sequence[Row]:
        if question.mode == "exact":
            return await self._fetch_by_literal(question, scope, times)
        statement = statements.search_by_words(
            scope.condition.conditions, scope.narrow, scope.candidates.matching, scope.reads_most
        )
        parameters = self._parameters(question, scope, times) | word_parameters(scope)
        return await fetch_all(
            statement, parameters, told=expected_state(question), reader=question.principals
        )

    async def _fetch_by_meaning(
        self, question: Question, scope: Scope, model: SearchModel, vector: Vector, stages: StageTimes
    ) -> Sequence[Row]:
        return await self._search_wider(
            question, lambda times: self._fetch_nearest(question, scope, model, vector, stages, times)
        )

    async def _fetch_nearest(
        self,
        question: Question,
        scope: Scope,
        model: SearchModel,
        vector: Vector,
        stages: StageTimes,
        times: int,
    ) -> Sequence[Row]:
        parameters = {**self._parameters(question, scope, times), "vector": vector_parameter(vector)}
        if model.outside:
            near = await stages.of("vector_store", external.find_nearest(model, scope, vector, parameters))
            model, parameters["near"] = (model, near) if near is not None else (model.exactly(), None)
        if question.mode == "hybrid":
            parameters |= word_parameters(scope) | self._weights()
        statement = statements.search_by_meaning(
            model,
            question.mode,
            scope.condition.conditions,
            scope.narrow,
            scope.candidates.matching,
            parameters["limit"] if scope.is_usual and not model.outside else None,
            scope.reads_most,
        )
        return await stages.of(
            "search",
            fetch_all(
                statement,
                parameters,
                setup=model.setup,
                told=expected_state(question),
                reader=question.principals,
            ),
        )

    async def _fetch_by_literal(self, question: Question, scope: Scope, times: int) -> Sequence[Row]:
        needle = make_needle(question.text, scope.row["languages"])
        statement = statements.search_by_literal(
            scope.condition.conditions, scope.narrow, bool(needle.words), needle.one_word
        )
        parameters = {**self._parameters(question, scope, times), **needle.parameters}
        try:
            return await fetch_all(statement, parameters, setup=LITERAL_SETUP, reader=question.principals)
        except StatementTooLong as exc:
            raise RetrievalFailed(TOO_MANY_TO_READ) from exc

    def _parameters(self, question: Question, scope: Scope, times: int) -> dict[str, Any]:
        return {
            "collections": list(question.collection_ids),
            **{name: depth * times for name, depth in self._depths(question).items()},
            **scope.condition.parameters,
            **read_parameters(question),
        }

    def _depths(self, question: Question) -> dict[str, int]:
        return {
            "limit": max(self._depth, question.top_k),
            "candidates": max(self._candidates, question.top_k),
        }

    def _weights(self) -> dict[str, float]:
        return {
            "rrf_k": self._rrf_k,
            "dense_weight": self._dense_weight,
            "sparse_weight": 1 - self._dense_weight,
        }


async def _fetch_others(
    question: Question, found: Retrieval, reading: Awaitable[Sequence[Row]]
) -> tuple[Passage, ...]:
    """Return passages that an answer can do without: none where they cannot be read in time."""
    try:
        async with asyncio.timeout(question.within(OTHERS_S)):
            rows = await reading
    except (KnowlexError, psycopg.Error, TimeoutError) as exc:
        log.warning("other chunks not fetched", extra={"error": type(exc).__name__})
        return ()
    return with_sentences(question.text, replace(found, passages=tuple(map(passage_of, rows)))).passages


@contextmanager
def _report_failures() -> Iterator[None]:
    try:
        yield
    except psycopg.Error as exc:
        log.error("search failed", extra={"error": type(exc).__name__})
        raise RetrievalFailed("The search failed.") from exc


def usable_model(scope: Scope) -> SearchModel | None:
    """Return the model to search with, None where it has no vectors."""
    model = search_model_of(scope.row)
    if not model.dimensions or not scope.row["has_vectors"]:
        return None
    share = scope.row["passing_share"]
    return model.filtered(narrow=scope.narrow, share=share) if scope.condition else model


def make_retrieval(rows: Iterable[Row], scope: Scope, vector: Vector | None = None) -> Retrieval:
    return Retrieval(
        tuple(map(passage_of, rows)),
        scope.words.idf,
        scope.row["name"],
        scope.row["calibration"],
        model_id=None if vector is None else scope.row["id"],
        vector=vector,
        counts=dict(scope.words.known),
        paraphrases=scope.words.paraphrases,
    )


def word_parameters(scope: Scope) -> dict[str, Any]:
    words = scope.words
    return {
        "words": scope.candidates.query,
        "weights": words.weights(),
        "mass": words.mass,
    }


def passage_of(row: Row) -> Passage:
    if row["distance"] is not None and row["distance"] < ZERO_DISTANCE:
        row["distance"] = 0.0
    row["document_warnings"] = tuple(row["document_warnings"] or ())
    row["unread_pages"] = tuple(row["unread_pages"] or ())
    row["table_head"] = tuple(row["table_head"] or ())
    row["bounds"] = _sentence_bounds(row["bounds"])
    row["similarities"] = tuple(row["similarities"] or ())
    return Passage(**row)


@lru_cache(maxsize=2048)
def _sentence_bounds(bounds: str | None) -> tuple[tuple[int, int], ...]:
    """Parse an array as PostgreSQL writes it. The same passages come again and again."""
    offsets = [int(offset) for offset in (bounds or "").strip("{}").split(",") if offset]
    return tuple(zip(offsets[::2], offsets[1::2], strict=True))
