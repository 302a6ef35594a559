"""A provider that misbehaves on command: OpenAI's and Ollama's HTTP APIs on loopback.

In a test: the fixture `provider`. By hand: `python -m tests.provider --port 8250`, commanded over HTTP:
`curl localhost:8250/_rules -d '{"fault": "status", "status": 429, "times": 2, "on": "embeddings"}'`,
`curl localhost:8250/_pieces -d '{"chars": 4, "pause_s": 0.05}'`,
`curl localhost:8250/_answer -d '{"name": "obey"}'`, `curl localhost:8250/_log`,
`curl localhost:8250/_ollama -d '{"pulled": ["mistral:7b"], "load_s": 3}'`.
"""

import argparse
import asyncio
from collections import Counter
from collections.abc import Sequence
from threading import Event, Thread
from typing import Any, Self

from aiohttp import web

from tests.support.provider import answers
from tests.support.provider.app import build
from tests.support.provider.log import Call, Streams
from tests.support.provider.rules import Rule
from tests.support.provider.state import State
from tests.support.provider.vectors import vector_of
from tests.support.waiting import wait_until

__all__ = ["Provider", "Rule", "vector_of"]


class Provider:
    """The server in a thread of its own, and everything a test says to it. Use as a context manager."""

    def __init__(self, port: int = 0) -> None:
        self._state = State()
        self._port = port
        self._ready = Event()
        self._loop = asyncio.new_event_loop()
        self._thread = Thread(target=self._run, name="provider", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        if not self._ready.wait(10):
            raise RuntimeError("The provider did not start.")
        return self

    def __exit__(self, *_: object) -> None:
        self._state.release()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        runner = web.AppRunner(build(self._state), handler_cancellation=True, shutdown_timeout=0.1)
        self._loop.run_until_complete(runner.setup())
        site = web.TCPSite(runner, "127.0.0.1", self._port)
        self._loop.run_until_complete(site.start())
        self._port = runner.addresses[0][1]
        self._ready.set()
        self._loop.run_forever()
        self._loop.run_until_complete(runner.cleanup())
        self._loop.close()

    @property
    def url(self) -> str:
        """For OLLAMA_HOST."""
        return f"http://127.0.0.1:{self._port}"

    @property
    def openai_url(self) -> str:
        """For OPENAI_BASE_URL."""
        return f"{self.url}/v1"

    def rule(self, fault: str, **fields: Any) -> Rule:
        """Misbehave; see `Rule` for the fields. The first rule that matches a request wins."""
        return self._state.rules.add(fault=fault, **fields)

    def hold(self, **fields: Any) -> Rule:
        """Let matching requests wait unanswered until `release`; `wait_held` tells that they have come."""
        return self._state.hold(**fields)

    def hold_stream(self, after: int, **fields: Any) -> Rule:
        """Let streamed replies wait after so many pieces of text until `release`."""
        return self._state.hold(fault="stream_hold", on="chat", after=after, **fields)

    def release(self) -> None:
        """Let go of all that is held, and hold no more."""
        self._state.release()

    def wait_held(self, kind: str = "embeddings", count: int = 1, timeout_s: float = 30.0) -> None:
        wait_until(lambda: self._state.log.running(kind) >= count, timeout_s, f"{count} held {kind} requests")

    def forget_rules(self) -> None:
        self._state.rules.clear()
        self._state.release()

    def forget_log(self) -> None:
        self._state.log.clear()

    def reset(self) -> None:
        """Well-behaved again, with an empty log."""
        self._state.reset()

    def says(self, answer: str | answers.Answer | None) -> None:
        """The chat model's answer: a name in `answers.NAMED`, another text as it is, None, or a function."""
        named = answers.NAMED.get(answer) if isinstance(answer, str) else None
        self._state.answer = named or (answer if callable(answer) else answers.fixed(answer))

    def cites(self, numbers: Sequence[int]) -> None:
        """Answer with one claim for each number, marked `[n]`, whether there is such a block or not."""
        self._state.answer = answers.cite(numbers)

    def has_pulled(self, *models: str) -> None:
        """Ollama's models from now on; any other is not there."""
        self._state.ollama.pulled, self._state.ollama.strict = models, True

    def loads_in(self, seconds: float) -> None:
        """How long Ollama needs before a model's first answer; none is in memory now."""
        self._state.ollama.load_s = seconds
        self._state.ollama.loaded = set()

    @property
    def loads(self) -> Counter[str]:
        """How often Ollama has begun to load each of its models, names with their tags."""
        return Counter(self._state.ollama.loads)

    def takes(self, seconds: float) -> None:
        """How long every model call lasts."""
        self._state.latency_s = seconds

    def speaks_in(self, chars: int | None, pause_s: float = 0.0) -> None:
        """The size of the pieces of streamed replies, and the wait after each."""
        self._state.piece_chars, self._state.pause_s = chars, pause_s

    @property
    def streams(self) -> Streams:
        """Streamed replies: begun, running, abandoned (the client left before the end)."""
        return self._state.log.streams

    def calls(self, kind: str = "") -> list[Call]:
        """Requests so far; kind is "embeddings", "chat", "rerank", "models" (what there is), or "load"."""
        return self._state.log.calls(kind)

    def asked(self) -> Counter[str]:
        """How often each text was to be embedded."""
        return self._state.log.asked()

    def max_concurrent(self, kind: str) -> int:
        return self._state.log.max_concurrent(kind)

    def running(self, kind: str) -> int:
        return self._state.log.running(kind)

    @property
    def abandoned(self) -> int:
        """Requests whose client went away before the answer was complete."""
        return self._state.log.abandoned


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--port", type=int, default=8250)
    parser.add_argument("--latency", type=float, default=0.0, help="seconds that every model call takes")
    options = parser.parse_args()
    with Provider(options.port) as provider:
        provider.takes(options.latency)
        print(f"OPENAI_BASE_URL={provider.openai_url} OLLAMA_HOST={provider.url}", flush=True)
        try:
            Event().wait()
        except KeyboardInterrupt:
            print("Stopped.")


if __name__ == "__main__":
    main()
