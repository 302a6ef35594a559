"""Answers from Ollama by the document's prompt, whose sources are named and not numbered."""

import math
from collections.abc import AsyncGenerator

from rag.chat.protocol import ChatModel, user
from rag.service.markers import Markers
from rag.service.prompts import INSTRUCTIONS, VERSION, prompt_of
from rag.types import Context, Question, Room, Synthesis, Usage

MAX_TOKENS = 500


class NamingSynthesizer:
    """Of one question. said: the model's reply as it came, "" before."""

    def __init__(self, model: ChatModel) -> None:
        self._model = model
        self.said = ""

    @property
    def prompt_version(self) -> str:
        return VERSION

    def room(self, question: Question) -> Room:
        return Room(f"{INSTRUCTIONS}\n{question.text}", MAX_TOKENS)

    async def synthesize(self, question: Question, context: Context) -> Synthesis:
        reply = await self._model.complete(
            (user(prompt_of(question, context)),),
            max_tokens=MAX_TOKENS,
            timeout_s=question.within(math.inf),
        )
        self.said = reply.text
        return Synthesis(Markers(context).numbered(reply.text), reply.usage)

    async def stream(self, question: Question, context: Context) -> AsyncGenerator[str | Usage]:
        """At once: which blocks a marker names is told by the whole of it."""
        synthesis = await self.synthesize(question, context)
        yield synthesis.text
        yield synthesis.usage
