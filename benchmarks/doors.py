"""What each door costs the web process over the Platform API that asks the same.

    python -m benchmarks.doors FOLDER [--chunks 300] [--questions 60] [--rounds 6]

Chat completions of OpenAI's API, whole and streamed, and the tool `ask` of MCP beside `/v1/query`; the tool
`search` beside `/v1/search`. The doors take turns with the same questions, one at a time; nothing is cached.
All is real but the chat model, which answers at once (benchmarks/chat_model.py). FOLDER: as for
benchmarks/ask.py.
"""

import argparse
import json
import os
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.support import environment

environment.set_environment()
os.environ["LOG_LEVEL"] = "WARNING"

import django

django.setup()

import httpx
import psutil
from django.conf import settings
from django.db import connection

from benchmarks.ask import Library, read_texts, store
from benchmarks.askers import run_chat_model, web_environment
from benchmarks.usage import CpuMeter
from tests.support.postgres import Postgres
from tests.support.stack import Stack

WARM_UP = 20  # questions
SETTLE_S = 1.5  # after a turn: past questions are written in batches
CHAT = "/v1/chat/completions"


@dataclass(frozen=True, slots=True)
class Door:
    """beside: the name of the door that it is compared with, "" for one that others are compared with."""

    name: str
    path: str
    body: Callable[[str], dict[str, Any]]
    beside: str = ""


def _messages(question: str, **more: Any) -> dict[str, Any]:
    return {"model": "knowlex", "messages": [{"role": "user", "content": question}], **more}


def _tool(name: str, argument: str) -> Callable[[str], dict[str, Any]]:
    def call(question: str) -> dict[str, Any]:
        params = {"name": name, "arguments": {argument: question}}
        return {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}

    return call


def _retrieval(question: str) -> dict[str, Any]:
    wanted = {"top_k": 10, "score_threshold": 0.0}
    return {"knowledge_id": "default", "query": question, "retrieval_setting": wanted}


DOORS = (
    Door("query", "/v1/query", lambda q: {"query": q, "settings": {"max_tokens": 1024}}),
    Door("chat completion", CHAT, _messages, "query"),
    Door("MCP ask", "/mcp", _tool("ask", "question"), "query"),
    Door("query, streamed", "/v1/query", lambda q: {"query": q, "stream": True}),
    Door("chat completion, streamed", CHAT, lambda q: _messages(q, stream=True), "query, streamed"),
    Door("search", "/v1/search", lambda q: {"query": q}),
    Door("MCP search", "/mcp", _tool("search", "query"), "search"),
    Door("Dify retrieval", "/v1/dify/retrieval", _retrieval, "search"),
)


def main() -> None:
    options = _options()
    library = Library(read_texts(options.folder))
    settings.KNOWLEX = {
        **settings.KNOWLEX,
        "EMBEDDER": {"class": "benchmarks.cost.KnownSentences", "provider": "local"},
    }
    postgres = Postgres(Path(environment.DATA_DIR))
    try:
        with run_chat_model(0.0) as (_, port):
            env = {**web_environment(port), "KNOWLEX_CACHE": "off"}
            with Stack(postgres, environment.FOLDER / "doors", workers=0, env=env) as stack:
                connection.close()
                connection.settings_dict["NAME"] = stack.database
                store([library.chunk() for _ in range(options.chunks)])
                connection.close()
                stack.warm_web()
                questions = [library.question() for _ in range(options.rounds * options.questions + WARM_UP)]
                _report(_measure(stack, questions, options))
    finally:
        connection.close()
        postgres.stop()


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--chunks", type=int, default=300)
    parser.add_argument("--questions", type=int, default=60, help="of a turn")
    parser.add_argument("--rounds", type=int, default=6)
    return parser.parse_args()


def _measure(stack: Stack, questions: Sequence[str], options: argparse.Namespace) -> dict[str, list[float]]:
    """Return CPU milliseconds of the web process a question, by door and round."""
    assert stack.web is not None
    process = psutil.Process(stack.web.pid)
    doors = [door for door in DOORS if stack.client.options(door.path).status_code != 404]
    used: dict[str, list[float]] = {door.name: [] for door in doors}
    for door in doors:
        _ask_all(stack.client, door, questions[:WARM_UP])
    for number in range(options.rounds):
        own = questions[WARM_UP + number * options.questions :][: options.questions]
        _ask_all(stack.client, doors[0], own)  # whoever is first would pay for what this process keeps
        for door in doors if number % 2 == 0 else reversed(doors):
            meter = CpuMeter({"web": process})
            _ask_all(stack.client, door, own)
            time.sleep(SETTLE_S)
            used[door.name].append(meter.used()["web"] * 1000 / len(own))
    return used


def _ask_all(client: httpx.Client, door: Door, questions: Sequence[str]) -> None:
    headers = {"Accept": "application/json, text/event-stream"} if door.path == "/mcp" else {}
    for question in questions:
        reply = client.post(door.path, json=door.body(question), headers=headers)
        if reply.status_code != 200 or '"isError":true' in reply.text:
            raise RuntimeError(f"{door.name} answered {reply.status_code}: {json.dumps(reply.text[:500])}")


def _report(used: dict[str, list[float]]) -> None:
    print(
        f"load average {os.getloadavg()[0]:.1f}; CPU ms of the web process a question, median (least to most)"
    )
    for door in DOORS:
        if door.name not in used:
            continue
        line = f"  {door.name}: {_spread(used[door.name])}"
        if door.beside:
            more = [mine - theirs for mine, theirs in zip(used[door.name], used[door.beside], strict=True)]
            line += f"; over {door.beside} {_spread(more)}"
        print(line)


def _spread(values: Sequence[float]) -> str:
    return f"{statistics.median(values):.2f} ({min(values):.2f} to {max(values):.2f})"


if __name__ == "__main__":
    main()
