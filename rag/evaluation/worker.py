"""Evaluations in a worker: a few seconds of questions a turn, so that documents do not wait for them."""

import asyncio
import logging
import time
from contextlib import suppress
from uuid import UUID

from django.db import transaction

from knowlex.base.errors import DependencyUnavailable, KnowlexError
from knowlex.base.ids import new_id
from knowlex.db.leases import LeaseLost
from knowlex.db.pool import close_pool
from knowlex.db.threads import release_connection, with_retries
from knowlex.runtime.liveness import Heartbeat
from rag import services
from rag.evaluation import queue
from rag.evaluation.configurations import Configuration
from rag.evaluation.outcomes import Outcome
from rag.evaluation.question_sets import cases_of
from rag.evaluation.runner import Asker
from rag.evaluation.summary import Summary, differences, summarise
from rag.evaluation.types import Case
from rag.models import Evaluation, EvaluationResult

TURN_S = 3.0
STORED_EVERY_S = 1.0
BATCH = 50  # questions read at a time
log = logging.getLogger(__name__)


def run_turn() -> bool:
    """Ask for a few seconds the questions of the run that has waited longest; whether any run is left.

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
            asker = Asker(configurations, run.collection_ids, answers=run.answers)
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

    def _ask_some(self, asker: Asker) -> None:
        """Some questions, stored in one transaction."""
        cases = cases_of(self._evaluation.question_set_id, start=self._evaluation.done, limit=BATCH)
        release_connection()
        found = asyncio.run(self._asked(asker, cases))
        with_retries(lambda: self._store(found))
        self._evaluation.done += len(found)

    async def _asked(self, asker: Asker, cases: list[Case]) -> list[list[Outcome]]:
        """At least one, and what else there is time for."""
        found: list[list[Outcome]] = []
        until = min(self._ends, time.monotonic() + STORED_EVERY_S)
        try:
            for case in cases:
                found.append(await asker.outcomes(case))
                if time.monotonic() >= until:
                    break
        finally:
            await services.close()
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
        outcomes = with_retries(lambda: [_outcomes(run.id, n) for n in range(len(run.configurations))])
        errors = [one.error for each in outcomes for one in each]
        failed = f"No question could be asked. {errors[0]}" if errors and all(errors) else ""
        summary = summary_of(outcomes)
        with_retries(lambda: queue.end(run.id, self._lease, error=failed, summary=summary))


def summary_of(outcomes: list[list[Outcome]]) -> Summary:
    """{"configurations": [...], "differences": {...} or None}, of the outcomes of each configuration."""
    return {
        "configurations": [summarise(each) for each in outcomes],
        "differences": differences(*outcomes) if len(outcomes) == 2 else None,
    }


def _outcomes(evaluation_id: UUID, configuration: int) -> list[Outcome]:
    """In the order of the questions, without their texts."""
    rows = EvaluationResult.objects.filter(evaluation=evaluation_id, configuration=configuration)
    names = ("values", "judged", "latency_ms", "error")
    return [Outcome(**row) for row in rows.order_by("position").values(*names)]
