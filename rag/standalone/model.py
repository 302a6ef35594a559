"""A chat model that is asked to make a follow-up question stand alone. Plain Python."""

import logging
import time
from collections.abc import Sequence
from typing import Protocol

from knowlex.common.errors import SynthesisFailed
from rag.chat.protocol import Message
from rag.standalone import prompts
from rag.standalone.types import Turn
from rag.types import Synthesis

log = logging.getLogger(__name__)


class Completes(Protocol):
    """Of role CHAT_MODEL, as much as is needed here."""

    async def complete(
        self, messages: Sequence[Message], *, max_tokens: int | None = None, timeout_s: float | None = None
    ) -> Synthesis:
        """See `rag.chat.protocol.ChatModel`."""
        ...


async def by_model(model: Completes, question: str, turns: Sequence[Turn], *, timeout_s: float) -> str:
    """What the model made of the question; "" if it fails, or says nothing of use in time.

    turns: those that it is shown, newest first.
    """
    started = time.perf_counter()
    try:
        reply = await model.complete(
            prompts.messages(question, turns), max_tokens=prompts.MAX_TOKENS, timeout_s=timeout_s
        )
    except SynthesisFailed as exc:
        log.warning("follow-up not rewritten by the model", extra={"error": type(exc).__name__})
        return ""
    text = prompts.rewritten(reply.text, question, turns)
    took = round((time.perf_counter() - started) * 1000)
    log.debug("follow-up rewritten by the model", extra={"taken": bool(text), "ms": took})
    return text
