"""A model that may be slow or gone: calls have a limit, and after a few failures none is made for a while."""

import asyncio
import logging
import math
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

from rag.local_models.errors import ModelFailed

T = TypeVar("T")
log = logging.getLogger(__name__)

FAILURES = 3  # in a row
REST_S, LONGEST_REST_S = 15.0, 240.0


class Limit:
    """timeout_s: of one call. After `FAILURES` calls in a row without a result the model rests.

    Then one call tries it again, the others going on without: a result ends the rest, a failure doubles it.
    what: the model, as the log calls it.
    """

    def __init__(
        self,
        timeout_s: float,
        *,
        what: str = "reranker",
        rest_s: float = REST_S,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._what = what
        self._timeout_s, self._first_rest_s, self._clock = timeout_s, rest_s, clock
        self._failures, self._rest_s, self._rests_until = 0, rest_s, 0.0
        self._trying = False

    @property
    def resting(self) -> bool:
        """Whether the model is off at the moment, or on trial after it was."""
        return self._failures >= FAILURES

    async def call(self, work: Callable[[], Awaitable[T]], *, within_s: float = math.inf) -> T | None:
        """The result, or None: too slow, failed (ModelFailed), or not asked at all.

        within_s: what the question has left for it; that this was too little is no fault of the model.
        """
        if self.resting and (self._trying or self._clock() < self._rests_until):
            return None
        on_trial = self._trying = self.resting
        try:
            async with asyncio.timeout(min(self._timeout_s, within_s)):
                result = await work()
        except TimeoutError:
            if within_s < self._timeout_s:
                return None
            self._failed(f"The {self._what} took longer than {self._timeout_s:g} s.", on_trial)
            return None
        except ModelFailed as exc:
            self._failed(exc.message, on_trial)
            return None
        finally:
            self._trying = self._trying and not on_trial
        self._failures, self._rest_s = 0, self._first_rest_s
        return result

    def _failed(self, reason: str, on_trial: bool) -> None:
        self._failures += 1
        log.warning("done without the %s", self._what, extra={"reason": reason, "failures": self._failures})
        if on_trial or self._failures == FAILURES:  # those that were under way do not prolong it
            self._rests_until = self._clock() + self._rest_s
            log.error("the %s is off for a while", self._what, extra={"rest_s": self._rest_s})
            self._rest_s = min(2 * self._rest_s, LONGEST_REST_S)
