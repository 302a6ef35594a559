"""HTTP requests and their replies as text, with placeholders for what no two runs have alike.

A request names what an earlier one made, as in `/v1/documents/<manual>`; so does the text of a reply.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import httpx

from tests.support.waiting import wait_until

SHOWN_HEADERS = (
    "Content-Type", "Allow", "Location", "Retry-After", "WWW-Authenticate", "Cache-Control", "Vary",
    "Content-Disposition", "Preference-Applied", "Idempotency-Replayed", "X-Accel-Buffering",
)  # fmt: skip
EVERY_HEADER = ("*",)
MOST_SHOWN = 3000  # characters of a request's body
PLACEHOLDERS = [
    (re.compile(r"\b[0-9a-f]{12}7[0-9a-f]{3}[89ab][0-9a-f]{15}\b"), "<uuid>"),  # as psycopg writes one
    (re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b"), "<uuid>"),
    (re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|\+00:00)"), "<time>"),
    (re.compile(r"\b\d+ ms\b"), "<int> ms"),
    (re.compile(r"127\.0\.0\.1:\d+"), "<host>"),
]
VOLATILE = {
    "next_cursor": "<cursor>",
    "secret": "<secret>",
    "storage_bytes": "<int>",
    "timestamp": "<time>",
    "version": "<version>",
}
MILLISECONDS = re.compile(r"(_ms|Ms|_seconds)$")


@dataclass(frozen=True, slots=True)
class Ask:
    """One request, and what its reply is good for later.

    body: JSON, or the bytes themselves. keep: a name for the id at this path of the reply, as
    ("manual", "documents.0.id"). until: the request is repeated until its reply is like that.
    """

    title: str
    method: str
    path: str
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, Any] | None = None
    data: Mapping[str, str] | None = None
    keep: Sequence[tuple[str, str]] = ()
    until: Callable[[httpx.Response], bool] | None = None
    shown: tuple[str, ...] = SHOWN_HEADERS
    without_body: bool = False


class Recorder:
    """Sends requests to one server, and writes down what came of them."""

    def __init__(self, client: httpx.Client) -> None:
        self.client = client
        self.ids: dict[str, str] = {}
        self.seen: list[tuple[str, str, int]] = []  # method, path as asked for, status

    def record(self, asks: Sequence[Ask]) -> str:
        return "\n\n\n".join(self._exchange(ask) for ask in asks)

    def _exchange(self, ask: Ask) -> str:
        reply = self.send(ask)
        for name, place in ask.keep:
            self.ids[name] = _at(reply, place)
        self.seen.append((ask.method, ask.path.partition("?")[0], reply.status_code))
        told = "" if ask.without_body else self._body(reply)
        parts = [f"# {ask.title}", _request(ask), "", f"{reply.status_code} {reply.reason_phrase}"]
        return "\n".join([*parts, *self._headers(ask, reply), *([told] if told else [])])

    def send(self, ask: Ask) -> httpx.Response:
        options: dict[str, Any] = {"headers": dict(ask.headers), "files": ask.files, "data": ask.data}
        if isinstance(ask.body, bytes):
            options["content"] = ask.body
        elif ask.body is not None:
            options["json"] = self._filled(ask.body)

        def sent() -> httpx.Response:
            return self.client.request(ask.method, self._filled(ask.path), **options)

        if ask.until is None:
            return sent()
        good = ask.until
        return wait_until(lambda: (reply := sent(), good(reply))[1] and reply, what=ask.title)

    def _filled(self, value: Any) -> Any:
        """With the ids that `<name>` stands for."""
        if isinstance(value, str):
            return re.sub(r"<([\w-]+)>", lambda match: self.ids.get(match[1], match[0]), value)
        if isinstance(value, list):
            return [self._filled(one) for one in value]
        if isinstance(value, dict):
            return {self._filled(key): self._filled(one) for key, one in value.items()}
        return value

    def _headers(self, ask: Ask, reply: httpx.Response) -> list[str]:
        names = ask.shown
        if names == EVERY_HEADER:
            dropped = {"date", "server", "connection", "transfer-encoding", "keep-alive"}
            names = tuple(sorted({name.title() for name in reply.headers} - {one.title() for one in dropped}))
        return [
            f"{name}: {self._header(name, reply.headers[name], ask)}"
            for name in names
            if name in reply.headers
        ]

    def _header(self, name: str, value: str, ask: Ask) -> str:
        counts = name.lower() == "content-length" or (
            ask.shown == EVERY_HEADER and name.lower().startswith("x-ratelimit")
        )
        far_away = name.lower() == "retry-after" and len(value) > 2  # the rest of an hour or a day
        return "<int>" if counts or far_away else self.masked(value)

    def _body(self, reply: httpx.Response) -> str:
        kind = reply.headers.get("Content-Type", "")
        if not reply.content:
            return ""
        if kind.startswith("application/json"):
            return self._json(reply.json())
        if kind.startswith("text/event-stream"):
            return "\n\n".join(self._event(name, told) for name, told in events_of(reply.text))
        return self.masked(reply.text.rstrip())

    def _event(self, name: str, told: Any) -> str:
        return f"event: {name}\n{self._json(told)}"

    def _json(self, value: Any) -> str:
        return self.masked(json.dumps(_steady(value), indent=2, ensure_ascii=False))

    def masked(self, text: str) -> str:
        for name, id_ in self.ids.items():
            text = text.replace(id_, f"<{name}>")
        for pattern, placeholder in PLACEHOLDERS:
            text = pattern.sub(placeholder, text)
        return text


def events_of(text: str) -> list[tuple[str, Any]]:
    """The events of a stream; the text that comes in pieces, which depend on the time, is one piece here."""
    found: list[tuple[str, Any]] = []
    for block in text.split("\n\n"):
        fields = dict(line.split(": ", 1) for line in block.splitlines() if not line.startswith(":"))
        if not fields:
            continue
        name, told = fields.get("event", "message"), json.loads(fields["data"])
        if name == "token" and found and found[-1][0] == "token":
            found[-1][1]["text"] += told["text"]
        else:
            found.append((name, told))
    return found


def _request(ask: Ask) -> str:
    lines = [f"{ask.method} {ask.path}", *(f"{name}: {_shown(value)}" for name, value in ask.headers.items())]
    if ask.files:
        lines += [f"form file {name}: {one[0]} ({one[2]})" for name, one in ask.files.items()]
    lines += [f"form field {name}: {value}" for name, value in (ask.data or {}).items()]
    return "\n".join([*lines, *([body_shown(ask.body)] if ask.body is not None else [])])


def body_shown(body: Any) -> str:
    """A request's body, shortened where it is long."""
    text = body.decode("utf-8", "backslashreplace") if isinstance(body, bytes) else None
    return _shown(json.dumps(body, ensure_ascii=False) if text is None else text)


def _shown(body: str) -> str:
    return body if len(body) <= MOST_SHOWN else f"{body[:60]}… ({len(body)} characters)"


def _steady(value: Any, key: str = "") -> Any:
    """With placeholders of their type for times taken and the like, and scores rounded."""
    if isinstance(value, dict):
        if MILLISECONDS.search(key):
            return {name: "<float>" if isinstance(one, float) else "<int>" for name, one in value.items()}
        return {name: _steady(one, name) for name, one in value.items()}
    if isinstance(value, list):
        # Which collections a question reads stands in the order in which PostgreSQL finds them.
        inside = sorted(value) if key == "collection_ids" else value
        return [_steady(one, key) for one in inside]
    if value is None or isinstance(value, bool):
        return value
    if key in VOLATILE:
        return VOLATILE[key]
    if isinstance(value, int | float) and MILLISECONDS.search(key):
        return "<int>" if isinstance(value, int) else "<float>"
    return round(value, 3) if isinstance(value, float) else value


def _at(reply: httpx.Response, place: str) -> str:
    """The id at this path of a JSON reply; for "Location" the last part of that header."""
    if place == "Location":
        return urlsplit(reply.headers["Location"]).path.rpartition("/")[2]
    value = reply.json()
    for step in place.split("."):
        value = value[int(step)] if step.isdigit() else value[step]
    return str(value)
