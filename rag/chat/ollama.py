"""Ollama's own API: POST /api/chat, POST /api/generate. Works without Django."""

import asyncio
import logging
from collections.abc import Mapping
from typing import Any

from knowlex.base.errors import SynthesisFailed
from knowlex.base.event_loops import PerLoop
from knowlex.base.retry import Retry
from knowlex.net.json_client import JsonWire, Unreachable
from knowlex.net.ollama import base_url, names_model
from rag.chat.client import HttpChat
from rag.chat.ollama_dialect import ChatDialect, GenerateDialect, OllamaDialect, Sent
from rag.chat.replies import TWO_MORE, Again
from rag.chat.wire import UNREACHABLE, Wire

LOADING_S = 300.0
SETTLING_S = 0.5  # until Ollama has noticed that nobody waits any more
LIST_S = 2.0
log = logging.getLogger(__name__)


class Loading:
    def __init__(self, host: str, dialect: OllamaDialect) -> None:
        self._wire, self._dialect = JsonWire(base_url(host)), dialect
        self._running: PerLoop[set[asyncio.Task[None]]] = PerLoop(set)

    async def load(self, timeout_s: float) -> None:
        """Raises SynthesisFailed."""
        try:
            reply = await self._wire.send(
                "POST", "/api/generate", self._dialect.loading(), timeout_s=timeout_s
            )
        except (Unreachable, TimeoutError) as exc:
            raise Again(UNREACHABLE) from exc
        self._dialect.check_loaded(reply)

    def begin_if_gone(self) -> None:
        """In the background, unless it is being done already; not if the model is in memory and only slow."""
        running = self._running.get()
        if not running:
            task = asyncio.create_task(self._load_if_gone())
            running.add(task)
            task.add_done_callback(running.discard)

    async def aclose(self) -> None:
        """Of this event loop."""
        for task in self._running.take() or ():
            task.cancel()
        await self._wire.aclose()

    async def _load_if_gone(self) -> None:
        await asyncio.sleep(SETTLING_S)
        try:
            reply = await self._wire.send("GET", "/api/ps", timeout_s=LIST_S)
            if reply.ok and names_model(reply.body, self._dialect.model_name) is False:
                await self.load(LOADING_S)
        except (Unreachable, TimeoutError, SynthesisFailed) as exc:
            log.warning("Ollama's model was not loaded", extra={"reason": str(exc)})


KEEP_ALIVE = "30m"


class _Ollama(HttpChat):
    """context_tokens: of passages in a prompt. window: the model's, None: what prompt and reply take.

    timeout_s: of the whole, retries included. keep_alive: how long the model stays loaded after a question,
    as OLLAMA_KEEP_ALIVE has it. options: the model's own, such as top_p; they go before what is set here, but
    for a caller's max_tokens.
    """

    path = ""
    dialect: type[OllamaDialect]

    def __init__(
        self,
        *,
        host: str,
        model_name: str,
        timeout_s: float = 10.0,
        temperature: float = 0.0,
        context_tokens: int = 4000,
        window: int | None = None,
        keep_alive: str | float = KEEP_ALIVE,
        options: Mapping[str, Any] | None = None,
        retry: Retry = TWO_MORE,
    ) -> None:
        sent = Sent(model_name, temperature, context_tokens, window, keep_alive, dict(options or {}))
        wire = Wire(f"{base_url(host)}{self.path}")
        dialect = self.dialect(sent)
        super().__init__(wire, dialect, model_name=model_name, timeout_s=timeout_s, retry=retry)
        self._loading = Loading(host, dialect)

    async def warm_up(self, *, timeout_s: float) -> None:
        """Have the model loaded, with the window that questions will have. Raises SynthesisFailed."""
        await self._loading.load(timeout_s)

    async def aclose(self) -> None:
        await self._loading.aclose()
        await super().aclose()

    def _timed_out(self) -> None:
        self._loading.begin_if_gone()


class OllamaChat(_Ollama):
    path, dialect = "/api/chat", ChatDialect


class OllamaGenerate(_Ollama):
    """One user message is the prompt as it stands; the system messages are its `system`."""

    path, dialect = "/api/generate", GenerateDialect
