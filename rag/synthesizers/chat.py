"""Answers from a chat model."""

import logging
import math
import time
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from typing import Any, Literal

from knowlex.base.errors import SynthesisFailed
from rag.chat.protocol import ChatModel, Message, assistant, system, user
from rag.chat.replies import EMPTY, SchemaRefused
from rag.prompts import CITE_AGAIN, NOT_FOUND, PROMPT_VERSION, REPLY_TOKENS, SYSTEM, user_message
from rag.synthesizers import claims
from rag.synthesizers.claims import ClaimReader, NotClaims, Pieces
from rag.types.answer import Sources, Synthesis, Usage
from rag.types.context import Context, Room
from rag.types.question import Question

log = logging.getLogger(__name__)
MAX_TOKENS = 1024  # of a reply, where nobody asks for another number
REPLY_CHARS = 4000  # of a reply that is shown to its model again; some 1000 tokens
REFUSAL_KEPT_S = 600.0  # how long a server that knows no schema is not asked by one

Structured = Literal["auto", "on", "off"]


class ChatSynthesizer:
    """Has a chat model write the answer. structured: whether claims are asked for by a JSON schema. A server
    that refuses or ignores it is asked plainly for the same question, and with `auto` for those of the next
    ten minutes, too.

    A model that says nothing at all, after its tries, has found nothing.
    """

    def __init__(self, model: ChatModel, *, structured: Structured = "off") -> None:
        self._model, self._mode = model, structured
        self._plain_until = -math.inf  # by time.monotonic()

    @property
    def model_name(self) -> str:
        return self._model.model_name

    @property
    def prompt_version(self) -> str:
        return claims.VERSION if self._structured else PROMPT_VERSION

    def room(self, question: Question) -> Room:
        system_text = claims.SYSTEM if self._structured else SYSTEM
        return Room(
            f"{system_text}\n{question.asked}", min(REPLY_TOKENS, question.max_tokens or REPLY_TOKENS)
        )

    async def synthesize(self, question: Question, context: Context) -> Synthesis:
        """Return the whole reply; where no claim of a structured one was complete, the model is asked
        plainly.
        """
        if self._structured:
            reader, pieces, usage = ClaimReader(), Pieces(), Usage(model=self.model_name)
            try:
                async with aclosing(self._claims(question, context, reader)) as read:
                    async for piece in read:
                        if isinstance(piece, Usage):
                            usage = piece
                        else:
                            pieces.append(piece)
            except (SchemaRefused, NotClaims) as exc:
                self._note_refusal(exc)
            else:
                if reader.count or not reader.cut:
                    return _synthesis(pieces, usage)
        return await self._complete(_messages(question, context, SYSTEM), question)

    async def stream(self, question: Question, context: Context) -> AsyncGenerator[str | Sources | Usage]:
        if self._structured:
            shown = False
            try:
                async with aclosing(self._claims(question, context, ClaimReader())) as pieces:
                    async for piece in pieces:
                        if shown or not isinstance(piece, Usage):
                            shown = True
                            yield piece
            except (SchemaRefused, NotClaims) as exc:
                self._note_refusal(exc)
            if shown:
                return
        async with aclosing(self._plain(question, context)) as pieces:
            async for piece in pieces:
                yield piece

    async def cite_again(self, question: Question, context: Context, reply: str) -> Synthesis:
        said = assistant(reply[:REPLY_CHARS])
        messages = (*_messages(question, context, SYSTEM), said, user(CITE_AGAIN))
        return await self._complete(messages, question)

    async def aclose(self) -> None:
        """Close this event loop's connections; the next question opens new ones."""
        await self._model.aclose()

    @property
    def _structured(self) -> bool:
        return self._mode != "off" and time.monotonic() >= self._plain_until

    def _note_refusal(self, why: SchemaRefused | NotClaims) -> None:
        if self._mode == "auto":
            self._plain_until = time.monotonic() + REFUSAL_KEPT_S
        log.warning("the chat model gives no structured claims", extra={"error": type(why).__name__})

    async def _complete(self, messages: Sequence[Message], question: Question) -> Synthesis:
        try:
            return await self._model.complete(messages, **_limits(question))
        except SynthesisFailed as exc:
            return Synthesis(NOT_FOUND, self._nothing_said(exc))

    async def _plain(self, question: Question, context: Context) -> AsyncGenerator[str | Usage]:
        try:
            asked = self._model.stream(_messages(question, context, SYSTEM), **_limits(question))
            async with aclosing(asked) as pieces:
                async for piece in pieces:
                    yield piece
        except SynthesisFailed as exc:
            usage = self._nothing_said(exc)
            yield NOT_FOUND
            yield usage

    async def _claims(
        self, question: Question, context: Context, reader: ClaimReader
    ) -> AsyncGenerator[str | Sources | Usage]:
        """Stream the claims even of a whole reply: a model that comes to no end can be left.

        Raises SchemaRefused and NotClaims before any text.
        """
        messages = _messages(question, context, claims.SYSTEM)
        asked = self._model.stream(messages, **_limits(question), schema=claims.SCHEMA)
        try:
            async with aclosing(asked) as pieces:
                async for piece in pieces:
                    for claim in reader.finish() if isinstance(piece, Usage) else reader.feed(piece):
                        yield claim
                    if isinstance(piece, Usage) or reader.full:
                        # of a reply that was left nobody has counted the tokens
                        yield piece if isinstance(piece, Usage) else Usage(model=self.model_name)
                        return
        except SynthesisFailed as exc:
            usage = self._nothing_said(exc)
            yield NOT_FOUND
            yield usage

    def _nothing_said(self, failure: SynthesisFailed) -> Usage:
        """Return the usage of an empty reply; raise any other failure again."""
        if failure.message != EMPTY:
            raise failure
        return Usage(model=self.model_name)


def _synthesis(pieces: Pieces, usage: Usage) -> Synthesis:
    if any(isinstance(piece, Sources) for piece in pieces):
        return Synthesis("", usage, tuple(pieces))
    return Synthesis("".join(piece for piece in pieces if isinstance(piece, str)), usage)


def _messages(question: Question, context: Context, instructions: str) -> tuple[Message, ...]:
    return system(instructions), user(user_message(question, context))


def _limits(question: Question) -> Mapping[str, Any]:
    return {"max_tokens": question.max_tokens or MAX_TOKENS, "timeout_s": question.within(math.inf)}
