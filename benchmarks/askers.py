"""Many people asking at once, one web process, a chat model that takes a second; beside bare FastAPI.

    python -m benchmarks.askers [--askers 1 50 200 500] [--seconds 15] [--documents 20]
        [--bench-python .bench/bin/python] [--path /api/v1/rag/ask] [--plain | --streamed]

All of Knowlex is real but the model (benchmarks/chat_model.py); the questions' vectors are remembered from
before, so that nobody measures an embedding model, and answers are not. The bare application (bare_app.py) is
given those vectors and sends the same statement for them. The ideal is an answer that takes as long as the
model: share = model seconds / mean latency. Clients, model and database share the machine's cores with the
web process, so its CPU per answer is told too.
"""

import argparse
import json
import statistics
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from tests.support import environment

environment.set_environment()

import django

django.setup()

import psutil

from benchmarks import bare
from benchmarks.asking import Crowd, Tally, ask
from benchmarks.usage import CpuMeter
from tests.support import texts
from tests.support.api import embed, ingest
from tests.support.postgres import Postgres
from tests.support.stack import Stack
from tests.support.waiting import wait_until

FACTS_PER_DOCUMENT = 100
MOST_QUESTIONS = 400  # a web process remembers the vectors of 1,000
WARM_UP_S = 4.0
SAMPLE = environment.PROJECT / "samples" / "nikola-tesla.pdf"
FIELDS = {"/api/v1/rag/ask": "query", "/v1/query": "query", "/query": "question"}
IN_USE = """
    SELECT count(*) FILTER (WHERE state <> 'idle') AS in_use, count(*) AS open
    FROM pg_stat_activity WHERE datname = %s AND application_name = %s
"""


@dataclass(frozen=True)
class Served:
    """One that is asked. application: as its database connections call themselves."""

    name: str
    url: str
    field: str
    process: psutil.Process
    application: str


def main() -> None:
    options = _options()
    postgres = Postgres(Path(environment.DATA_DIR))
    try:
        with _chat_model(options.model_seconds) as (model, port):
            folder = environment.FOLDER / "askers"
            with Stack(postgres, folder, workers=2, env=_environment(port)) as stack:
                chunks = _fill(stack, options.documents)
                places = options.documents * FACTS_PER_DOCUMENT
                questions = [texts.question(n) for n in range(min(places, MOST_QUESTIONS))]
                print(f"{chunks} chunks, {len(questions)} questions", flush=True)
                assert stack.web is not None
                path = options.path
                web = Served(
                    "Knowlex", stack.url + path, FIELDS[path], psutil.Process(stack.web.pid), "knowlex"
                )
                with _bare(options, stack, questions, port) as beside:
                    _compare([web, *beside], questions, stack, model, options)
    finally:
        postgres.stop()


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--askers", type=int, nargs="+", default=[1, 50, 200, 500])
    parser.add_argument("--seconds", type=float, default=15.0)
    parser.add_argument("--model-seconds", type=float, default=1.0)
    parser.add_argument("--documents", type=int, default=20)
    parser.add_argument("--path", default="/api/v1/rag/ask", choices=tuple(FIELDS))
    parser.add_argument("--bench-python", help="of an environment with FastAPI: measured beside, if given")
    ways = parser.add_mutually_exclusive_group()
    ways.add_argument("--plain", action="store_true", help="only whole answers; default: streamed ones, too")
    ways.add_argument("--streamed", action="store_true", help="only streamed answers")
    return parser.parse_args()


@contextmanager
def _chat_model(seconds: float) -> Iterator[tuple[psutil.Process, int]]:
    command = [sys.executable, "-m", "benchmarks.chat_model", "--seconds", str(seconds)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, cwd=environment.PROJECT)
    try:
        assert process.stdout is not None
        yield psutil.Process(process.pid), int(process.stdout.readline())
    finally:
        process.terminate()
        process.wait(10)


def _environment(model_port: int) -> dict[str, str]:
    return {
        "OPENAI_API_KEY": "sk-benchmark",
        "OPENAI_BASE_URL": f"http://127.0.0.1:{model_port}/v1",
        "KNOWLEX_EMBEDDER": "local",
        "KNOWLEX_RELEVANCE_THRESHOLD": "0",
        "KNOWLEX_ANSWER_CACHE_SECONDS": "0",
        "KNOWLEX_RATE_LIMIT": "off",
    }


def _fill(stack: Stack, documents: int) -> int:
    """A sample and `documents` files of made-up facts; returns the number of chunks."""
    ingest(stack.client, SAMPLE.read_bytes(), SAMPLE.name)
    for n in range(documents):
        pdf = texts.facts_pdf(FACTS_PER_DOCUMENT, first=n * FACTS_PER_DOCUMENT, title=f"Lighthouses {n}")
        ingest(stack.client, pdf, f"lighthouses{n}.pdf")
    return embed(stack.client)


@contextmanager
def _bare(
    options: argparse.Namespace, stack: Stack, questions: Sequence[str], model_port: int
) -> Iterator[list[Served]]:
    if not options.bench_python:
        yield []
        return
    given = stack.folder / "bare.json"
    model = f"http://127.0.0.1:{model_port}/v1"
    given.write_text(json.dumps(bare.given(stack.postgres.url(stack.database), model, questions)))
    with bare.served(options.bench_python, given) as (process, url):
        wait_until(lambda: _answers(url), 30, "the bare application")
        yield [Served("FastAPI", f"{url}/ask", "query", process, "bare")]


def _answers(url: str) -> bool:
    try:
        urllib.request.urlopen(f"{url}/openapi.json", timeout=5).read()
    except OSError:
        return False
    return True


def _compare(
    served: Sequence[Served],
    questions: Sequence[str],
    stack: Stack,
    model: psutil.Process,
    options: argparse.Namespace,
) -> None:
    for one in served:
        ask(Crowd(one.url, one.field, questions, len(questions), 1.0, 1.0), lambda: None)  # each of them once
    for streamed in [False] * (not options.streamed) + [True] * (not options.plain):
        for askers in options.askers:
            print(f"{askers} at once, {'streamed' if streamed else 'whole'}", flush=True)
            for one in served:
                crowd = Crowd(
                    one.url, one.field, questions, askers, options.seconds, options.model_seconds, streamed
                )
                _measure(one, crowd, stack, model)


def _measure(one: Served, crowd: Crowd, stack: Stack, model: psutil.Process) -> None:
    connections: list[tuple[int, int]] = []

    def watch() -> None:
        (row,) = stack.postgres.execute(IN_USE, stack.database, one.application)
        connections.append((row["in_use"], row["open"]))

    ask(replace(crowd, seconds=WARM_UP_S), lambda: None)
    processes = {"web": one.process, "postgres": _postmaster(stack), "model": model}
    meter = CpuMeter({**processes, "clients": psutil.Process()})
    started = time.perf_counter()
    tally = ask(crowd, watch)
    _report(one, tally, crowd, time.perf_counter() - started, meter.used(), connections)


def _report(
    one: Served,
    tally: Tally,
    crowd: Crowd,
    took: float,
    cpu: dict[str, float],
    connections: Sequence[tuple[int, int]],
) -> None:
    times = sorted(tally.latencies)
    mean = statistics.fmean(times)
    each = ", ".join(f"{name} {seconds / len(times) * 1000:.2f}" for name, seconds in cpu.items())
    print(
        f"  {one.name}: {crowd.model_s / mean:.0%} of the ideal, {len(times) / took:.0f} answers/s, latency "
        f"mean {mean:.3f} s, p95 {_p95(times):.3f} s; {tally.failures} failures\n"
        f"    CPU ms an answer: {each}; {one.process.num_threads()} threads, "
        f"{one.process.memory_info().rss / 2**20:.0f} MiB\n"
        f"    database connections in use: mean {statistics.fmean(c[0] for c in connections):.1f}, at most "
        f"{max(c[0] for c in connections)} of {max(c[1] for c in connections)} open",
        flush=True,
    )
    told = [f"{name} {statistics.median(ms):.1f}/{_p95(sorted(ms)):.1f}" for name, ms in tally.stages.items()]
    if told:
        print(f"    stages, ms, p50/p95: {', '.join(told)}", flush=True)


def _p95(values: Sequence[float]) -> float:
    return values[int(len(values) * 0.95)]


def _postmaster(stack: Stack) -> psutil.Process:
    (row,) = stack.postgres.execute(
        "SELECT split_part(pg_read_file('postmaster.pid'), chr(10), 1)::int AS pid"
    )
    return psutil.Process(row["pid"])


if __name__ == "__main__":
    main()
