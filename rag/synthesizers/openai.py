"""Answers from OpenAI's chat API, or from any server that speaks it."""

from typing import Any

from rag.chat.openai import OpenAIChat
from rag.synthesizers.chat import ChatSynthesizer


class OpenAISynthesizer(ChatSynthesizer):
    """The options are OpenAIChat's."""

    def __init__(self, **options: Any) -> None:
        super().__init__(OpenAIChat(**options))
