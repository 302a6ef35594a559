"""Answers from a chat model."""

from collections.abc import AsyncGenerator

from rag.chat.protocol import ChatModel, system, user
from rag.prompts import SYSTEM, user_message
from rag.types import Context, Question, Synthesis, Usage


class ChatSynthesizer:
    def __init__(self, model: ChatModel) -> None:
        self._model = model

    async def synthesize(self, question: Question, context: Context) -> Synthesis:
        messages = (system(SYSTEM), user(user_message(question, context)))
        return await self._model.complete(messages, max_tokens=question.max_tokens)

    async def stream(self, question: Question, context: Context) -> AsyncGenerator[str | Usage]:
        synthesis = await self.synthesize(question, context)
        yield synthesis.text
        yield synthesis.usage

    async def aclose(self) -> None:
        """Close this event loop's connections; the next question opens new ones."""
        await self._model.aclose()
