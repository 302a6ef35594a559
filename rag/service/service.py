"""`RAGService`: the class that other programs import."""

import os
import secrets
import time
import weakref
from collections.abc import Callable, Coroutine, Mapping, Sequence
from datetime import UTC, datetime
from itertools import count
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from knowlex.net.proxies import proxy_of
from knowlex.runtime import background
from rag.service.asking import checked
from rag.service.engine import Engine, log_failure
from rag.service.environment import ServiceEnvironment, read_environment
from rag.service.errors import InvalidQuery
from rag.service.logs import set_level
from rag.service.models import Answer

if TYPE_CHECKING:
    from rag.retrievers.foreign.protocols import Record
    from rag.service.parts import Parts
    from rag.service.texts import Texts

Filters = Mapping[str, Any]
NUMBERS = 16**6
SCATTER = 0x9E3779  # odd, so that no number comes twice
_numbers = count(secrets.randbelow(NUMBERS))
_open: "weakref.WeakSet[Engine]" = weakref.WeakSet()


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
        self._begin(settings, lambda: _of_collection(settings))

    @classmethod
    def from_texts(
        cls, texts: "Texts", *, ollama_host: str | None = None, embedding_model: str | None = None
    ) -> Self:
        """The same over texts at hand, kept in memory: strings, (name, text), or mappings with "text" and
        metadata; or one mapping of names to texts.

        Without `ollama_host` an answer is made of the sentences that answer best, word for word. Raises
        ValueError.
        """
        from rag.service.texts import records_of

        settings = read_environment(ollama_host=ollama_host, embedding_model=embedding_model)
        service, records = cls.__new__(cls), records_of(texts)
        service._begin(settings, lambda: _of_texts(settings, records, chat=bool(ollama_host)))
        return service

    def _begin(self, settings: ServiceEnvironment, build: "Callable[[], Parts]") -> None:
        set_level(settings.log_level)
        self._engine = Engine(settings, build)
        _open.add(self._engine)
        weakref.finalize(self, background.afterwards, self._engine.aclose).atexit = False

    def query(self, question: str, filters: Filters | None = None) -> Answer:
        """filters: `source` (a document's name), `max_results` (1 to 50), and any key of the store's
        metadata, each equal to a value or to one of a list.

        Raises InvalidQuery, VectorStoreUnavailable, OllamaUnavailable, GenerationTimeout.
        """
        return background.run(self._asking(question, filters))

    async def aquery(self, question: str, filters: Filters | None = None) -> Answer:
        """The same from any event loop; cancelling it cancels the model's work."""
        return await background.arun(self._asking(question, filters))

    def health_check(self) -> dict[str, str]:
        """`status`, `ollama`, `vector_store`, `embedding_model`, `timestamp`, found out now. Never raises."""
        return background.run(self._engine.health())

    async def ahealth_check(self) -> dict[str, str]:
        return await background.arun(self._engine.health())

    def close(self) -> None:
        """Close the connections; those that answer a question, after it. A later question opens new ones."""
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

    def _asking(self, question: str, filters: Filters | None) -> Coroutine[Any, Any, Answer]:
        """Raises InvalidQuery at once, before anything is called."""
        began, request_id = time.perf_counter(), new_request_id()
        try:
            asked = checked(question, filters)
        except InvalidQuery as exc:
            exc.request_id = request_id
            log_failure(exc)
            raise
        return self._engine.answer(asked, request_id, began)


def new_request_id() -> str:
    """Such as "req_20260121_abc123"; the first 16 million of a process all differ."""
    number = (next(_numbers) * SCATTER) % NUMBERS
    return f"req_{datetime.now(UTC):%Y%m%d}_{number:06x}"


def _number_anew() -> None:
    """From anywhere: a forked process does not go on where its parent was."""
    global _numbers
    _numbers = count(secrets.randbelow(NUMBERS))


def _of_collection(settings: ServiceEnvironment) -> "Parts":
    from rag.service.parts import build

    return build(settings)


def _of_texts(settings: ServiceEnvironment, records: "Sequence[Record]", *, chat: bool) -> "Parts":
    from rag.service.parts import build_for_texts

    return build_for_texts(settings, records, chat=chat)


async def _close_all() -> None:
    for engine in list(_open):
        await engine.aclose()


background.before_end(_close_all)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_number_anew)
