"""Ollama's own API: POST /api/chat, POST /api/generate. Works without Django."""

from collections.abc import Mapping
from typing import Any

from knowlex.common.ollama import base_url
from knowlex.common.retry import Retry
from rag.chat.client import HttpChat
from rag.chat.ollama_dialect import ChatDialect, GenerateDialect, OllamaDialect, Sent
from rag.chat.ollama_loading import Loading
from rag.chat.replies import TWO_MORE
from rag.chat.wire import Wire

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
