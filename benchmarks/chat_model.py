"""A chat model that takes its time and hardly any CPU: OpenAI's API on a bare protocol, whole and streamed.

    python -m benchmarks.chat_model --seconds 1 [--port 0] [--pieces 20]

It says the first sentence of the first block that it is shown, marked [1]. Prints its port, then serves.
"""

import argparse
import asyncio
import json
from dataclasses import dataclass
from typing import cast

import uvloop

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n"
STREAM_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
USAGE = {"prompt_tokens": 900, "completion_tokens": 30, "total_tokens": 930}


@dataclass(frozen=True)
class Pace:
    """seconds: from the request to the end of the reply. pieces: of a streamed one."""

    seconds: float
    pieces: int


class ChatModel(asyncio.Protocol):
    """One connection; requests come one after the other."""

    def __init__(self, pace: Pace) -> None:
        self._pace, self._received = pace, b""
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)

    def connection_lost(self, exc: Exception | None) -> None:
        self._transport = None

    def data_received(self, data: bytes) -> None:
        self._received += data
        head, end, rest = self._received.partition(b"\r\n\r\n")
        if not end or len(rest) < (length := _content_length(head)):
            return
        self._received = rest[length:]
        asked = json.loads(rest[:length])
        loop, said = asyncio.get_running_loop(), _answer(asked["messages"][-1]["content"])
        if not asked.get("stream"):
            loop.call_later(self._pace.seconds, self._reply, said)
            return
        step = self._pace.seconds / self._pace.pieces
        size = -(-len(said) // self._pace.pieces)
        pieces = [said[start : start + size] for start in range(0, len(said), size)]
        for n, piece in enumerate(pieces, start=1):
            loop.call_later(n * step, self._piece, piece, n == 1, n == len(pieces))

    def _reply(self, said: str) -> None:
        choice = {"index": 0, "message": {"role": "assistant", "content": said}, "finish_reason": "stop"}
        body = json.dumps({"object": "chat.completion", "choices": [choice], "usage": USAGE}).encode()
        self._write(HEAD % (b"application/json", len(body)) + body)

    def _piece(self, said: str, first: bool, last: bool) -> None:
        events = _event({"choices": [{"index": 0, "delta": {"content": said}, "finish_reason": None}]})
        if last:
            events += _event({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
            events += _event({"choices": [], "usage": USAGE}) + b"data: [DONE]\n\n"
        chunk = b"%x\r\n%s\r\n" % (len(events), events)
        self._write((STREAM_HEAD if first else b"") + chunk + (b"0\r\n\r\n" if last else b""))

    def _write(self, data: bytes) -> None:
        if self._transport is not None:
            self._transport.write(data)


def _content_length(head: bytes) -> int:
    lines = (line.partition(b":") for line in head.lower().split(b"\r\n"))
    return next((int(value) for name, _, value in lines if name == b"content-length"), 0)


def _answer(prompt: str) -> str:
    block = prompt.partition("[1] ")[2].partition("\n")[2]  # below the line that tells its place
    return f"{block.partition('. ')[0].strip().rstrip('.')} [1]."


def _event(body: object) -> bytes:
    return b"data: " + json.dumps(body).encode() + b"\n\n"


async def _serve(port: int, pace: Pace) -> None:
    server = await asyncio.get_running_loop().create_server(lambda: ChatModel(pace), "127.0.0.1", port)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--pieces", type=int, default=20)
    options = parser.parse_args()
    uvloop.run(_serve(options.port, Pace(options.seconds, options.pieces)))


if __name__ == "__main__":
    main()
