"""Ollama's model, loaded to the end where a question could not wait for it.

Ollama stops loading when nobody waits any more, so that each question with a short limit would begin it anew.
"""

import asyncio
import logging
from typing import Any

from knowlex.common.errors import KnowlexError
from knowlex.common.json_wire import JsonWire, Unreachable
from knowlex.common.ollama import full_name
from rag.chat.ollama import OllamaGenerate

LOADING_S, ASKING_S = 300.0, 1.0
log = logging.getLogger(__name__)


class Loading:
    """`begin` it as often as need be; one is under way at most. ollama: to ask what is loaded."""

    def __init__(self, ollama: JsonWire, chat: OllamaGenerate, model: str) -> None:
        self._ollama, self._chat, self._model = ollama, chat, model
        self._task: asyncio.Task[None] | None = None

    def begin(self) -> None:
        if self._task is None or self._task.done():
            self._task = asyncio.ensure_future(self._load())

    async def aclose(self) -> None:
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            await asyncio.wait({task})

    async def _load(self) -> None:
        try:
            if not await self._is_loaded():
                await self._chat.warm_up(timeout_s=LOADING_S)
        except (KnowlexError, Unreachable, TimeoutError) as exc:
            log.warning("Ollama's model was not loaded (%s)", type(exc).__name__)

    async def _is_loaded(self) -> bool:
        """True as well where it does not tell."""
        reply = await self._ollama.send("GET", "/api/ps", timeout_s=ASKING_S)
        models: Any = reply.body.get("models") if reply.ok and isinstance(reply.body, dict) else None
        if not isinstance(models, list):
            return True
        names = {full_name(str(one.get("name"))) for one in models if isinstance(one, dict)}
        return full_name(self._model) in names
