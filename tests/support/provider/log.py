"""What the provider was asked, and how many asked at once."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from threading import RLock
from time import monotonic
from typing import Any

from tests.support.provider.prompts import Prompt, prompt_of


@dataclass
class Call:
    """One request as it came in. texts: what was to be embedded; prompt: what the chat model was told."""

    kind: str
    path: str
    body: dict[str, Any]
    texts: tuple[str, ...]
    authorization: str
    at: float
    fault: str = ""
    streamed: bool = False
    since: int = 0  # which beginning of the log it came after

    @property
    def prompt(self) -> Prompt:
        return prompt_of(self.body)


@dataclass
class Streams:
    """How many streamed replies began; `abandoned`: the client left before the end."""

    begun: int = 0
    running: int = 0
    abandoned: int = 0


class Log:
    def __init__(self) -> None:
        self._lock = RLock()
        self._running: Counter[str] = Counter()
        self.streams = Streams()
        self._since = 0
        self.clear()

    def clear(self) -> None:
        """Forget the past; requests that are still running stay counted as running, and are not missed when
        their clients leave.
        """
        with self._lock:
            self._since += 1
            self._calls: list[Call] = []
            self._most = Counter(self._running)
            self.abandoned = 0
            self.streams = Streams(running=self.streams.running)

    def began(self, kind: str, path: str, body: dict[str, Any], texts: Sequence[str], key: str) -> Call:
        call = Call(kind, path, body, tuple(texts), key, monotonic(), since=self._since)
        with self._lock:
            self._calls.append(call)
            self._running[kind] += 1
            self._most[kind] = max(self._most[kind], self._running[kind])
        return call

    def ended(self, call: Call, *, abandoned: bool) -> None:
        with self._lock:
            self._running[call.kind] -= 1
            self.abandoned += abandoned and call.since == self._since
            if call.streamed:
                self.streams.running -= 1
                self.streams.abandoned += abandoned and call.since == self._since

    def streams_now(self, call: Call) -> None:
        with self._lock:
            call.streamed = True
            self.streams.begun += 1
            self.streams.running += 1

    def calls(self, kind: str = "") -> list[Call]:
        with self._lock:
            return [call for call in self._calls if kind in ("", call.kind)]

    def asked(self) -> Counter[str]:
        """How often each text was to be embedded, failures included."""
        return Counter(text for call in self.calls("embeddings") for text in call.texts)

    def running(self, kind: str) -> int:
        with self._lock:
            return self._running[kind]

    def max_concurrent(self, kind: str) -> int:
        with self._lock:
            return self._most[kind]

    def as_json(self) -> dict[str, Any]:
        calls = [asdict(call) for call in self.calls()]
        return {"calls": calls, "max_concurrent": dict(self._most), "abandoned": self.abandoned} | {
            "streams": asdict(self.streams)
        }
