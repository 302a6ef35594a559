"""Many people asking at once, each time something new, a chat model that takes a second; beside bare FastAPI.

    python -m benchmarks.askers FOLDER [--askers 50 200 500 1000] [--seconds 15] [--rounds 1]
        [--bench-python .bench/bin/python] [--path /api/v1/rag/ask] [--plain | --streamed]
        [--web-processes 1]

FOLDER: PDF and Markdown files that make at least 1,400 chunks (some 300 pages); the questions are made of
their sentences. No question is asked twice, so nothing of it is remembered: each is embedded, its words are
looked up, and its answer is written, checked and recorded. All of Knowlex is real but the model
(benchmarks/chat_model.py). The bare application (bare_app.py) embeds the same questions by the same graph,
sends the same statement and asks the same model. With several rounds the two take turns. Clients, model and
database share the machine's cores with the web server, so the CPU per answer of each is told too, and the
load average.
"""

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice, zip_longest
from pathlib import Path

from tests.support import environment

environment.set_environment()

import django

django.setup()

import psutil

from benchmarks import bare
from benchmarks.asking import Crowd, Tally, ask
from benchmarks.usage import CpuMeter
from tests.support.postgres import Postgres
from tests.support.stack import Stack
from tests.support.waiting import wait_until

LEAST_CHUNKS = 1400
WARM_UP_S = 3.0
ANSWERS_A_SECOND = 250  # that nobody reaches here: so many questions are made
ASKED = ("What is said about {}?", "Why is it so that {}?", "Since when is it known: {}?", "Who says {}?")
WORDS = 12  # of a question's sentence
FIELDS = {"/api/v1/rag/ask": "query", "/v1/query": "query", "/query": "question"}
IN_USE = """
    SELECT count(*) FILTER (WHERE state <> 'idle') AS in_use, count(*) AS open
    FROM pg_stat_activity WHERE datname = %s AND application_name = %s
"""
_SENTENCE = re.compile(r"[A-Z][^.?!\n]{60,300}(?=[.?!])")


@dataclass(frozen=True)
class Served:
    """One that is asked. application: as its database connections call themselves."""

    name: str
    url: str
    field: str
    processes: Sequence[psutil.Process]
    application: str


def main() -> None:
    options = _options()
    postgres = Postgres(Path(environment.DATA_DIR))
    try:
        with run_chat_model(options.model_seconds) as (model, port):
            folder = environment.FOLDER / "askers"
            with Stack(postgres, folder, workers=2, env=web_environment(port)) as stack:
                stack.manage("ingest", str(options.folder), timeout_s=900)
                stack.terminate_web()
                measure(stack, model, port, options)
    finally:
        postgres.stop()


def measure(stack: Stack, model: psutil.Process, port: int, options: argparse.Namespace) -> None:
    """Compare on what the stack holds."""
    chunks = stack.count("documents_chunk")
    if chunks < LEAST_CHUNKS:
        sys.exit(f"{chunks} chunks; at least {LEAST_CHUNKS} are wanted: give a folder with more documents.")
    a_second = min(ANSWERS_A_SECOND, max(options.askers))
    ways = 2 - (options.plain or options.streamed)
    seconds = options.seconds + WARM_UP_S + 1
    wanted = int(seconds * a_second * len(options.askers) * options.rounds * ways)
    questions = list(islice(questions_of(stack), wanted))
    print(f"{chunks} chunks, {len(questions)} questions, no two the same", flush=True)
    with stack.web_group(options.web_processes) as group, _bare(options, stack, questions, port) as beside:
        processes = [psutil.Process(process.pid) for process in group.processes]
        web = Served("Knowlex", group.url + options.path, FIELDS[options.path], processes, "knowlex")
        _rest({str(process.pid): process for process in processes})  # loading its models
        _compare([web, *beside], questions, stack, model, options)


def questions_of(stack: Stack) -> Iterator[str]:
    """Yield questions about each sentence, the first of all chunks first, in an order that stays the same."""
    rows = stack.sql("SELECT content FROM documents_chunk ORDER BY md5(content)")
    told = dict[str, None]()
    for sentences in zip_longest(*(_SENTENCE.findall(row["content"]) for row in rows)):
        told |= dict.fromkeys(" ".join(sentence.split()[:WORDS]) for sentence in sentences if sentence)
    for asked in ASKED:
        yield from map(asked.format, told)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--askers", type=int, nargs="+", default=[50, 200, 500, 1000])
    parser.add_argument("--seconds", type=float, default=15.0)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--model-seconds", type=float, default=1.0)
    parser.add_argument("--path", default="/api/v1/rag/ask", choices=tuple(FIELDS))
    parser.add_argument("--web-processes", type=int, default=1, help="of Knowlex, on one socket")
    parser.add_argument("--bench-python", help="of an environment with FastAPI: measured beside, if given")
    ways = parser.add_mutually_exclusive_group()
    ways.add_argument("--plain", action="store_true", help="only whole answers; default: streamed ones, too")
    ways.add_argument("--streamed", action="store_true", help="only streamed answers")
    return parser.parse_args()


@contextmanager
def run_chat_model(seconds: float) -> Iterator[tuple[psutil.Process, int]]:
    command = [sys.executable, "-m", "benchmarks.chat_model", "--seconds", str(seconds)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, cwd=environment.PROJECT)
    try:
        assert process.stdout is not None
        yield psutil.Process(process.pid), int(process.stdout.readline())
    finally:
        process.terminate()
        process.wait(10)


def web_environment(model_port: int) -> dict[str, str]:
    return {
        "OPENAI_API_KEY": "sk-benchmark",
        "OPENAI_BASE_URL": f"http://127.0.0.1:{model_port}/v1",
        "KNOWLEX_EMBEDDER": "local",
        "KNOWLEX_RELEVANCE_THRESHOLD": "0",
        "KNOWLEX_RATE_LIMIT": "off",
    }


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
        wait_until(lambda: is_serving(url), 30, "the bare application")
        yield [Served("FastAPI", f"{url}/ask", "query", [process], "bare")]


def is_serving(url: str) -> bool:
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
    new = {one.name: iter(questions) for one in served}
    for streamed in [False] * (not options.streamed) + [True] * (not options.plain):
        for askers in options.askers:
            for number in range(options.rounds):
                load = os.getloadavg()[0]
                how = "streamed" if streamed else "whole"
                print(f"{askers} at once, {how}, round {number + 1}, load average {load:.1f}", flush=True)
                for one in served:
                    crowd = Crowd(
                        one.url, one.field, new[one.name], askers, options.seconds, options.model_seconds,
                        streamed, WARM_UP_S,
                    )  # fmt: skip
                    _measure(one, crowd, stack, model)


def _measure(one: Served, crowd: Crowd, stack: Stack, model: psutil.Process) -> None:
    connections: list[tuple[int, int]] = []
    processes = {f"web {n}": process for n, process in enumerate(one.processes, start=1)}
    processes |= {"postgres": find_postmaster(stack), "model": model}
    if one.application == "knowlex":
        assert stack.worker
        assert stack.broker
        processes |= {"workers": psutil.Process(stack.worker.pid), "valkey": stack.broker_process}

    def watch() -> None:
        (row,) = stack.postgres.execute(IN_USE, stack.database, one.application)
        connections.append((row["in_use"], row["open"]))

    meters: list[CpuMeter] = []
    tally = ask(crowd, watch, lambda: meters.append(CpuMeter({**processes, "clients": psutil.Process()})))
    used = meters[0].used()
    _report(one, tally, used, connections)
    _rest(processes)


def _rest(processes: Mapping[str, psutil.Process]) -> None:
    """Wait until what comes after the answers is done: it is not to be the next one's burden."""

    def idle() -> bool:
        meter = CpuMeter(processes)
        time.sleep(0.5)
        return sum(meter.used().values()) < 0.1

    started, meter = time.perf_counter(), CpuMeter(processes)
    wait_until(idle, 120, "the processes to rest")
    later = ", ".join(f"{name} {s:.1f}" for name, s in meter.used().items() if s >= 0.1)
    print(f"    at rest after {time.perf_counter() - started:.1f} s; CPU s until then: {later or 'none'}")


def _report(one: Served, tally: Tally, cpu: dict[str, float], connections: Sequence[tuple[int, int]]) -> None:
    times = sorted(tally.latencies)
    count = max(1, len(times))
    web = sum(seconds for name, seconds in cpu.items() if name.startswith("web "))
    parts = {"web in all": web} | cpu | {"all but clients": sum(cpu.values()) - cpu["clients"]}
    each = ", ".join(f"{name} {seconds / count * 1000:.2f}" for name, seconds in parts.items())
    statuses = ", ".join(f"{status} {n}" for status, n in sorted(tally.statuses.items()))
    print(
        f"  {one.name}: {len(times) / tally.seconds:.1f} answers/s, {_spread(times)}; statuses {statuses}\n"
        f"    CPU ms an answer: {each}; {sum(process.num_threads() for process in one.processes)} "
        f"threads, {sum(process.memory_info().rss for process in one.processes) / 2**20:.0f} MiB\n"
        f"    database connections in use: mean {statistics.fmean(c[0] for c in connections):.1f}, at most "
        f"{max(c[0] for c in connections)} of {max(c[1] for c in connections)} open",
        flush=True,
    )
    if tally.first_tokens:
        print(f"    first token: {_spread(sorted(tally.first_tokens))}", flush=True)
    if tally.refusals:
        print(
            f"    refusals: {_spread(sorted(tally.refusals))}; Retry-After of {tally.retry_after}", flush=True
        )
    told = [f"{name} {statistics.median(ms):.1f}/{_p95(sorted(ms)):.1f}" for name, ms in tally.stages.items()]
    if told:
        print(f"    stages, ms, p50/p95: {', '.join(told)}", flush=True)


def _spread(times: Sequence[float]) -> str:
    if not times:
        return "none"
    return f"p50 {statistics.median(times):.2f} p95 {_p95(times):.2f} worst {times[-1]:.2f} s"


def _p95(values: Sequence[float]) -> float:
    return values[int(len(values) * 0.95)]


def find_postmaster(stack: Stack) -> psutil.Process:
    (row,) = stack.postgres.execute(
        "SELECT split_part(pg_read_file('postmaster.pid'), chr(10), 1)::int AS pid"
    )
    return psutil.Process(row["pid"])


if __name__ == "__main__":
    main()
