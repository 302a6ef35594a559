"""What a question costs each process, as chunks grow, beside bare FastAPI with the same embedding and search.

    python -m benchmarks.cost FOLDER [--chunks 300 3000 30000] [--questions 150] [--rounds 3]
        --bench-python .bench/bin/python

All of Knowlex is real but the chat model, which answers at once (benchmarks/chat_model.py): local embeddings,
web server, two workers, which judge the answers afterwards. Knowlex and the bare application (bare_app.py)
take turns, with questions that neither has seen before. A turn ends when the workers have judged all answers:
what they and PostgreSQL do for that is counted, what all do when nobody asks is not. FOLDER: as for
benchmarks/ask.py. The chunks' vectors are means of their sentences' vectors, which are real.
"""

import argparse
import asyncio
import json
import os
import statistics
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from tests.support import environment

environment.set_environment()
os.environ["LOG_LEVEL"] = "WARNING"

import django

django.setup()

import aiohttp
import numpy as np
import psutil
import uvloop
from django.conf import settings
from django.db import connection

from benchmarks import bare
from benchmarks.ask import Library, read_texts, store, vector_of
from benchmarks.askers import Served, find_postmaster, is_serving, run_chat_model, web_environment
from benchmarks.usage import CpuMeter
from embeddings.indexing import maintain_indexes
from embeddings.protocols import SentenceAware, Span
from embeddings.types import EmbeddedText, Vector
from knowlex.runtime.components import component
from tests.support.postgres import Postgres
from tests.support.stack import Stack
from tests.support.waiting import wait_until

PASSAGES = 500  # whose sentences are embedded
AT_ONCE = 4
WARM_UP = 20  # questions
IDLE_S = 6.0  # two sweeps of a worker
_known: dict[str, Vector] = {}


class KnownSentences:
    """Embeds chunks by sentences that are embedded already: as the local model, but at once."""

    model_name, dimensions = "all-MiniLM-L6-v2", 384

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        return [vector_of(text) for text in texts]

    def embed_with_sentences(
        self, texts: Sequence[str], spans: Sequence[Sequence[Span]]
    ) -> list[EmbeddedText]:
        return [self._embed(text, own) for text, own in zip(texts, spans, strict=True)]

    def _embed(self, text: str, spans: Sequence[Span]) -> EmbeddedText:
        sentences = (text[start:end] for start, end in spans)
        vectors = np.array([_known.get(s, vector_of(s)) for s in sentences], np.float32)
        mean = vectors.mean(axis=0)
        return EmbeddedText(mean / np.linalg.norm(mean), vectors)


def main() -> None:
    options = _options()
    library = Library(read_texts(options.folder))
    library.passages = library.rng.sample(library.passages, min(PASSAGES, len(library.passages)))
    _embed_sentences(library)
    settings.KNOWLEX = {
        **settings.KNOWLEX,
        "EMBEDDER": {"class": "benchmarks.cost.KnownSentences", "provider": "local"},
    }
    postgres = Postgres(Path(environment.DATA_DIR))
    try:
        with run_chat_model(0.0) as (_, port):
            folder = environment.FOLDER / "cost"
            with Stack(postgres, folder, workers=2, env=web_environment(port)) as stack:
                connection.close()
                connection.settings_dict["NAME"] = stack.database
                stored = 0
                for size in sorted(options.chunks):
                    stack.kill_worker()  # it would embed some of the chunks itself, in its own way
                    store([library.chunk() for _ in range(size - stored)], first=stored)
                    stored = size
                    maintain_indexes()
                    connection.close()
                    stack.start_worker()
                    _let_workers_run(stack)
                    _measure_size(size, library, stack, port, options)
    finally:
        connection.close()
        postgres.stop()


def _let_workers_run(stack: Stack) -> None:
    """Where the machine is busy a turn would never end: they leave the cores to others."""
    assert stack.worker is not None
    for process in (psutil.Process(stack.worker.pid), *stack.worker_children()):
        with suppress(psutil.AccessDenied, OSError):
            process.nice(0)
            Path(f"/proc/{process.pid}/autogroup").write_text("0")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--chunks", type=int, nargs="+", default=[300, 3000, 30000])
    parser.add_argument("--questions", type=int, default=150, help="of a turn")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--path", default="/api/v1/rag/ask")
    parser.add_argument("--bench-python", required=True, help="of an environment with FastAPI")
    return parser.parse_args()


def _embed_sentences(library: Library) -> None:
    embedder = component("EMBEDDER", SentenceAware)
    for sentences in library.passages:
        text, spans, end = "\n".join(sentences), list[Span](), 0
        for sentence in sentences:
            spans.append((end, end + len(sentence)))
            end += len(sentence) + 1
        (embedded,) = embedder.embed_with_sentences([text], [spans])
        if embedded.sentences is not None:
            for sentence, vector in zip(sentences, embedded.sentences, strict=True):
                if (norm := np.linalg.norm(vector)) > 0:
                    _known[sentence] = vector / norm


def _measure_size(size: int, library: Library, stack: Stack, port: int, options: argparse.Namespace) -> None:
    questions = [library.question() for _ in range(options.rounds * options.questions + WARM_UP)]
    assert stack.web is not None
    web = Served("Knowlex", stack.url + options.path, "query", [psutil.Process(stack.web.pid)], "knowlex")
    stack.warm_web()
    used: dict[str, list[dict[str, float]]] = {"Knowlex": [], "FastAPI": []}
    stages: list[dict[str, float]] = []
    with _bare(options, stack, questions, port) as beside:
        for one in (web, beside):
            _take_turn(one, questions[:WARM_UP], stack)
        for number in range(options.rounds):
            own = questions[WARM_UP + number * options.questions :][: options.questions]
            for one in (web, beside) if number % 2 == 0 else (beside, web):
                cpu, told = _take_turn(one, own, stack)
                used[one.name].append(cpu)
                stages += told
    _report(size, used, stages)


@contextmanager
def _bare(options: argparse.Namespace, stack: Stack, questions: Sequence[str], port: int) -> Iterator[Served]:
    given = stack.folder / "bare.json"
    model = f"http://127.0.0.1:{port}/v1"
    given.write_text(json.dumps(bare.given(stack.postgres.url(stack.database), model, questions)))
    with bare.served(options.bench_python, given) as (process, url):
        wait_until(lambda: is_serving(url), 30, "the bare application")
        yield Served("FastAPI", f"{url}/ask", "query", [process], "bare")


def _take_turn(
    one: Served, questions: Sequence[str], stack: Stack
) -> tuple[dict[str, float], list[dict[str, float]]]:
    """Return CPU milliseconds a question by process, and the answers' milliseconds by stage."""
    processes = {"web": one.processes[0], "postgres": find_postmaster(stack)}
    if one.name == "Knowlex":
        assert stack.worker is not None
        processes |= {"workers": psutil.Process(stack.worker.pid), "valkey": stack.broker_process}
    idle, meter, started = _idle_shares(processes), CpuMeter(processes), time.perf_counter()
    told = uvloop.run(_ask_all(one, questions))
    if one.name == "Knowlex":
        wait_until(lambda: _is_judged(stack), 600, "the judging of the answers")
    took = time.perf_counter() - started
    used = {name: max(0.0, seconds - idle[name] * took) for name, seconds in meter.used().items()}
    return {name: seconds * 1000 / len(questions) for name, seconds in used.items()}, told


def _idle_shares(processes: Mapping[str, psutil.Process]) -> dict[str, float]:
    """Return the share of a core that each takes when nobody asks."""
    meter, started = CpuMeter(processes), time.perf_counter()
    time.sleep(IDLE_S)
    took = time.perf_counter() - started
    return {name: seconds / took for name, seconds in meter.used().items()}


def _is_judged(stack: Stack) -> bool:
    time.sleep(0.3)  # of the counting itself little is to be counted
    return stack.count("rag_response", "faithfulness_judged_at IS NULL AND answer <> ''") == 0


async def _ask_all(one: Served, questions: Sequence[str]) -> list[dict[str, float]]:
    waiting, told = iter(questions), list[dict[str, float]]()

    async def ask(session: aiohttp.ClientSession) -> None:
        for question in waiting:
            async with session.post(one.url, json={one.field: question}) as reply:
                body: dict[str, Any] = await reply.json()
            if reply.status != 200:
                raise RuntimeError(f"{one.name} answered {reply.status}: {body}")
            if stages := body.get("metadata", body).get("stageTimesMs"):
                told.append(stages)

    async with aiohttp.ClientSession() as session:
        await asyncio.gather(*(ask(session) for _ in range(AT_ONCE)))
    return told


def _report(size: int, used: dict[str, list[dict[str, float]]], stages: Sequence[dict[str, float]]) -> None:
    print(f"{size} chunks, load average {os.getloadavg()[0]:.1f}; CPU ms a question, mean (least to most)")
    for name, turns in used.items():
        each = (f"{part} {_spread([turn[part] for turn in turns])}" for part in turns[0])
        print(f"  {name}: {', '.join(each)}, all {_spread([sum(turn.values()) for turn in turns])}")
    names = dict.fromkeys(name for stage in stages for name in stage)
    medians = (f"{name} {statistics.median(s.get(name, 0.0) for s in stages):.2f}" for name in names)
    print(f"  stages of Knowlex, ms at the median: {', '.join(medians)}", flush=True)


def _spread(values: Sequence[float]) -> str:
    return f"{statistics.fmean(values):.1f} ({min(values):.1f} to {max(values):.1f})"


if __name__ == "__main__":
    main()
