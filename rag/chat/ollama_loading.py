"""Loading a model of Ollama's outside of any question.

A question that is given up ends the load that it waited for, and so would the next one: where a load takes
longer than a question may, none of them would ever be answered.
"""

import asyncio
import logging

from knowlex.common.errors import SynthesisFailed
from knowlex.common.json_wire import JsonWire, Unreachable
from knowlex.common.ollama import base_url, names_model
from knowlex.common.per_loop import PerLoop
from rag.chat.ollama_dialect import OllamaDialect
from rag.chat.replies import Again
from rag.chat.wire import UNREACHABLE

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
