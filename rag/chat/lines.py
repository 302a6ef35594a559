"""Lines and server-sent events out of bytes that come in blocks of any size. Plain Python."""

from typing import NamedTuple

from rag.chat.replies import Again

MAX_LINE_BYTES = 1024 * 1024
_BOM = b"\xef\xbb\xbf"


class Event(NamedTuple):
    """name: "" for an ordinary one. data: its `data` fields, a line each."""

    name: str
    data: bytes


class Lines:
    """Bytes -> lines without their end, be it LF, CR LF or CR. Raises Again on one that is too long."""

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
        """The last line, if nothing ended it."""
        rest, self._rest = bytes(self._rest), bytearray()
        return self._without_bom([rest] if rest else [])

    def _check(self) -> None:
        if len(self._rest) > MAX_LINE_BYTES:
            raise Again("The chat model's reply has a line that is too long.")

    def _without_bom(self, lines: list[bytes]) -> list[bytes]:
        if lines and not self._begun:
            self._begun = True
            lines[0] = lines[0].removeprefix(_BOM)
        return lines


class Events:
    """Server-sent events; comments and fields that say nothing of the reply are passed over."""

    def __init__(self) -> None:
        self._lines = Lines()
        self._name, self._data, self._size = "", list[bytes](), 0

    def feed(self, block: bytes) -> list[Event]:
        return [event for line in self._lines.feed(block) if (event := self._take(line))]

    def finish(self) -> list[Event]:
        """An event that no empty line ended: some servers leave the last one out."""
        found = [self._take(line) for line in (*self._lines.finish(), b"")]
        return [event for event in found if event]

    def _take(self, line: bytes) -> Event | None:
        if not line:
            return self._ended()
        name, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if name == b"data":
            self._size += len(value)
            if self._size > MAX_LINE_BYTES:
                raise Again("The chat model's reply has an event that is too large.")
            self._data.append(value)
        elif name == b"event":
            self._name = value.decode("utf-8", "replace")
        return None

    def _ended(self) -> Event | None:
        event = Event(self._name, b"\n".join(self._data)) if self._data else None
        self._name, self._data, self._size = "", [], 0
        return event
