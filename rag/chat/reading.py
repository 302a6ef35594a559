"""A reply's text out of its bytes as they come, streamed or whole, whatever was asked for. Plain Python."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

from knowlex.base.errors import SynthesisFailed
from rag.chat.replies import RetryableFailure, json_reply
from rag.types.answer import Usage

MAX_LINE_BYTES = 1024 * 1024
_BOM = b"\xef\xbb\xbf"


class ServerEvent(NamedTuple):
    """A server-sent event. name: "" for an ordinary one. data: its `data` fields, a line each."""

    name: str
    data: bytes


class LineSplitter:
    """Splits bytes into lines, be their end LF, CR LF or CR. Raises RetryableFailure on one that is too
    long.
    """

    def __init__(self) -> None:
        self._rest = bytearray()
        self._begun = self._after_cr = False

    def feed(self, block: bytes) -> list[bytes]:
        if self._after_cr and block.startswith(b"\n"):
            block = block[1:]
        self._after_cr = block.endswith(b"\r") if block else self._after_cr
        if b"\r" in block:
            block = block.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        self._rest += block
        if b"\n" not in block:
            self._check()
            return []
        *lines, rest = bytes(self._rest).split(b"\n")
        self._rest = bytearray(rest)
        self._check()
        return self._without_bom(lines)

    def finish(self) -> list[bytes]:
        """Return the last line, if nothing ended it."""
        rest, self._rest = bytes(self._rest), bytearray()
        return self._without_bom([rest] if rest else [])

    def _check(self) -> None:
        if len(self._rest) > MAX_LINE_BYTES:
            raise RetryableFailure("The chat model's reply has a line that is too long.")

    def _without_bom(self, lines: list[bytes]) -> list[bytes]:
        if lines and not self._begun:
            self._begun = True
            lines[0] = lines[0].removeprefix(_BOM)
        return lines


class EventSplitter:
    """Splits bytes into server-sent events; comments and fields of no use are skipped."""

    def __init__(self) -> None:
        self._lines = LineSplitter()
        self._name, self._data, self._size = "", list[bytes](), 0

    def feed(self, block: bytes) -> list[ServerEvent]:
        return [event for line in self._lines.feed(block) if (event := self._take(line))]

    def finish(self) -> list[ServerEvent]:
        """Return an event that no empty line ended: some servers leave the last one out."""
        found = [self._take(line) for line in (*self._lines.finish(), b"")]
        return [event for event in found if event]

    def _take(self, line: bytes) -> ServerEvent | None:
        if not line:
            return self._ended()
        name, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if name == b"data":
            self._size += len(value)
            if self._size > MAX_LINE_BYTES:
                raise RetryableFailure("The chat model's reply has an event that is too large.")
            self._data.append(value)
        elif name == b"event":
            self._name = value.decode("utf-8", "replace")
        return None

    def _ended(self) -> ServerEvent | None:
        event = ServerEvent(self._name, b"\n".join(self._data)) if self._data else None
        self._name, self._data, self._size = "", [], 0
        return event


class ReplyMessage(NamedTuple):
    """What one message of a reply says. ended: the text is whole, or cut at the model's limit. last: nothing
    follows.
    """

    text: str = ""
    usage: Usage | None = None
    ended: bool = False
    last: bool = False
    cut: bool = False


class MessageSplitter(Protocol):
    """Splits bytes into messages."""

    def feed(self, block: bytes) -> Sequence[ServerEvent | bytes]: ...
    def finish(self) -> Sequence[ServerEvent | bytes]: ...


class ReplyFormat(NamedTuple):
    """How a server writes replies. parts: splits a stream into messages; message: reads one of them.

    whole: reads a reply in one JSON object. streams_objects: a stream begins as such a reply does.
    """

    parts: type[EventSplitter] | type[LineSplitter]
    message: Callable[[Any], ReplyMessage]
    whole: Callable[[dict[str, Any]], ReplyMessage]
    streams_objects: bool


class ReplyReader:
    """Reads one reply: `feed` its bytes, then `finish`. Both return text and raise RetryableFailure or
    SynthesisFailed.

    streamed: what was asked for. ended, last, cut: as in ReplyMessage; usage: None as long as it was not
    told. failure: of the reply, after the text that was given last, so that it matters not what comes in one
    block. begun: something came. text_bytes: of the text so far, in UTF-8.
    """

    def __init__(self, tongue: ReplyFormat, *, streamed: bool) -> None:
        self.ended = self.last = self.cut = False
        self.usage: Usage | None = None
        self.failure: SynthesisFailed | None = None
        self._tongue, self._streamed = tongue, streamed
        self._parts: MessageSplitter = tongue.parts()
        self.begun, self.text_bytes = False, 0
        self._body: bytearray | None = None if streamed else bytearray()

    def feed(self, block: bytes) -> str:
        if not self.begun:
            block = block.lstrip()
            self.begun = bool(block)
            if block[:1] == b"{" and not self._tongue.streams_objects:
                self._body = bytearray()
        if self._body is None:
            return self._read(self._parts.feed(block))
        self._body += block
        return ""

    def finish(self) -> str:
        """Return the rest. Raises RetryableFailure if the reply was cut off."""
        if self._body is not None:
            return self._read_body(bytes(self._body))
        text = self._read(self._parts.finish())
        if not self.ended:
            raise RetryableFailure("The chat model's reply was cut off.")
        return text

    def _read_body(self, body: bytes) -> str:
        try:
            return self._note(self._tongue.whole(json_reply(body)))
        except RetryableFailure:
            if not self._is_stream(body):
                raise
        self._body = None
        return self._read(self._parts.feed(body)) + self.finish()

    def _is_stream(self, body: bytes) -> bool:
        begin = body.lstrip()[:6]
        return begin.startswith((b"data:", b"event:", b":")) or (
            self._tongue.streams_objects and body.strip().count(b"\n") > 0
        )

    def _read(self, messages: Sequence[ServerEvent | bytes]) -> str:
        text = ""
        try:
            for message in messages:
                text += "" if self.last else self._note(self._tongue.message(message))
        except SynthesisFailed as exc:
            if not text:
                raise
            self.failure = exc
        return text

    def _note(self, told: ReplyMessage) -> str:
        self.usage = told.usage or self.usage
        self.ended = self.ended or told.ended or told.last
        self.last = self.last or told.last
        self.cut = self.cut or told.cut
        self.text_bytes += len(told.text.encode("utf-8", "surrogatepass"))
        return told.text
