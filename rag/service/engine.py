"""What a service does on the background loop; everything heavy is imported when it is first needed."""

import asyncio
import logging
import os
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from knowlex.base.errors import KnowlexError
from rag.service.asking import Asked
from rag.service.environment import ServiceEnvironment
from rag.service.errors import RAGServiceError
from rag.service.models import Answer
from rag.service.reports import unhealthy

if TYPE_CHECKING:
    from rag.service.parts import Parts

log = logging.getLogger("rag.service")
LOGGED_CHARS = 2000  # of what a model said


_of_parents: list[object] = []  # kept in a forked process: collecting them would close what is shared


class Engine:
    """Of one service; its parts are built in each process that asks, with the first question.

    build: makes them; it is called in a thread and may import what is heavy.
    """

    def __init__(self, settings: ServiceEnvironment, build: "Callable[[], Parts]") -> None:
        self.settings, self._build = settings, build
        self._built: tuple[int, asyncio.Future[Parts]] | None = None

    async def answer(self, asked: Asked, request_id: str, began: float) -> Answer:
        """began: by `time.perf_counter()`. Raises VectorStoreUnavailable, OllamaUnavailable,
        GenerationTimeout.
        """
        try:
            async with self._using() as parts:
                return await self._answered(parts, asked, request_id, began)
        except Exception as exc:
            failure = self._failure(exc, request_id, began)
            if failure is None:
                log.exception("query failed (request_id=%s)", request_id, extra={"request_id": request_id})
                raise
            raise failure from exc

    async def health(self) -> dict[str, str]:
        """Never raises."""
        try:
            async with self._using() as parts:
                from rag.service.health import health_of

                return await health_of(parts, self.settings)
        except Exception:
            log.exception("health check failed")
            return unhealthy()

    async def aclose(self) -> None:
        """Close all connections, those in use as soon as they are not. The next question opens new ones."""
        built, self._built = self._built, None
        if built is not None and built[0] == os.getpid():
            await (await built[1]).aclose()

    async def _answered(self, parts: "Parts", asked: Asked, request_id: str, began: float) -> Answer:
        from rag.service import answering

        synthesizer = parts.synthesizer()
        question = answering.question_of(asked, self.settings)
        found = await parts.pipeline(synthesizer).answer(question)
        if found.reason == "not_supported":
            said = getattr(synthesizer, "said", "")[:LOGGED_CHARS]
            extra = {"request_id": request_id, "error_type": "NoCitationsFound", "llm_output": said}
            log.warning("NoCitationsFound (request_id=%s): %r", request_id, said, extra=extra)
        answer = answering.answer_of(found, request_id, _milliseconds(began))
        told = {"request_id": request_id, "processing_time_ms": answer.processing_time_ms}
        log.info("answered (request_id=%s)", request_id, extra={**told, "reason": found.reason})
        return answer

    def _failure(self, exc: Exception, request_id: str, began: float) -> RAGServiceError | None:
        from rag.service.failures import translated

        failure = translated(exc, self.settings) if isinstance(exc, KnowlexError) else None
        if failure is not None:
            failure.request_id, failure.processing_time_ms = request_id, _milliseconds(began)
            log_failure(failure)
        return failure

    @asynccontextmanager
    async def _using(self) -> AsyncIterator["Parts"]:
        parts = await self._parts()
        parts.users += 1
        try:
            yield parts
        finally:
            parts.users -= 1
            if parts.leaving:
                await parts.aclose()

    async def _parts(self) -> "Parts":
        """Built in a thread: importing what answers takes a second, and others use this loop."""
        if self._built is not None and self._built[0] != os.getpid():
            _of_parents.append(self._built)
            self._built = None
        if self._built is None:
            self._built = os.getpid(), asyncio.ensure_future(asyncio.to_thread(self._imported))
        try:
            return await asyncio.shield(self._built[1])
        except Exception:
            self._built = None  # the next one tries again
            raise

    def _imported(self) -> "Parts":
        from rag.service import answering, failures, health  # noqa: F401 (here, and not on the loop)

        return self._build()


def log_failure(failure: RAGServiceError) -> None:
    told = {name: getattr(failure, name) for name in ("request_id", "error_type", "error_details")}
    log.error(
        "%s (request_id=%s): %s", failure.error_type, failure.request_id, failure.error_details, extra=told
    )


def _milliseconds(began: float) -> int:
    return round((time.perf_counter() - began) * 1000)
