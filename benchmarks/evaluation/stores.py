"""Does every store give the same passages in the same order for the same vectors?

    python -m benchmarks.evaluation.stores FOLDER [--stores memory chroma] [--cache FOLDER] [--top-k 10]

FOLDER: as for compare_orders. PostgreSQL, Chroma's server and Qdrant's local mode run in temporary folders.
All documents go into one collection each part (articles and filings, book, test collections), every question
is asked of its own collection and of all at once; what pgvector's exact search gives is compared with what
the other stores do. Apart from ties: passages whose distances differ by less than a float32 can tell.
"""

import argparse
import asyncio
import os
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from itertools import islice
from pathlib import Path
from typing import Any
from uuid import UUID

from tests.support import environment

environment.set_environment()
os.environ["LOG_LEVEL"] = "WARNING"

import django

django.setup()

import numpy as np
from django.conf import settings
from django.core.management import call_command
from django.db import connection, transaction
from django.test import override_settings

from benchmarks.evaluation.corpus import read_passages
from benchmarks.evaluation.sets import rows, vectors_of
from benchmarks.evaluation.vectors import Vectors
from documents.models import Chunk, Collection, Document
from embeddings.external.configuration import space_of
from embeddings.external.delivery import read_batches
from embeddings.external.outbox import Entry
from embeddings.models import EmbeddingModel
from embeddings.protocols import VectorStore
from embeddings.types import ClaimedChunk, EmbeddedText
from embeddings.vectors.rows import insert_vectors
from knowlex.db.pool import close_pool
from knowlex.runtime.components import component
from rag.answering import lifecycle, services
from rag.types.question import Mode, Question
from rag.types.retrieval import Passage, SearchResult
from tests.support.chroma import ChromaServer
from tests.support.postgres import Postgres
from tests.support.qdrant import QdrantServer

MODEL = "all-MiniLM-L6-v2"
SERVERS = {"chroma": ChromaServer, "qdrant": QdrantServer}
KINDS = ("memory", *SERVERS)
MODES: tuple[Mode, ...] = ("hybrid", "dense")
TIE = 2e-6
Asked = list[tuple[str, list[tuple[UUID, float]]]]


def main() -> None:
    arguments = parse_arguments()
    with database(), tempfile.TemporaryDirectory() as folder, ExitStack() as running:
        vectors = vectors_of(MODEL, settings.MODELS_DIR, arguments.cache)
        asked = dict(ingested(arguments.folder, Path(folder), vectors))
        print(f"{Chunk.objects.count()} chunks, {sum(map(len, asked.values()))} questions", flush=True)
        truth = found(asked, arguments.top_k)
        print(f"\n| store | mode | searches | same order | same passages | CPU ms of ours |\n|{' --- |' * 6}")
        for kind in arguments.stores:
            with used(kind, running, Path(folder)):
                started = time.process_time()
                compared = found(asked, arguments.top_k)
                cpu = (time.process_time() - started) * 1000
                tell(kind, truth, compared, cpu / sum(map(len, compared.values())))


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--cache", type=Path, default=Path(".vectors"))
    parser.add_argument("--stores", nargs="+", choices=KINDS, default=KINDS)
    parser.add_argument("--top-k", type=int, default=10)
    return parser.parse_args()


@contextmanager
def database() -> Iterator[None]:
    server = Postgres(environment.DATA_DIR, shared_buffers="128MB")
    try:
        server.create_database("knowlex")
        call_command("migrate", verbosity=0)
        yield
    finally:
        connection.close()
        server.stop()


def ingested(folder: Path, spare: Path, vectors: Vectors) -> Iterator[tuple[str, list[str]]]:
    """Each part becomes a collection; its name and the questions that are asked of it."""
    model = EmbeddingModel.objects.create(
        name=MODEL, provider="local", dimensions=384, active=True, wanted=True, options={}
    )
    documents = rows(folder / "documents.jsonl")
    files = [folder / "docs" / row["file"] for row in documents]
    parts = {
        "documents": (files, [row["question"] for row in rows(folder / "questions.jsonl")]),
        "book": (sorted(folder.glob("books/*/*.md")), questions_of(folder / "book_questions.jsonl")),
        **{one.name: beir(one, spare) for one in sorted(folder.glob("beir/*"))},
    }
    languages = {row["file"]: row["lang"] for row in documents}
    for name, (paths, questions) in parts.items():
        store_passages(name, read_passages(paths, languages), vectors, model.pk)
        yield name, questions
    vectors.save()


def questions_of(path: Path) -> list[str]:
    return [row["question"] for row in rows(path)]


def beir(folder: Path, spare: Path) -> tuple[list[Path], list[str]]:
    texts = [row for row in rows(folder / "corpus.jsonl") if row["title"] or row["text"]]
    paths = [spare / f"{row['_id']}.txt" for row in texts]
    for path, row in zip(paths, texts, strict=True):
        path.write_text(f"{row['title']}\n\n{row['text']}\n")
    return paths, [row["text"] for row in rows(folder / "queries.jsonl")]


def store_passages(name: str, passages: Iterable[Passage], vectors: Vectors, model_id: int) -> None:
    collection, _ = Collection.objects.get_or_create(name=name)
    by_file: dict[str, list[Passage]] = {}
    for passage in passages:
        by_file.setdefault(passage.document_name, []).append(passage)
    for number, (file, chunks) in enumerate(by_file.items()):
        with transaction.atomic():
            document = Document.objects.create(
                collection=collection, source="TEXT", original_filename=file, title=chunks[0].title,
                checksum=f"{number:064x}", size_bytes=1, page_count=1, chunk_count=len(chunks),
                language=chunks[0].language,
            )  # fmt: skip
            stored = Chunk.objects.bulk_create(chunk_of(document, one) for one in chunks)
            held = [ClaimedChunk(one.id, one.content) for one in stored]
            insert_vectors(
                model_id=model_id, chunks=held, embedded=[embedded(vectors, one.content) for one in stored]
            )


def chunk_of(document: Document, passage: Passage) -> Chunk:
    names = ("chunk_index", "content", "page_number", "last_page", "chapter", "section", "start_char")
    fields = {name: getattr(passage, name) for name in names}
    end = passage.start_char + len(passage.content)
    return Chunk(document=document, token_count=passage.token_count, end_char=end, **fields)


def embedded(vectors: Vectors, text: str) -> EmbeddedText:
    vector, spans, sentences = vectors.passage(text)
    if sentences is None:
        return EmbeddedText(vector)
    return EmbeddedText(vector, sentences.astype(np.float32), tuple(spans or ()))


@contextmanager
def used(kind: str, running: ExitStack, folder: Path) -> Iterator[None]:
    """The store holds what PostgreSQL does, and is searched."""
    part: dict[str, Any] = dict(settings.VECTOR_STORES[kind])
    if kind in SERVERS:
        server = running.enter_context(SERVERS[kind](folder / kind))
        part["options"] = {**part["options"], "url": server.url, "timeout_s": 30.0}
    with override_settings(KNOWLEX={**settings.KNOWLEX, "VECTOR_STORE": part}):
        if kind in SERVERS:
            asyncio.run(shipped())
        yield


async def shipped() -> None:
    store = component("VECTOR_STORE", VectorStore)
    model_id, entries = await asyncio.to_thread(everything)
    rest = iter(entries)
    while some := list(islice(rest, 300)):
        for parcel in await asyncio.to_thread(read_batches, some):
            await parcel.send(store)
    print(f"{len(entries)} vectors in {space_of(model_id, 384).name}", flush=True)
    await store.aclose()


def everything() -> tuple[int, list[Entry]]:
    model = EmbeddingModel.objects.get(active=True)
    return model.pk, [Entry(model.pk, one, 0) for one in Chunk.objects.values_list("id", flat=True)]


def found(asked: dict[str, list[str]], top_k: int) -> dict[Mode, Asked]:
    """By every mode, each question in its own collection, and in all."""
    ids = dict(Collection.objects.values_list("name", "id"))
    everywhere = tuple(ids[name] for name in asked)
    reads = [
        (text, collections)
        for name, texts in asked.items()
        for text in texts
        for collections in ((ids[name],), everywhere)
    ]

    async def all_of(mode: Mode) -> Asked:
        results: Asked = []
        for text, collections in reads:
            question = Question(text, collections, top_k=top_k, mode=mode, min_relevance=0.0)
            results.append((text, shown(await services.search(question))))
        await lifecycle.close()
        await close_pool()
        return results

    return {mode: asyncio.run(all_of(mode)) for mode in MODES}


def shown(result: SearchResult) -> list[tuple[UUID, float]]:
    return [(passage.chunk_id, passage.score) for passage in result.passages]


def tell(kind: str, truth: dict[Mode, Asked], compared: dict[Mode, Asked], cpu_ms: float) -> None:
    for mode, expected in truth.items():
        pairs = list(zip(expected, compared[mode], strict=True))
        ordered = sum(is_same(right, got) for (_, right), (_, got) in pairs)
        unordered = sum(
            {one for one, _ in right} == {one for one, _ in got} for (_, right), (_, got) in pairs
        )
        print(f"| {kind} | {mode} | {len(pairs)} | {ordered} | {unordered} | {cpu_ms:.1f} |", flush=True)
        for (text, right), (_, got) in pairs:
            if not is_same(right, got):
                print(f"    differs: {text[:80]!r}")


def is_same(right: list[tuple[UUID, float]], got: list[tuple[UUID, float]]) -> bool:
    """In order, but for passages of the same score, which may change places."""
    if len(right) != len(got):
        return False
    return all(
        one == other or abs(score - score_too) < TIE
        for (one, score), (other, score_too) in zip(right, got, strict=True)
    )


if __name__ == "__main__":
    main()
