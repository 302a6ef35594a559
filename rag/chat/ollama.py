"""Ollama's chat API, in both of its forms (`/api/chat` and `/api/generate`)."""

import asyncio
import logging
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from knowlex.base.errors import SynthesisFailed
from knowlex.base.event_loops import PerLoop
from knowlex.base.retry import Retry
from knowlex.net.json_client import JsonWire, Reply, Unreachable
from knowlex.net.ollama import base_url, is_not_pulled, keep_alive, names_model, not_pulled
from rag.chat.client import HttpChat, Request
from rag.chat.protocol import Message
from rag.chat.reading import LineSplitter, ReplyFormat, ReplyMessage
from rag.chat.replies import (
    NO_ANSWER,
    TWO_MORE,
    RetryableFailure,
    content_text,
    error_failure,
    json_reply,
    status_failure,
    token_count,
)
from rag.chat.wire import UNREACHABLE, Wire, json_body
from rag.types.answer import Usage

DEFAULT_MAX_TOKENS = 1024
# Beside the passages: the instructions, the question, and room, for models count otherwise than the embedder.
PROMPT_TOKENS = 2000


class Sent(NamedTuple):
    """What goes with every request."""

    model_name: str
    temperature: float
    context_tokens: int
    window: int | None
    keep_alive: str | float
    options: Mapping[str, Any]


class OllamaDialect(ABC):
    """How Ollama words requests and replies. `num_ctx` is always sent: Ollama's default cuts the beginning of
    a long prompt off without a word.

    So is that no model is to think first: those that can do so unless told, and use up the time and the
    tokens of an answer before it begins.
    """

    def __init__(self, sent: Sent) -> None:
        self._silent: dict[str, bool] = {"think": False}
        self.tongue = ReplyFormat(LineSplitter, self._message, self._whole, streams_objects=True)
        self._sent = sent
        self.model_name = sent.model_name

    def body(self, request: Request) -> bytes:
        body: dict[str, Any] = {
            "model": self._sent.model_name,
            **self._asked(request.messages),
            "stream": request.streamed,
            "keep_alive": keep_alive(self._sent.keep_alive),
            "options": self._options(request.max_tokens),
            **self._silent,
        }
        if request.schema is not None:
            body["format"] = request.schema
        return json_body(body)

    def loading(self) -> dict[str, Any]:
        """Build a request to /api/generate that only loads the model."""
        stays = keep_alive(self._sent.keep_alive)
        return {"model": self._sent.model_name, "keep_alive": stays, "options": self._options(None)}

    def check_loaded(self, reply: Reply) -> None:
        """Raise SynthesisFailed if the model was not loaded; RetryableFailure if another try may help."""
        error = reply.body.get("error") if isinstance(reply.body, dict) else None
        if not reply.ok:
            raise self.failure(reply.status, reply.retry_after, str(error or ""))
        if error:
            raise self._failed(error)

    def learn(self, status: int, said: str) -> None:
        """Leave out `think` where a server refuses it; Ollama ignores what it does not know, others may
        not.
        """
        if status in (400, 422) and "think" in said:
            self._silent = {}

    def failure(self, status: int, retry_after: str, said: str) -> SynthesisFailed:
        if status == 404:
            return SynthesisFailed(not_pulled(self._sent.model_name))
        return status_failure(status, retry_after, said)

    @abstractmethod
    def _asked(self, messages: Sequence[Message]) -> dict[str, Any]:
        """Return the fields of a body that hold the messages."""

    @abstractmethod
    def _text(self, reply: dict[str, Any]) -> str | None:
        """Return the text of a message; None if it is no message."""

    def _options(self, max_tokens: int | None) -> dict[str, Any]:
        own = self._sent.options
        predicted = max_tokens or own.get("num_predict") or DEFAULT_MAX_TOKENS
        # Not less for a short reply: Ollama loads the model anew whenever the window changes.
        window = self._sent.context_tokens + PROMPT_TOKENS + max(predicted, DEFAULT_MAX_TOKENS)
        ours = {"temperature": self._sent.temperature, "num_ctx": self._sent.window or window}
        return {**ours, **own, "num_predict": predicted}

    def _message(self, line: bytes) -> ReplyMessage:
        """Read one line of a stream."""
        return self._told(json_reply(line)) if line.strip() else ReplyMessage()

    def _whole(self, reply: dict[str, Any]) -> ReplyMessage:
        return self._told(reply)._replace(last=True)

    def _told(self, reply: dict[str, Any]) -> ReplyMessage:
        if error := reply.get("error"):
            raise self._failed(error)
        text, done = self._text(reply), reply.get("done") is True
        if text is None and not done:
            raise RetryableFailure(NO_ANSWER)
        used = Usage(token_count(reply.get("prompt_eval_count")), token_count(reply.get("eval_count")))
        cut = reply.get("done_reason") == "length"
        return ReplyMessage(text or "", used if done else None, ended=done, last=done, cut=cut)

    def _failed(self, error: object) -> SynthesisFailed:
        """Make an error of a message that reports one, with status 200 or in the middle of a stream."""
        if is_not_pulled(error):
            return SynthesisFailed(not_pulled(self._sent.model_name))
        return error_failure(error)


class ChatDialect(OllamaDialect):
    def _asked(self, messages: Sequence[Message]) -> dict[str, Any]:
        return {"messages": [message.as_dict() for message in messages]}

    def _text(self, reply: dict[str, Any]) -> str | None:
        message = reply.get("message")
        return _said(message, "content") if isinstance(message, dict) else None


class GenerateDialect(OllamaDialect):
    def _asked(self, messages: Sequence[Message]) -> dict[str, Any]:
        told = "\n\n".join(message.content for message in messages if message.role == "system")
        turns = [message for message in messages if message.role != "system"]
        prompt = turns[0].content if len(turns) == 1 else "\n\n".join(map(_turn, turns))
        return {"prompt": prompt, **({"system": told} if told else {})}

    def _text(self, reply: dict[str, Any]) -> str | None:
        return _said(reply, "response")


def _said(message: dict[str, Any], name: str) -> str | None:
    """Return a text field. Some servers leave it out while a model thinks and has said nothing yet."""
    return content_text(message.get(name)) if name in message or "thinking" not in message else ""


def _turn(message: Message) -> str:
    """Write one of several messages, where no chat template tells them apart."""
    return f"{message.role.capitalize()}: {message.content}"


LOADING_S = 300.0
SETTLING_S = 0.5  # until Ollama has noticed that nobody waits any more
LIST_S = 2.0
log = logging.getLogger(__name__)


class Loading:
    def __init__(self, host: str, dialect: OllamaDialect) -> None:
        self._wire, self._dialect = JsonWire(base_url(host)), dialect
        self._running: PerLoop[set[asyncio.Task[None]]] = PerLoop(set)

    async def load(self, timeout_s: float) -> None:
        """Have the model loaded. Raises SynthesisFailed."""
        try:
            reply = await self._wire.send(
                "POST", "/api/generate", self._dialect.loading(), timeout_s=timeout_s
            )
        except (Unreachable, TimeoutError) as exc:
            raise RetryableFailure(UNREACHABLE) from exc
        self._dialect.check_loaded(reply)

    def begin_if_gone(self) -> None:
        """Load the model in the background if it is not in memory, unless that is under way."""
        running = self._running.get()
        if not running:
            task = asyncio.create_task(self._load_if_gone())
            running.add(task)
            task.add_done_callback(running.discard)

    async def aclose(self) -> None:
        """Close what this event loop opened."""
        for task in self._running.take() or ():
            task.cancel()
        await self._wire.aclose()

    async def _load_if_gone(self) -> None:
        await asyncio.sleep(SETTLING_S)
        try:
            reply = await self._wire.send("GET", "/api/ps", timeout_s=LIST_S)
            if reply.ok and names_model(reply.body, self._dialect.model_name) is False:
                await self.load(LOADING_S)
        except (Unreachable, TimeoutError, SynthesisFailed) as exc:
            log.warning("Ollama's model was not loaded", extra={"reason": str(exc)})


KEEP_ALIVE = "30m"


class _Ollama(HttpChat):
    """Asks a model of Ollama. context_tokens: of passages in a prompt. window: the model's own; None for what
    prompt and reply take.

    timeout_s: of the whole, retries included. keep_alive: how long the model stays loaded after a question,
    as OLLAMA_KEEP_ALIVE has it. options: the model's own, such as top_p; they go before what is set here, but
    for a caller's max_tokens.
    """

    path = ""
    dialect: type[OllamaDialect]

    def __init__(
        self,
        *,
        host: str,
        model_name: str,
        timeout_s: float = 10.0,
        temperature: float = 0.0,
        context_tokens: int = 4000,
        window: int | None = None,
        keep_alive: str | float = KEEP_ALIVE,
        options: Mapping[str, Any] | None = None,
        retry: Retry = TWO_MORE,
    ) -> None:
        sent = Sent(model_name, temperature, context_tokens, window, keep_alive, dict(options or {}))
        wire = Wire(f"{base_url(host)}{self.path}")
        dialect = self.dialect(sent)
        super().__init__(wire, dialect, model_name=model_name, timeout_s=timeout_s, retry=retry)
        self._loading = Loading(host, dialect)

    async def warm_up(self, *, timeout_s: float) -> None:
        """Have the model loaded, with the window that questions will have. Raises SynthesisFailed."""
        await self._loading.load(timeout_s)

    async def aclose(self) -> None:
        await self._loading.aclose()
        await super().aclose()

    def _timed_out(self) -> None:
        self._loading.begin_if_gone()


class OllamaChat(_Ollama):
    path, dialect = "/api/chat", ChatDialect


class OllamaGenerate(_Ollama):
    """Asks by /api/generate. One user message is the prompt as it stands; the system messages are its
    `system`.
    """

    path, dialect = "/api/generate", GenerateDialect
