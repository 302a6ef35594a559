"""Answers from Ollama by the document's prompt, whose sources are named and not numbered."""

import math
from collections.abc import AsyncGenerator

from knowlex.base.errors import SynthesisFailed
from rag.chat.protocol import ChatModel, user
from rag.chat.replies import EMPTY
from rag.service.markers import Markers
from rag.service.prompts import INSTRUCTIONS, VERSION, prompt_of
from rag.types.answer import Synthesis, Usage
from rag.types.context import Context, Room
from rag.types.question import Question

MAX_TOKENS = 500


class NamingSynthesizer:
    """Of one question. said: the model's reply as it came, "" before."""

    def __init__(self, model: ChatModel) -> None:
        self._model = model
        self.said = ""

    @property
    def model_name(self) -> str:
        return self._model.model_name

    @property
    def prompt_version(self) -> str:
        return VERSION

    def room(self, question: Question) -> Room:
        return Room(f"{INSTRUCTIONS}\n{question.text}", MAX_TOKENS)

    async def synthesize(self, question: Question, context: Context) -> Synthesis:
        reply = await self._reply(prompt_of(question, context), question.within(math.inf))
        self.said = reply.text
        return Synthesis(Markers(context).numbered(reply.text), reply.usage)

    async def _reply(self, prompt: str, timeout_s: float) -> Synthesis:
        """An empty one, also after all tries, is none that cites anything: no failure, says the document."""
        try:
            return await self._model.complete((user(prompt),), max_tokens=MAX_TOKENS, timeout_s=timeout_s)
        except SynthesisFailed as exc:
            if exc.message != EMPTY:
                raise
            return Synthesis("", Usage(model=self.model_name))

    async def stream(self, question: Question, context: Context) -> AsyncGenerator[str | Usage]:
        """At once: which blocks a marker names is told by the whole of it."""
        synthesis = await self.synthesize(question, context)
        yield synthesis.text
        yield synthesis.usage
