"""Answers from a chat model."""

import math
from collections.abc import AsyncGenerator
from contextlib import aclosing

from rag.chat.protocol import ChatModel, Message, system, user
from rag.prompts import PROMPT_VERSION, REPLY_TOKENS, SYSTEM, user_message
from rag.types import Context, Question, Room, Synthesis, Usage

MAX_TOKENS = 1024  # of a reply, where nobody asks for another number


class ChatSynthesizer:
    prompt_version = PROMPT_VERSION

    def __init__(self, model: ChatModel) -> None:
        self._model = model

    def room(self, question: Question) -> Room:
        return Room(f"{SYSTEM}\n{question.text}", min(REPLY_TOKENS, question.max_tokens or REPLY_TOKENS))

    async def synthesize(self, question: Question, context: Context) -> Synthesis:
        messages = _messages(question, context)
        return await self._model.complete(
            messages, max_tokens=question.max_tokens or MAX_TOKENS, timeout_s=question.within(math.inf)
        )

    async def stream(self, question: Question, context: Context) -> AsyncGenerator[str | Usage]:
        messages = _messages(question, context)
        reply = self._model.stream(
            messages, max_tokens=question.max_tokens or MAX_TOKENS, timeout_s=question.within(math.inf)
        )
        async with aclosing(reply) as pieces:
            async for piece in pieces:
                yield piece

    async def aclose(self) -> None:
        """Close this event loop's connections; the next question opens new ones."""
        await self._model.aclose()


def _messages(question: Question, context: Context) -> tuple[Message, ...]:
    return system(SYSTEM), user(user_message(question, context))
