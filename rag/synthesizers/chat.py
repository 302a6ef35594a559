"""Answers from a chat model."""

from collections.abc import AsyncGenerator

from rag.chat.protocol import ChatModel, system, user
from rag.prompts import PROMPT_VERSION, REPLY_TOKENS, SYSTEM, user_message
from rag.types import Context, Question, Room, Synthesis, Usage


class ChatSynthesizer:
    prompt_version = PROMPT_VERSION

    def __init__(self, model: ChatModel) -> None:
        self._model = model

    def room(self, question: Question) -> Room:
        return Room(f"{SYSTEM}\n{question.text}", min(REPLY_TOKENS, question.max_tokens or REPLY_TOKENS))

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
