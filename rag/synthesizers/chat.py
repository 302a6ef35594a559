"""Answers from a chat model."""

import logging
import math
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

from knowlex.common.errors import SynthesisFailed
from rag.chat.protocol import ChatModel, system, user
from rag.chat.replies import SchemaRefused
from rag.prompts import PROMPT_VERSION, REPLY_TOKENS, SYSTEM, user_message
from rag.synthesizers import claims
from rag.synthesizers.claims import ClaimReader, NotClaims
from rag.types import Context, Question, Room, Synthesis, Usage

log = logging.getLogger(__name__)
MAX_TOKENS = 1024  # of a reply, where nobody asks for another number


class ChatSynthesizer:
    """structured: asks for claims by a JSON schema, as long as the server knows how to."""

    def __init__(self, model: ChatModel, *, structured: bool = False) -> None:
        self._model, self._structured = model, structured

    @property
    def model_name(self) -> str:
        return self._model.model_name

    @property
    def prompt_version(self) -> str:
        return claims.VERSION if self._structured else PROMPT_VERSION

    def room(self, question: Question) -> Room:
        system_text = claims.SYSTEM if self._structured else SYSTEM
        return Room(f"{system_text}\n{question.text}", min(REPLY_TOKENS, question.max_tokens or REPLY_TOKENS))

    async def synthesize(self, question: Question, context: Context) -> Synthesis:
        if self._structured:
            return await self._joined(question, context)
        return await self._model.complete(**_asking(question, context))

    async def stream(self, question: Question, context: Context) -> AsyncGenerator[str | Usage]:
        if self._structured:
            shown = False
            try:
                async with aclosing(self._claims(question, context)) as pieces:
                    async for piece in pieces:
                        shown = True
                        yield piece
                return
            except (SchemaRefused, NotClaims) as exc:
                if shown and isinstance(exc, NotClaims) and exc.cut:
                    yield Usage(model=self.model_name)  # left while it went on and on, so nobody has counted
                    return
                if shown:
                    raise SynthesisFailed("The chat model's reply is garbled.") from exc
                self._ask_plainly(exc)
        async with aclosing(self._model.stream(**_asking(question, context))) as pieces:
            async for piece in pieces:
                yield piece

    async def _joined(self, question: Question, context: Context) -> Synthesis:
        """Of a stream, which can be left when a model does not come to an end."""
        text, usage = "", Usage(model=self.model_name)
        async with aclosing(self.stream(question, context)) as pieces:
            async for piece in pieces:
                if isinstance(piece, Usage):
                    usage = piece
                else:
                    text += piece
        return Synthesis(text, usage)

    async def _claims(self, question: Question, context: Context) -> AsyncGenerator[str | Usage]:
        """Claim by claim. Raises NotClaims."""
        reader = ClaimReader()
        async with aclosing(self._model.stream(**_asking(question, context, structured=True))) as pieces:
            async for piece in pieces:
                text = reader.finish() if isinstance(piece, Usage) else reader.feed(piece)
                if text:
                    yield text
                if isinstance(piece, Usage) or reader.full:
                    yield piece if isinstance(piece, Usage) else Usage(model=self.model_name)
                    return

    def _ask_plainly(self, why: SchemaRefused | NotClaims) -> None:
        """This question, and all to come unless the reply was only too long."""
        self._structured = isinstance(why, NotClaims) and why.cut
        log.warning("the chat model gives no structured claims", extra={"error": type(why).__name__})

    async def aclose(self) -> None:
        """Close this event loop's connections; the next question opens new ones."""
        await self._model.aclose()


def _asking(question: Question, context: Context, *, structured: bool = False) -> dict[str, Any]:
    return {
        "messages": (system(claims.SYSTEM if structured else SYSTEM), user(user_message(question, context))),
        "max_tokens": question.max_tokens or MAX_TOKENS,
        "timeout_s": question.within(math.inf),
        "schema": claims.SCHEMA if structured else None,
    }
