"""Answers from Ollama."""

from typing import Any

from rag.chat.ollama import OllamaChat
from rag.synthesizers.chat import ChatSynthesizer


class OllamaSynthesizer(ChatSynthesizer):
    """structured: as ChatSynthesizer's. The other options are OllamaChat's."""

    def __init__(self, *, structured: bool = False, **options: Any) -> None:
        super().__init__(OllamaChat(**options), structured=structured)
