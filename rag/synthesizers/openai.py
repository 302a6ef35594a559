"""Answers from OpenAI's chat API, or from any server that speaks it."""

from typing import Any

from rag.chat.openai import OpenAIChat
from rag.synthesizers.chat import ChatSynthesizer, Structured


class OpenAISynthesizer(ChatSynthesizer):
    """structured: as ChatSynthesizer's. The other options are OpenAIChat's."""

    def __init__(self, *, structured: Structured = "off", **options: Any) -> None:
        super().__init__(OpenAIChat(**options), structured=structured)
