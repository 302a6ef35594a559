"""A reply's text out of its bytes as they come, streamed or whole, whatever was asked for. Plain Python."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

from knowlex.common.errors import SynthesisFailed
from rag.chat.lines import Event, Events, Lines
from rag.chat.replies import Again, json_reply
from rag.types import Usage


class Told(NamedTuple):
    """What one message of a reply says. ended: the text is whole. last: nothing follows."""

    text: str = ""
    usage: Usage | None = None
    ended: bool = False
    last: bool = False


class Parts(Protocol):
    """Bytes -> messages."""

    def feed(self, block: bytes) -> Sequence[Event | bytes]: ...
    def finish(self) -> Sequence[Event | bytes]: ...


class Tongue(NamedTuple):
    """How a server speaks. parts: makes what splits a stream into messages; message: reads one of them.

    whole: reads a reply in one JSON object. streams_objects: a stream begins as such a reply does.
    """

    parts: type[Events] | type[Lines]
    message: Callable[[Any], Told]
    whole: Callable[[dict[str, Any]], Told]
    streams_objects: bool


class Reading:
    """Of one reply: `feed` its bytes, then `finish`; both give text, raise Again or SynthesisFailed.

    streamed: what was asked for. ended, last: as in Told; usage: None as long as it was not told. failure: of
    the reply, after the text that was given last, so that it matters not what comes in one block.
    """

    def __init__(self, tongue: Tongue, *, streamed: bool) -> None:
        self.ended = self.last = False
        self.usage: Usage | None = None
        self.failure: SynthesisFailed | None = None
        self._tongue, self._streamed = tongue, streamed
        self._parts: Parts = tongue.parts()
        self._begun = False
        self._body: bytearray | None = None if streamed else bytearray()

    def feed(self, block: bytes) -> str:
        if not self._begun:
            block = block.lstrip()
            self._begun = bool(block)
            if block[:1] == b"{" and not self._tongue.streams_objects:
                self._body = bytearray()
        if self._body is None:
            return self._read(self._parts.feed(block))
        self._body += block
        return ""

    def finish(self) -> str:
        """Raises Again if the reply was cut off."""
        if self._body is not None:
            return self._read_body(bytes(self._body))
        text = self._read(self._parts.finish())
        if not self.ended:
            raise Again("The chat model's reply was cut off.")
        return text

    def _read_body(self, body: bytes) -> str:
        try:
            return self._note(self._tongue.whole(json_reply(body)))
        except Again:
            if not self._is_stream(body):
                raise
        self._body = None
        return self._read(self._parts.feed(body)) + self.finish()

    def _is_stream(self, body: bytes) -> bool:
        begin = body.lstrip()[:6]
        return begin.startswith((b"data:", b"event:", b":")) or (
            self._tongue.streams_objects and body.strip().count(b"\n") > 0
        )

    def _read(self, messages: Sequence[Event | bytes]) -> str:
        text = ""
        try:
            for message in messages:
                text += "" if self.last else self._note(self._tongue.message(message))
        except SynthesisFailed as exc:
            if not text:
                raise
            self.failure = exc
        return text

    def _note(self, told: Told) -> str:
        self.usage = told.usage or self.usage
        self.ended = self.ended or told.ended or told.last
        self.last = self.last or told.last
        return told.text
