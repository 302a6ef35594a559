"""`RAGService`, the class that other programs import, and its work on the background loop.

Everything heavy is imported with the first question.
"""

import asyncio
import logging
import os
import secrets
import time
import weakref
from collections.abc import Coroutine, Mapping, Sequence
from datetime import UTC, datetime
from itertools import count
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from knowlex.net.proxies import proxy_of
from knowlex.runtime import background
from rag_service.environment import ServiceEnvironment, read_environment
from rag_service.errors import InvalidQuery, RAGServiceError, translate_error
from rag_service.models import Answer, health_report, milliseconds_since
from rag_service.questions import CheckedQuestion, check_question

if TYPE_CHECKING:
    from rag_service.pipeline import ServicePipeline
    from rag_service.readers import StoredRecord
    from rag_service.records import Texts

log = logging.getLogger("rag_service")
LOGGERS = ("rag_service", "rag", "embeddings", "documents", "knowlex")
NUMBERS = 16**6
PROCESS_STEP = 9973
_numbers = count(secrets.randbelow(NUMBERS))
_engines: "weakref.WeakSet[Engine]" = weakref.WeakSet()
_kept_from_parents: list[object] = []  # in a forked process: collecting them would close what is shared


class RAGService:
    """Answers with citations from a collection in Chroma that others keep, written by Ollama.

    Arguments go before the environment, that before the defaults; ValueError names what cannot be used.
    Nothing is connected to before the first question. One service serves any number of threads and event
    loops; its connections stay open between questions, in each process its own.
    """

    def __init__(
        self,
        ollama_host: str | None = None,
        vector_store_url: str | None = None,
        embedding_model: str | None = None,
    ) -> None:
        settings = read_environment(
            ollama_host=ollama_host, vector_store_url=vector_store_url, embedding_model=embedding_model
        )
        for url in (settings.ollama_host, settings.vector_store_url):
            proxy_of(url)  # refused here, and not with the first question
        self._begin(Engine(settings))

    @classmethod
    def from_texts(
        cls, texts: "Texts", *, ollama_host: str | None = None, embedding_model: str | None = None
    ) -> Self:
        """Make a service over texts at hand, kept in memory: strings, (name, text), or mappings with "text"
        and metadata; or one mapping of names to texts.

        Without `ollama_host` an answer is made of the sentences that answer best, word for word. Raises
        ValueError.
        """
        from rag_service.records import records_from_texts

        settings = read_environment(ollama_host=ollama_host, embedding_model=embedding_model)
        service = cls.__new__(cls)
        service._begin(Engine(settings, records_from_texts(texts), chat=bool(ollama_host)))
        return service

    def _begin(self, engine: "Engine") -> None:
        set_log_level(engine.settings.log_level)
        self._engine = engine
        _engines.add(engine)
        weakref.finalize(self, background.afterwards, self._engine.aclose).atexit = False

    def query(self, question: str, filters: Mapping[str, Any] | None = None) -> Answer:
        """Answer a question.

        filters: `source` (a document's name), `max_results` (1 to 50), and any key of the store's metadata,
        each equal to a value or to one of a list.

        Raises InvalidQuery, VectorStoreUnavailable, OllamaUnavailable, GenerationTimeout.
        """
        return background.run(self._query(question, filters))

    async def aquery(self, question: str, filters: Mapping[str, Any] | None = None) -> Answer:
        """Answer a question from any event loop; cancelling it cancels the model's work."""
        return await background.arun(self._query(question, filters))

    def health_check(self) -> dict[str, str]:
        """Return `status`, `ollama`, `vector_store`, `embedding_model`, `timestamp` of now. Never raises."""
        return background.run(self._engine.check_health())

    async def ahealth_check(self) -> dict[str, str]:
        return await background.arun(self._engine.check_health())

    def close(self) -> None:
        """Close the connections. A later question opens new ones."""
        background.run(self._engine.aclose())

    async def aclose(self) -> None:
        await background.arun(self._engine.aclose())

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, exc: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, exc: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    def _query(self, question: str, filters: Mapping[str, Any] | None) -> Coroutine[Any, Any, Answer]:
        """Raises InvalidQuery at once, before anything is called."""
        started, request_id = time.perf_counter(), new_request_id()
        try:
            checked = check_question(question, filters)
        except InvalidQuery as exc:
            exc.request_id = request_id
            _log_failure(exc)
            raise
        return self._engine.answer(checked, request_id, started)


class Engine:
    """The work of one service on the background loop.

    Its pipeline is built in each process that asks, with the first question. records: the texts to answer
    from, None for the collection in Chroma. chat: Ollama writes the answers.
    """

    def __init__(
        self,
        settings: ServiceEnvironment,
        records: "Sequence[StoredRecord] | None" = None,
        *,
        chat: bool = True,
    ) -> None:
        self.settings, self._records, self._chat = settings, records, chat
        self._built: tuple[int, asyncio.Future[ServicePipeline]] | None = None

    async def answer(self, question: CheckedQuestion, request_id: str, started: float) -> Answer:
        """Answer, and log a failure.

        started: by `time.perf_counter()`. Raises VectorStoreUnavailable, OllamaUnavailable,
        GenerationTimeout.
        """
        try:
            pipeline = await self._get_pipeline()
            return await pipeline.answer(question, request_id, started)
        except Exception as exc:
            failure = translate_error(exc, self.settings)
            if failure is None:
                log.exception("query failed (request_id=%s)", request_id, extra={"request_id": request_id})
                raise
            failure.request_id, failure.processing_time_ms = request_id, milliseconds_since(started)
            _log_failure(failure)
            raise failure from exc

    async def check_health(self) -> dict[str, str]:
        """Never raises."""
        try:
            return await (await self._get_pipeline()).check_health()
        except Exception:
            log.exception("health check failed")
            return health_report("unhealthy", ollama="unreachable", vector_store=False, embedding_model=False)

    async def aclose(self) -> None:
        """Close all connections. The next question opens new ones."""
        if self._built is not None and self._built[0] == os.getpid():
            await (await self._built[1]).aclose()

    async def _get_pipeline(self) -> "ServicePipeline":
        """Build it in a thread: importing what answers takes a second, and others use this loop."""
        if self._built is not None and self._built[0] != os.getpid():
            _kept_from_parents.append(self._built)
            self._built = None
        if self._built is None:
            self._built = os.getpid(), asyncio.ensure_future(asyncio.to_thread(self._build_pipeline))
        try:
            return await asyncio.shield(self._built[1])
        except Exception:
            self._built = None  # the next question tries again
            raise

    def _build_pipeline(self) -> "ServicePipeline":
        from rag_service.pipeline import ServicePipeline

        return ServicePipeline(self.settings, self._records, chat=self._chat)


def new_request_id() -> str:
    """Return an id such as "req_20260121_abc123"; the first 16 million of a process all differ."""
    number = (next(_numbers) + PROCESS_STEP * os.getpid()) % NUMBERS  # a forked process goes on elsewhere
    return f"req_{datetime.now(UTC):%Y%m%d}_{number:06x}"


def set_log_level(level: str) -> None:
    """Set the level of this library's loggers; the root logger and all handlers stay as they are.

    Where nobody has set LOG_LEVEL, a level that the caller gave to a logger stays. A program that has set up
    no logging at all sees nothing of it: errors are raised besides.
    """
    for name in LOGGERS:
        logger = logging.getLogger(name)
        if not logger.handlers:
            logger.addHandler(logging.NullHandler())
        if logger.level == logging.NOTSET or os.environ.get("LOG_LEVEL", "").strip():
            logger.setLevel(level)


def _log_failure(failure: RAGServiceError) -> None:
    extra = {name: getattr(failure, name) for name in ("request_id", "error_type", "error_details")}
    log.error(
        "%s (request_id=%s): %s", failure.error_type, failure.request_id, failure.error_details, extra=extra
    )


async def _close_engines() -> None:
    for engine in list(_engines):
        await engine.aclose()


background.before_end(_close_engines)
