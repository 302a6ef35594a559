"""Many people asking at once, one web process, a chat model that takes a second.

    python -m benchmarks.askers [--askers 200] [--seconds 10] [--documents 20] [--path /api/v1/rag/ask]

Everything is real but the models, which a server on loopback plays (tests/provider.py, a process of its own).
The ideal is `askers / model seconds` answers a second. Where client, models and database share the cores with
the web process, the CPU per answer says more than the share of the ideal.
"""

import argparse
import asyncio
import json
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

from tests.support import environment

environment.set_environment()

import django  # noqa: E402

django.setup()

import aiohttp  # noqa: E402
import psutil  # noqa: E402

from tests.support import texts  # noqa: E402
from tests.support.api import embed, ingest  # noqa: E402
from tests.support.postgres import Postgres  # noqa: E402
from tests.support.stack import Stack  # noqa: E402

PROVIDER_PORT = 8199
FACTS_PER_DOCUMENT = 100
QUESTION_FIELD = {"/api/v1/rag/ask": "query", "/query": "query"}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--askers", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--model-seconds", type=float, default=1.0)
    parser.add_argument("--documents", type=int, default=20)
    parser.add_argument("--path", default="/api/v1/rag/ask", choices=QUESTION_FIELD)
    options = parser.parse_args()
    provider = subprocess.Popen(
        [sys.executable, "-m", "tests.provider", "--port", str(PROVIDER_PORT)], stdout=subprocess.PIPE
    )
    postgres = Postgres(Path(environment.DATA_DIR))
    try:
        assert provider.stdout is not None
        provider.stdout.readline()
        with Stack(postgres, environment.FOLDER / "askers", workers=2, env=_models()) as stack:
            _fill(stack, options.documents)
            slow = {"fault": "slow", "on": "chat", "seconds": options.model_seconds}
            _command("_rules", slow)
            _report(stack, options)
    finally:
        provider.terminate()
        provider.wait(10)
        postgres.stop()


def _models() -> dict[str, str]:
    url = f"http://127.0.0.1:{PROVIDER_PORT}/v1"
    return {
        "OPENAI_API_KEY": "sk-benchmark",
        "OPENAI_BASE_URL": url,
        "KNOWLEX_EMBEDDING_DIMENSIONS": "384",
        "KNOWLEX_RELEVANCE_THRESHOLD": "0",
        "LOG_LEVEL": "WARNING",
    }


def _fill(stack: Stack, documents: int) -> None:
    for n in range(documents):
        pdf = texts.facts_pdf(FACTS_PER_DOCUMENT, first=n * FACTS_PER_DOCUMENT, title=f"Lighthouses {n}")
        ingest(stack.client, pdf, f"lighthouses{n}.pdf")
    print(f"{embed(stack.client)} chunks embedded", flush=True)


def _command(name: str, body: dict[str, object]) -> None:
    request = urllib.request.Request(
        f"http://127.0.0.1:{PROVIDER_PORT}/{name}", json.dumps(body).encode(), method="POST"
    )
    urllib.request.urlopen(request, timeout=10).read()


def _report(stack: Stack, options: argparse.Namespace) -> None:
    assert stack.web is not None
    web = psutil.Process(stack.web.pid)
    asyncio.run(_ask_for(2.0, stack.url, options))
    before, threads = web.cpu_times(), web.num_threads()
    started = time.perf_counter()
    answers, failures = asyncio.run(_ask_for(options.seconds, stack.url, options))
    took, after = time.perf_counter() - started, web.cpu_times()
    cpu_s = after.user + after.system - before.user - before.system
    ideal = options.askers / options.model_seconds
    print(
        f"{options.askers} askers: {answers / took:.1f} answers/s, "
        f"{answers / took / ideal:.0%} of the ideal, "
        f"{failures} failed; web process {cpu_s / max(1, answers) * 1000:.2f} ms CPU an answer, "
        f"{web.num_threads()} threads (before: {threads}), {web.memory_info().rss / 2**20:.0f} MiB"
    )


async def _ask_for(seconds: float, url: str, options: argparse.Namespace) -> tuple[int, int]:
    """(answers, failures) of `askers` who each ask again as soon as they are answered."""
    ends = time.perf_counter() + seconds
    counts = [0, 0]
    places = options.documents * FACTS_PER_DOCUMENT

    async def asker(number: int, session: aiohttp.ClientSession) -> None:
        while time.perf_counter() < ends:
            number += options.askers
            body = {QUESTION_FIELD[options.path]: texts.question(number % places)}
            async with session.post(f"{url}{options.path}", json=body) as reply:
                await reply.read()
                counts[reply.status != 200] += 1

    connector = aiohttp.TCPConnector(limit=0)
    async with aiohttp.ClientSession(connector=connector) as session:
        await asyncio.gather(*(asker(n, session) for n in range(options.askers)))
    return counts[0], counts[1]


if __name__ == "__main__":
    main()
