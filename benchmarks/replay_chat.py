"""A chat model that says what it is told to: OpenAI's API on loopback, whole or streamed."""

import json
import re
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal

from benchmarks.reply_set import (
    MARKER,
    Claim,
    Record,
    Reply,
    numbers_in,
    share_of,
    squeezed,
    without_markers,
)

NOT_FOUND = "Answer not found in provided content"
REFUSED = {
    "error": {
        "message": "response_format is not supported",
        "type": "invalid_request_error",
        "param": "response_format",
    }
}
PIECE_CHARS = 12  # of a streamed reply
SAME_BLOCK = 0.8  # of its runs of words
SchemaWay = Literal["answer", "refuse", "ignore"]


@dataclass
class Told:
    """What came of one reply. state: not_asked, said, block_missing.

    mapping: from the numbers of the recorded blocks to those of today. blocks: of the prompt, text by number.
    """

    state: str = "not_asked"
    mapping: dict[int, int] = field(default_factory=dict)
    blocks: dict[int, str] = field(default_factory=dict)


class Replay:
    """What the model says next, and what came of it. schema: what it does about a `response_format`."""

    def __init__(self, schema: SchemaWay) -> None:
        self.schema, self.ways = schema, Counter[str]()
        self._lock = threading.Lock()
        self._record: Record | None = None
        self._reply: Reply | None = None
        self._told = Told()

    def expect(self, record: Record, reply: Reply) -> None:
        with self._lock:
            self._record, self._reply, self._told = record, reply, Told()

    @property
    def told(self) -> Told:
        with self._lock:
            return self._told

    def said(self, request: Mapping[str, Any]) -> str | None:
        """The reply to a request; None where its `response_format` is refused."""
        wanted = request.get("response_format")
        user = str(request["messages"][-1]["content"])
        with self._lock:
            if wanted and self.schema == "refuse":
                self.ways["refused"] += 1
                return None
            form = source_form(wanted) if wanted and self.schema == "answer" else ""
            self.ways["by schema" if form else "plain"] += 1
            self.ways["streamed" if request.get("stream") else "whole"] += 1
            parts = self._parts(user)
            if form:
                return structured_reply(parts, self._told.mapping, form)
            return self._plain() if parts else NOT_FOUND

    def _parts(self, user: str) -> tuple[Claim, ...]:
        """Of the reply that is expected; none where the question is another or a block is missing."""
        record, reply = self._record, self._reply
        if record is None or reply is None or not asks(user, record.question):
            return ()
        told = self._told = Told("said", {}, blocks_of(user))
        for number in sorted(set(numbers_in(reply.text)) | _quoted(reply)):
            place = place_of(record, number, told.blocks)
            if place is None:
                told.state = "block_missing"
                return ()
            told.mapping[number] = place
        return () if reply.text == NOT_FOUND else reply.parts

    def _plain(self) -> str:
        assert self._reply is not None
        return renumbered(self._reply.text, self._told.mapping)


def _quoted(reply: Reply) -> set[int]:
    return {quote.block for part in reply.parts for quote in part.quotes}


def asks(user: str, question: str) -> bool:
    """Whether the message's last line asks this."""
    asked = user[user.rfind("\nQuestion: ") + len("\nQuestion: ") :]
    return squeezed(asked) == squeezed(question)


def blocks_of(user: str) -> dict[int, str]:
    """The numbered blocks of a prompt. Numbers count up from 1, so a `[3]` inside a text is none."""
    body = "\n\n" + user[user.find("<context>") + len("<context>") : user.rfind("</context>")].strip()
    found, number, at = {}, 1, body.find("\n\n[1]")
    while at >= 0:
        start, following = at + len(f"\n\n[{number}]"), body.find(f"\n\n[{number + 1}]", at + 1)
        found[number] = body[start : following if following >= 0 else len(body)].strip()
        number, at = number + 1, following
    return found


def place_of(record: Record, number: int, blocks: Mapping[int, str]) -> int | None:
    """The number that a recorded block has now: by its text, else by the words that are quoted of it."""
    text = record.blocks[number]
    flat = squeezed(text)
    for now, other in blocks.items():
        if flat in squeezed(other):
            return now
    share, best = max(((share_of(text, other), now) for now, other in blocks.items()), default=(0.0, 0))
    if share >= SAME_BLOCK:
        return best
    quotes = [squeezed(one.quote) for claim in record.claims for one in claim.quotes if one.block == number]
    for now, other in blocks.items():
        if quotes and all(quote in squeezed(other) for quote in quotes):
            return now
    return None


def renumbered(text: str, mapping: Mapping[int, int]) -> str:
    return MARKER.sub(lambda marker: re.sub(r"\d+", lambda n: str(mapping[int(n[0])]), marker[0]), text)


def source_form(response_format: Mapping[str, Any]) -> str:
    """What a claim's sources are to be: `numbers` of blocks, or `quotes`, each a block and its words."""
    schema = response_format.get("json_schema", {}).get("schema", {})
    defined = schema.get("$defs", {})

    def resolved(node: Mapping[str, Any]) -> Mapping[str, Any]:
        name = str(node.get("$ref", "")).rpartition("/")[2]
        found: Mapping[str, Any] = defined.get(name, node)
        return found

    claims = resolved(schema.get("properties", {}).get("claims", {}))
    claim = resolved(claims.get("items", {}))
    sources = resolved(claim.get("properties", {}).get("sources", {}))
    source = resolved(sources.get("items", {}))
    return "numbers" if source.get("type") == "integer" else "quotes"


def structured_reply(parts: tuple[Claim, ...], mapping: Mapping[int, int], form: str) -> str:
    """A JSON object of claims, as a server writes one that is held to a schema."""
    claims = []
    for part in parts:
        sources: list[Any] = [mapping[n] for n in part.markers]
        if form == "quotes":
            sources = [{"block": mapping[one.block], "quote": one.quote} for one in part.quotes]
        claims.append({"text": without_markers(part.text), "sources": sources})
    return json.dumps({"claims": claims}, ensure_ascii=False)


@contextmanager
def served(replay: Replay) -> Iterator[str]:
    """The base URL of a server that answers as `replay` says."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(replay))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/v1"
    finally:
        server.shutdown()
        server.server_close()


def _handler(replay: Replay) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, format: str, *args: object) -> None:
            pass

        def do_GET(self) -> None:
            self._send(200, {"object": "list", "data": [{"id": "replay", "object": "model"}]})

        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            text = replay.said(request)
            if text is None:
                self._send(400, REFUSED)
            elif request.get("stream"):
                self._stream(text, request)
            else:
                message = {"role": "assistant", "content": text}
                choice = {"index": 0, "message": message, "finish_reason": "stop"}
                self._send(200, _body("chat.completion", request, choices=[choice], usage=_usage(text)))

        def _send(self, status: int, data: object) -> None:
            body = json.dumps(data).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def _stream(self, text: str, request: Mapping[str, Any]) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.send_header("Connection", "close")
            self.end_headers()
            pieces = [text[start : start + PIECE_CHARS] for start in range(0, len(text), PIECE_CHARS)]
            choices: list[dict[str, Any]] = [
                {"index": 0, "delta": {"content": piece}, "finish_reason": None} for piece in pieces
            ]
            choices.append({"index": 0, "delta": {}, "finish_reason": "stop"})
            events = [_body("chat.completion.chunk", request, choices=[choice]) for choice in choices]
            events.append(_body("chat.completion.chunk", request, choices=[], usage=_usage(text)))
            for event in events:
                self.wfile.write(b"data: " + json.dumps(event).encode() + b"\n\n")
            self.wfile.write(b"data: [DONE]\n\n")
            self.close_connection = True

    return Handler


def _body(kind: str, request: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    model = request.get("model", "replay")
    return {"id": "replay", "object": kind, "created": int(time.time()), "model": model, **more}


def _usage(text: str) -> dict[str, int]:
    said = len(text) // 4
    return {"prompt_tokens": 900, "completion_tokens": said, "total_tokens": 900 + said}
