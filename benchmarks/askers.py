"""Many people asking at once, one web process, a chat model that takes a second.

    python -m benchmarks.askers [--askers 200] [--seconds 15] [--embedder openai|local] [--documents 20]

Everything is real but the models, which a server on loopback plays (tests/provider.py, a process of its own).
The ideal is an answer that takes as long as the model: share = model seconds / mean latency. Client, models
and database share the machine's cores with the web process, so its CPU per answer is told too.
"""

import argparse
import asyncio
import json
import statistics
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.support import environment

environment.set_environment()

import django  # noqa: E402

django.setup()

import aiohttp  # noqa: E402
import psutil  # noqa: E402
import uvloop  # noqa: E402

from benchmarks.usage import CpuMeter  # noqa: E402
from tests.support import texts  # noqa: E402
from tests.support.api import embed, ingest  # noqa: E402
from tests.support.postgres import Postgres  # noqa: E402
from tests.support.stack import Stack  # noqa: E402

PROVIDER_PORT = 8199
FACTS_PER_DOCUMENT = 100
WARM_UP_S = 4.0
SAMPLE = environment.PROJECT / "samples" / "nikola-tesla.pdf"
PROVIDER = "import uvloop; uvloop.install(); from tests.provider import main; main()"
ANSWERED = b'"answerSynthesized":true'
IN_USE = """
    SELECT count(*) FILTER (WHERE state <> 'idle') AS in_use, count(*) AS open
    FROM pg_stat_activity WHERE datname = %s AND application_name = 'knowlex'
"""


@dataclass
class Tally:
    """What the askers saw, and how many database connections were in use, looked at now and then."""

    latencies: list[float] = field(default_factory=list)
    failures: int = 0
    in_use: list[int] = field(default_factory=list)
    open: int = 0


def main() -> None:
    options = _options()
    postgres = Postgres(Path(environment.DATA_DIR))
    try:
        for embedder in options.embedder or ("openai", "local"):
            folder = environment.FOLDER / f"askers-{embedder}"
            with _provider() as provider, Stack(postgres, folder, workers=2, env=_models(embedder)) as stack:
                chunks = _fill(stack, options.documents)
                _command("_rules", {"fault": "slow", "on": "chat", "seconds": options.model_seconds})
                print(f"embeddings: {embedder}; {chunks} chunks; {options.askers} askers", flush=True)
                _run(stack, provider, options)
    finally:
        postgres.stop()


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--askers", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=15.0)
    parser.add_argument("--model-seconds", type=float, default=1.0)
    parser.add_argument("--documents", type=int, default=20)
    parser.add_argument("--embedder", action="append", choices=("openai", "local"), help="default: both")
    parser.add_argument("--path", default="/api/v1/rag/ask", choices=("/api/v1/rag/ask", "/query"))
    return parser.parse_args()


@contextmanager
def _provider() -> Iterator[psutil.Process]:
    process = subprocess.Popen(
        [sys.executable, "-c", PROVIDER, "--port", str(PROVIDER_PORT)],
        stdout=subprocess.PIPE,
        cwd=environment.PROJECT,
    )
    try:
        assert process.stdout is not None
        process.stdout.readline()  # said once it listens
        yield psutil.Process(process.pid)
    finally:
        process.terminate()
        process.wait(10)


def _models(embedder: str) -> dict[str, str]:
    return {
        "OPENAI_API_KEY": "sk-benchmark",
        "OPENAI_BASE_URL": f"http://127.0.0.1:{PROVIDER_PORT}/v1",
        "KNOWLEX_EMBEDDER": embedder,
        "KNOWLEX_EMBEDDING_DIMENSIONS": "384",
        "KNOWLEX_RELEVANCE_THRESHOLD": "0",
    }


def _fill(stack: Stack, documents: int) -> int:
    """A sample and `documents` files of made-up facts; returns the number of chunks."""
    ingest(stack.client, SAMPLE.read_bytes(), SAMPLE.name)
    for n in range(documents):
        pdf = texts.facts_pdf(FACTS_PER_DOCUMENT, first=n * FACTS_PER_DOCUMENT, title=f"Lighthouses {n}")
        ingest(stack.client, pdf, f"lighthouses{n}.pdf")
    return embed(stack.client)


def _command(name: str, body: dict[str, object]) -> None:
    request = urllib.request.Request(
        f"http://127.0.0.1:{PROVIDER_PORT}/{name}", json.dumps(body).encode(), method="POST"
    )
    urllib.request.urlopen(request, timeout=10).read()


def _run(stack: Stack, provider: psutil.Process, options: argparse.Namespace) -> None:
    assert stack.web is not None
    web = psutil.Process(stack.web.pid)
    uvloop.run(_ask_for(WARM_UP_S, stack, options))
    trees = {"web": web, "models": provider, "postgres": _postmaster(stack), "valkey": stack.broker_process}
    meter = CpuMeter({**trees, "askers": psutil.Process()})
    started = time.perf_counter()
    tally = uvloop.run(_ask_for(options.seconds, stack, options))
    took = time.perf_counter() - started
    _report(tally, took, meter.used(), options)
    print(f"  web process: {web.num_threads()} threads, {web.memory_info().rss / 2**20:.0f} MiB", flush=True)


def _report(tally: Tally, took: float, cpu: dict[str, float], options: argparse.Namespace) -> None:
    times = sorted(tally.latencies)
    mean = statistics.fmean(times)
    print(
        f"  {len(times) / took:.0f} answers/s, latency mean {mean:.3f} s, p95 "
        f"{times[int(len(times) * 0.95)]:.3f} s: {options.model_seconds / mean:.0%} of the ideal; "
        f"{tally.failures} failures\n"
        f"  database connections in use: mean {statistics.fmean(tally.in_use):.1f}, at most "
        f"{max(tally.in_use)} of {tally.open} open"
    )
    each = ", ".join(f"{name} {seconds / len(times) * 1000:.2f}" for name, seconds in cpu.items())
    print(f"  CPU ms an answer: {each}", flush=True)


def _postmaster(stack: Stack) -> psutil.Process:
    (row,) = stack.postgres.execute(
        "SELECT split_part(pg_read_file('postmaster.pid'), chr(10), 1)::int AS pid"
    )
    return psutil.Process(row["pid"])


async def _ask_for(seconds: float, stack: Stack, options: argparse.Namespace) -> Tally:
    """`askers` who each ask again as soon as they are answered."""
    ends = time.perf_counter() + seconds
    tally = Tally()
    places = options.documents * FACTS_PER_DOCUMENT

    async def asker(number: int, session: aiohttp.ClientSession) -> None:
        await asyncio.sleep(number / options.askers * options.model_seconds)  # people do not ask in step
        while (asked := time.perf_counter()) < ends:
            number += options.askers
            body = {"query": texts.question(number % places)}
            async with session.post(f"{stack.url}{options.path}", json=body) as reply:
                answered = reply.status == 200 and ANSWERED in await reply.read()
            if answered:
                tally.latencies.append(time.perf_counter() - asked)
            else:
                tally.failures += 1

    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:
        watching = asyncio.create_task(_watch_connections(stack, tally))
        await asyncio.gather(*(asker(n, session) for n in range(options.askers)))
        watching.cancel()
    return tally


async def _watch_connections(stack: Stack, tally: Tally) -> None:
    while True:
        (row,) = await asyncio.to_thread(stack.postgres.execute, IN_USE, stack.database)
        tally.in_use.append(row["in_use"])
        tally.open = max(tally.open, row["open"])
        await asyncio.sleep(0.2)


if __name__ == "__main__":
    main()
