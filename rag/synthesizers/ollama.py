"""Answers from Ollama."""

from typing import Any

from rag.chat.ollama import OllamaChat
from rag.synthesizers.chat import ChatSynthesizer


class OllamaSynthesizer(ChatSynthesizer):
    """The options are OllamaChat's."""

    def __init__(self, **options: Any) -> None:
        super().__init__(OllamaChat(**options))
