"""Puts a set's questions to the pipeline, through the same parts as every face. Async."""

import asyncio
import logging
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import transaction

from embeddings.model_lifecycle import catalog
from knowlex.base.errors import DatabaseUnavailable, DependencyUnavailable, KnowlexError
from knowlex.base.ids import new_id
from knowlex.db.leases import LeaseLost
from knowlex.db.pool import close_pool
from knowlex.db.threads import Heartbeat, release_connection, with_retries
from rag.answering import lifecycle, parts
from rag.answering.pipeline import Pipeline
from rag.evaluation import queue
from rag.evaluation.configurations import Configuration
from rag.evaluation.outcomes import Outcome, measure_answer, measure_search
from rag.evaluation.question_sets import fetch_cases
from rag.evaluation.summary import Summary, compare_outcomes, summarise
from rag.evaluation.types import Case
from rag.history.claims import collect_citations, compute_answer_relevances, group_claims
from rag.models import Evaluation, EvaluationResult
from rag.types.answer import Answer

log = logging.getLogger(__name__)
MAX_ERROR_CHARS = 300


class CaseRunner:
    """Puts questions to the pipeline. answers: whether answers are written, too, which may cost calls of a
    chat model.

    Made outside an event loop. Raises NotFound (an embedding model), DatabaseUnavailable.
    """

    def __init__(
        self, configurations: Sequence[Configuration], collection_ids: Sequence[UUID], *, answers: bool
    ) -> None:
        self._pipelines = [(one, parts.build_pipeline(**_retriever_options(one))) for one in configurations]
        self._collection_ids, self._answers = collection_ids, answers
        self._warm = False

    async def outcomes(self, case: Case) -> list[Outcome]:
        """Ask one question under each configuration in turn, so that none profits more from the other's
        caches.

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
                relevance = await asyncio.to_thread(_measure_relevance, case.question, answer)
                return measure_answer(case, answer, answer.passages, took_ms, relevance)
            found = await pipeline.search(question)
            return measure_search(case, found.passages, _ms_since(started))
        except DatabaseUnavailable:
            raise
        except KnowlexError as exc:
            log.info("a question failed", extra={"key": case.key, "error": type(exc).__name__})
            return Outcome(error=exc.message[:MAX_ERROR_CHARS])


def _measure_relevance(question: str, answer: Answer) -> float | None:
    """Measure whether the answer answers the question, as for every stored one."""
    said = [claim.said() for claim in group_claims(answer.text, collect_citations(answer))]
    try:
        return compute_answer_relevances([(question, said)])[0]
    finally:
        release_connection()


def _retriever_options(configuration: Configuration) -> dict[str, Any]:
    options = configuration.retriever
    if "embedding_model" in options:
        options["model_id"] = catalog.find_model(options.pop("embedding_model")).pk
    return options


def _ms_since(started: float) -> float:
    return (time.perf_counter() - started) * 1000


TURN_S = 3.0
STORED_EVERY_S = 1.0
BATCH = 50  # questions read at a time
log = logging.getLogger(__name__)


def run_turn() -> bool:
    """Run the evaluation that has waited longest for some seconds; tell whether any is left.

    Safe to call at any time and in several workers at once. Raises DatabaseUnavailable if none
    could be claimed.
    """
    lease = new_id()
    evaluation = with_retries(lambda: _claim(lease))
    if evaluation is None:
        return False
    release_connection()
    with Heartbeat(lambda: queue.renew(evaluation.id, lease)):
        _Turn(evaluation, lease).take()
    return with_retries(queue.count_due) > 0


@transaction.atomic
def _claim(lease: UUID) -> Evaluation | None:
    queue.give_up_hopeless()
    return queue.claim(lease)


class _Turn:
    def __init__(self, evaluation: Evaluation, lease: UUID) -> None:
        self._evaluation, self._lease = evaluation, lease
        self._ends = time.monotonic() + TURN_S

    def take(self) -> None:
        run = self._evaluation
        try:
            configurations = [Configuration(**one) for one in run.configurations]
            asker = CaseRunner(configurations, run.collection_ids, answers=run.answers)
            while run.done < run.total and time.monotonic() < self._ends:
                self._ask_some(asker)
            if run.done < run.total:
                with_retries(lambda: queue.release(run.id, self._lease))
            else:
                self._end()
        except LeaseLost:
            log.info("evaluation given up: it was deleted or taken over", extra={"evaluation": str(run.id)})
        except DependencyUnavailable as exc:
            log.warning("evaluation put off", extra={"evaluation": str(run.id), "reason": exc.message})
        except KnowlexError as exc:  # for example, the embedding model is not stored any more
            self._fail(exc.message)
        except Exception:
            log.exception("evaluation failed", extra={"evaluation": str(run.id)})
            self._fail("The evaluation failed because of an internal error.")

    def _fail(self, error: str) -> None:
        with suppress(LeaseLost):
            with_retries(lambda: queue.end(self._evaluation.id, self._lease, error=error, summary=None))

    def _ask_some(self, asker: CaseRunner) -> None:
        """Ask some questions, and store their outcomes in one transaction."""
        cases = fetch_cases(self._evaluation.question_set_id, start=self._evaluation.done, limit=BATCH)
        release_connection()
        found = asyncio.run(self._asked(asker, cases))
        with_retries(lambda: self._store(found))
        self._evaluation.done += len(found)

    async def _asked(self, asker: CaseRunner, cases: list[Case]) -> list[list[Outcome]]:
        """Ask at least one question, and what else there is time for."""
        found: list[list[Outcome]] = []
        until = min(self._ends, time.monotonic() + STORED_EVERY_S)
        try:
            for case in cases:
                found.append(await asker.outcomes(case))
                if time.monotonic() >= until:
                    break
        finally:
            await lifecycle.close()
            await close_pool()
        return found

    @transaction.atomic
    def _store(self, found: list[list[Outcome]]) -> None:
        run = self._evaluation
        if not queue.record_progress(run.id, self._lease, before=run.done, after=run.done + len(found)):
            return
        there = queue.lock_existing(sorted({id_ for each in found for one in each for id_ in one.cited}))
        EvaluationResult.objects.bulk_create(
            EvaluationResult(
                evaluation_id=run.id,
                position=position,
                configuration=place,
                **queue.result_columns(outcome, there),
            )
            for position, each in enumerate(found, start=run.done)
            for place, outcome in enumerate(each)
        )

    def _end(self) -> None:
        run = self._evaluation
        outcomes = with_retries(lambda: [_load_outcomes(run.id, n) for n in range(len(run.configurations))])
        errors = [one.error for each in outcomes for one in each]
        failed = f"No question could be asked. {errors[0]}" if errors and all(errors) else ""
        summary = summarise_run(outcomes)
        with_retries(lambda: queue.end(run.id, self._lease, error=failed, summary=summary))


def summarise_run(outcomes: list[list[Outcome]]) -> Summary:
    """Return {"configurations": [...], "differences": {...} or None}."""
    return {
        "configurations": [summarise(each) for each in outcomes],
        "differences": compare_outcomes(*outcomes) if len(outcomes) == 2 else None,
    }


def _load_outcomes(evaluation_id: UUID, configuration: int) -> list[Outcome]:
    """Load the outcomes in the order of the questions, without their texts."""
    rows = EvaluationResult.objects.filter(evaluation=evaluation_id, configuration=configuration)
    names = ("values", "judged", "latency_ms", "error")
    return [Outcome(**row) for row in rows.order_by("position").values(*names)]
