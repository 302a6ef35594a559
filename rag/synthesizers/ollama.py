"""Answers from Ollama."""

from typing import Any

from rag.chat.ollama import OllamaChat
from rag.synthesizers.chat import ChatSynthesizer, Structured


class OllamaSynthesizer(ChatSynthesizer):
    """structured: as ChatSynthesizer's. The other options are OllamaChat's."""

    def __init__(self, *, structured: Structured = "off", **options: Any) -> None:
        self._chat = OllamaChat(**options)
        super().__init__(self._chat, structured=structured)

    async def warm_up(self, *, timeout_s: float) -> None:
        await self._chat.warm_up(timeout_s=timeout_s)
