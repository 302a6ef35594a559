"""Puts a set's questions to the pipeline, through the same parts as every face. Async."""

import asyncio
import logging
import time
from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.conf import settings

from embeddings.model_lifecycle import catalog
from knowlex.base.errors import DatabaseUnavailable, KnowlexError
from knowlex.db.threads import release_connection
from rag.answering import parts
from rag.answering.pipeline import Pipeline
from rag.evaluation.configurations import Configuration
from rag.evaluation.outcomes import Outcome, of_answer, of_passages
from rag.evaluation.types import Case
from rag.history.answer_relevance import answer_relevances
from rag.history.citations import cited_by, claims_in
from rag.types.answer import Answer

log = logging.getLogger(__name__)
MAX_ERROR_CHARS = 300


class Asker:
    """answers: whether answers are written, too, which may cost calls of a chat model.

    Made outside an event loop. Raises NotFound (an embedding model), DatabaseUnavailable.
    """

    def __init__(
        self, configurations: Sequence[Configuration], collection_ids: Sequence[UUID], *, answers: bool
    ) -> None:
        self._pipelines = [(one, parts.build_pipeline(**_options(one))) for one in configurations]
        self._collection_ids, self._answers = collection_ids, answers
        self._warm = False

    async def outcomes(self, case: Case) -> list[Outcome]:
        """One for each configuration, asked in turn, so that neither profits from the other's caches more.

        What fails for this question alone is an outcome. Raises DatabaseUnavailable.
        """
        if not self._warm:  # else the first question would pay for loading the model
            await self._outcome(case, *self._pipelines[0], answers=False)
            self._warm = True
        return [await self._outcome(case, *one, answers=self._answers) for one in self._pipelines]

    async def _outcome(
        self, case: Case, configuration: Configuration, pipeline: Pipeline, *, answers: bool
    ) -> Outcome:
        question = configuration.question(
            case.question, self._collection_ids, threshold=settings.RELEVANCE_THRESHOLD
        )
        started = time.perf_counter()
        try:
            if answers:
                answer = await pipeline.answer(question)
                took_ms = _ms_since(started)
                relevance = await asyncio.to_thread(_relevance, case.question, answer)
                return of_answer(case, answer, answer.passages, took_ms, relevance)
            found = await pipeline.search(question)
            return of_passages(case, found.passages, _ms_since(started))
        except DatabaseUnavailable:
            raise
        except KnowlexError as exc:
            log.info("a question failed", extra={"key": case.key, "error": type(exc).__name__})
            return Outcome(error=exc.message[:MAX_ERROR_CHARS])


def _relevance(question: str, answer: Answer) -> float | None:
    """Whether the answer answers the question, as for every stored one."""
    said = [claim.said() for claim in claims_in(answer.text, cited_by(answer))]
    try:
        return answer_relevances([(question, said)])[0]
    finally:
        release_connection()


def _options(configuration: Configuration) -> dict[str, Any]:
    options = configuration.retriever
    if "embedding_model" in options:
        options["model_id"] = catalog.find_model(options.pop("embedding_model")).pk
    return options


def _ms_since(started: float) -> float:
    return (time.perf_counter() - started) * 1000
