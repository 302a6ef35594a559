"""recall@10 and latency of exact search and of each vector index, as Knowlex builds and uses them.

    python -m benchmarks.vector_index FOLDER --rows 10000 100000 [--data .vectors] [--bench-python PYTHON]

FOLDER holds texts (.txt .md .rst .html, also .gz); its chunks and vectors are kept in --data, and FOLDER is
not needed again. Questions are pieces of texts that are not stored. With --bench-python, an environment that
has chromadb and qdrant-edge-py, these two get the same vectors. PostgreSQL runs in a temporary folder; each
index is built, measured and tuned by Knowlex's own code, and searched by its own statements through its pool:
everything, one collection with a hundredth of the rows, and by tags of documents that have 1 % and 20 %.
"""

import argparse
import asyncio
import json
import os
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import UUID

from tests.support import environment

environment.set_environment()
os.environ["LOG_LEVEL"] = "WARNING"

import django

django.setup()

import numpy as np
import psutil
import psycopg
from django.conf import settings
from django.core.management import call_command
from django.db import connection

from benchmarks.vector_data import Matrix, prepared
from benchmarks.vector_engines import MARKED_ONE_IN, K
from embeddings import indexing
from embeddings.models import EmbeddingModel, VectorIndex
from embeddings.search import dense
from embeddings.vectors.rows import vector_text
from knowlex.db import pool
from knowlex.db.threads import execute
from rag.retrievers import statements
from rag.retrievers.filtering import Condition, build_condition
from rag.types.question import Filters
from tests.support.postgres import Postgres

ALL, MARKED = UUID(int=1), UUID(int=2)  # collections; the second holds one row in a hundred
A_DOCUMENT = 20  # chunks
RARE, WIDE = 100, 5  # one document in so many has the tag
FILTERS: dict[str, Condition | None] = {
    "": None,
    "1 %, a collection": None,
    "1 %, a tag": build_condition(Filters(tags=("rare",))),
    "20 %, a tag": build_condition(Filters(tags=("wide",))),
}
KINDS = [
    ("none", "vector"),
    ("ivfflat", "vector"),
    ("hnsw", "vector"),
    ("ivfflat", "halfvec"),
    ("hnsw", "halfvec"),
]
INSERTED, BATCH = 1000, 20
HEADER = "| rows | engine | filter | recall@10 | CPU ms | p50 ms | build CPU s | rows stored a CPU-s | how |"


def main() -> None:
    arguments = parse_arguments()
    settings.DEBUG = False
    most = max(arguments.rows)
    vectors, questions = prepared(arguments.folder, arguments.data, most, settings.MODELS_DIR)
    questions = questions[: arguments.questions]
    print(f"\n{HEADER}\n|{' --- |' * 9}", flush=True)
    with database() as load:
        for rows in sorted(arguments.rows):
            load(vectors[:rows])
            truth = {name: neighbours(vectors[:rows], questions, name) for name in FILTERS}
            for kind, storage in KINDS:
                knowlex(rows, kind, storage, vectors, questions, truth)
            for name in ("qdrant", "chroma") if arguments.bench_python else ():
                other(name, arguments.bench_python, vectors[:rows], questions, truth)


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--rows", type=int, nargs="+", default=[10_000])
    parser.add_argument("--data", type=Path, default=Path(".vectors"))
    parser.add_argument("--questions", type=int, default=200)
    parser.add_argument("--bench-python", type=Path)
    return parser.parse_args()


def neighbours(vectors: Matrix, questions: Matrix, name: str) -> list[float]:
    """The cosine distance of each question's K-th neighbour among the rows that pass."""
    among = vectors[passing(name, len(vectors))]
    unit = among / np.linalg.norm(among, axis=1, keepdims=True)
    found = []
    for question in questions:
        distances = np.sort(1 - unit @ (question / np.linalg.norm(question)))
        found.append(float(distances[min(K, len(distances)) - 1]))
    return found


def passing(name: str, rows: int) -> Any:
    """Which rows, as booleans."""
    numbers = np.arange(rows)
    in_marked = numbers % MARKED_ONE_IN == 0
    if name.endswith("collection"):
        return in_marked
    if name.endswith("tag"):
        return numbers // A_DOCUMENT % (RARE if name.startswith("1 %") else WIDE) == 0
    return numbers >= 0


@contextmanager
def database() -> Iterator[Callable[[Matrix], None]]:
    """A migrated database; `load` fills it with these rows and no others."""
    server = Postgres(environment.DATA_DIR, shared_buffers="128MB")
    try:
        server.create_database("knowlex")
        call_command("migrate", verbosity=0)
        model = EmbeddingModel.objects.create(
            name=settings.KNOWLEX["EMBEDDER"]["options"]["model_name"], provider="local", dimensions=384,
            active=True, wanted=True,
        )  # fmt: skip
        yield lambda vectors: fill(model, vectors)
    finally:
        connection.close()
        server.stop()


def fill(model: EmbeddingModel, vectors: Matrix) -> None:
    """Vectors and chunks without text."""
    indexing.drop_index(model.pk)
    execute("TRUNCATE embeddings_embedding")
    with raw() as database_, database_.cursor() as cursor:
        cursor.execute("SET session_replication_role = replica")
        fill_documents(cursor, len(vectors))
        columns = "(chunk_id, model_id, collection_id, vector, created_at)"
        with cursor.copy(f"COPY embeddings_embedding {columns} FROM STDIN") as copy:
            for n, vector in enumerate(vectors):
                copy.write_row(row_of(n, model.pk, vector))
        for table in ("embeddings_embedding", "documents_chunk", "documents_document"):
            cursor.execute(f"VACUUM ANALYZE {table}")
        cursor.execute("TRUNCATE embeddings_lexemecount")
        shares = {MARKED: len(vectors[::MARKED_ONE_IN]), ALL: len(vectors) - len(vectors[::MARKED_ONE_IN])}
        for collection, chunks in shares.items():
            cursor.execute(
                "INSERT INTO embeddings_lexemecount (collection_id, lexeme, chunks) VALUES (%s, '', %s)",
                [collection, chunks],
            )


def fill_documents(cursor: psycopg.Cursor[Any], rows: int) -> None:
    """All in one collection: which, is nothing to a filter by tag."""
    cursor.execute("TRUNCATE documents_document, documents_collection, documents_chunk CASCADE")
    cursor.execute(
        "INSERT INTO documents_collection (id, name, description, settings, created_at)"
        " VALUES (%s, 'all', '', '{}', now())",
        [ALL],
    )
    cursor.execute(
        "INSERT INTO documents_document (id, collection_id, source, original_filename, title, checksum,"
        " size_bytes, file, page_count, chunk_count, metadata, warnings, created_at)"
        " SELECT lpad(to_hex(n), 32, '0')::uuid, %s, 'TEXT', n || '.txt', '', lpad(n::text, 64), 1,"
        " '', 1, %s, jsonb_build_object('tags', array_remove(ARRAY["
        "   CASE WHEN n %% %s = 0 THEN 'rare' END, CASE WHEN n %% %s = 0 THEN 'wide' END], NULL)),"
        " '[]', now() FROM generate_series(0, %s) AS n",
        [ALL, A_DOCUMENT, RARE, WIDE, (rows - 1) // A_DOCUMENT],
    )
    columns = "id, document_id, chunk_index, content, start_char, end_char, token_count, chapter, section"
    with cursor.copy(f"COPY documents_chunk ({columns}, created_at) FROM STDIN") as copy:
        for n in range(rows):
            document = UUID(int=n // A_DOCUMENT)
            copy.write_row((id_of(n), document, n % A_DOCUMENT, "-", 0, 1, 1, "", "", "2026-11-22"))


def id_of(n: int) -> UUID:
    """In the order of their making, as UUIDs of version 7 are."""
    return UUID(int=(7 << 100) + (n << 64))


def row_of(n: int, model_id: int, vector: Any) -> tuple[Any, ...]:
    collection = MARKED if n % MARKED_ONE_IN == 0 else ALL
    return id_of(n), model_id, collection, vector_text(vector), "2026-11-22"


@contextmanager
def raw() -> Iterator[psycopg.Connection]:
    with psycopg.connect(**pool._connection_arguments(connection.settings_dict), autocommit=True) as opened:
        yield opened


def knowlex(
    rows: int, kind: str, storage: str, vectors: Matrix, questions: Matrix, truth: dict[str, list[float]]
) -> None:
    settings.VECTOR_INDEX, settings.VECTOR_INDEX_STORAGE = kind, storage
    model = EmbeddingModel.objects.get()
    build_s, how = build(model, kind)
    stored = stored_per_second(model, vectors)
    for filtered in FILTERS:
        recall, cpu_ms, p50_ms, way = asyncio.run(searched(questions, truth[filtered], filtered))
        name = "Knowlex exact" if kind == "none" else f"Knowlex {kind} {storage}"
        told = [
            f"{recall:.3f}",
            f"{cpu_ms:.1f}",
            f"{p50_ms:.1f}",
            f"{build_s:.1f}",
            f"{stored:.0f}",
            how + way,
        ]
        line(rows, name, filtered, told)


def build(model: EmbeddingModel, kind: str) -> tuple[float, str]:
    """CPU seconds of PostgreSQL, the measuring that belongs to a build included; and what came of it."""
    indexing.drop_index(model.pk)
    execute("VACUUM ANALYZE embeddings_embedding")
    if kind == "none":
        return 0.0, ""
    process = psutil.Process(execute("SELECT pg_backend_pid()")[0][0])
    before = sum(process.cpu_times()[:2])
    indexing.rebuild(model)
    state = VectorIndex.objects.get(model=model)
    state.exact_below = min(state.exact_below, state.rows // 2)  # asked also where exact would be preferred
    state.save(update_fields=["exact_below"])
    lists = f"lists {state.lists}, " if state.lists else ""
    return sum(process.cpu_times()[:2]) - before, f"{lists}effort {state.effort}, measured {state.recall:.3f}"


def stored_per_second(model: EmbeddingModel, vectors: Matrix) -> float:
    """Rows that PostgreSQL takes in with a second of CPU, 20 in a transaction; they are deleted again."""
    ids = [UUID(int=(8 << 100) + n) for n in range(INSERTED)]
    with raw() as database_:
        process = psutil.Process(database_.info.backend_pid)
        database_.execute("SET session_replication_role = replica")
        before = sum(process.cpu_times()[:2])
        for start in range(0, INSERTED, BATCH):
            some = range(start, start + BATCH)
            near = [vector_text(vectors[n * 7 % len(vectors)] + 0.02) for n in some]
            database_.execute(
                "INSERT INTO embeddings_embedding (chunk_id, model_id, collection_id, vector, created_at)"
                " SELECT g.id, %s, %s, g.vector::vector, now()"
                " FROM unnest(%s::uuid[], %s::text[]) AS g (id, vector)",
                [model.pk, ALL, [ids[n] for n in some], near],
            )
        used = sum(process.cpu_times()[:2]) - before
        database_.execute("DELETE FROM embeddings_embedding WHERE chunk_id = ANY(%s)", [ids])
        database_.execute("VACUUM ANALYZE embeddings_embedding")
    return INSERTED / max(used, 0.01)


async def searched(
    questions: Matrix, truth: Sequence[float], filtered: str
) -> tuple[float, float, float, str]:
    """recall@10, PostgreSQL's CPU and median latency of a search's two statements, and which way it took.

    Raises AssertionError if a search brings fewer rows than there are.
    """
    there = min(K, int(passing(filtered, await rows_stored()).sum()))
    try:
        ways = {(await found(question, filtered))[1] for question in questions[:6]}
        pids = await pool.fetch_all("SELECT pid FROM pg_stat_activity WHERE application_name = 'knowlex'")
        processes = [psutil.Process(row["pid"]) for row in pids]
        before = sum(sum(process.cpu_times()[:2]) for process in processes)
        hits, times = 0, []
        for question, farthest in zip(questions, truth, strict=True):
            started = time.perf_counter()
            distances, _ = await found(question, filtered)
            times.append((time.perf_counter() - started) * 1000)
            assert len(distances) == there, "rows are missing"
            hits += sum(distance <= farthest + 1e-5 for distance in distances)
        used = sum(sum(process.cpu_times()[:2]) for process in processes) - before
    finally:
        await pool.close_pool()
    way = "/".join(sorted(ways))
    return hits / there / len(questions), used / len(questions) * 1000, statistics.median(times), way


async def rows_stored() -> int:
    (row,) = await pool.fetch_all("SELECT count(*) AS rows FROM embeddings_embedding")
    return int(row["rows"])


async def found(question: Any, filtered: str) -> tuple[list[float], str]:
    """Distances, closest first, and whether the index was used."""
    condition = FILTERS[filtered]
    collections = [MARKED] if filtered.endswith("collection") else [ALL, MARKED]
    parameters = {"vector": vector_text(question), "collections": collections, "limit": K}
    if condition:
        return await found_passing(condition, parameters)
    model = await dense.fetch_search_model(collections)
    assert model is not None
    rows = await pool.fetch_all(_statement(model), parameters, setup=model.setup)
    return [row["distance"] for row in rows], way_of(model)


async def found_passing(condition: Condition, parameters: dict[str, Any]) -> tuple[list[float], str]:
    """By the retriever's statements, which bring the passages too."""
    parameters = {**parameters, "candidates": K, "lexemes": [""], "model": None, **condition.parameters}
    scope = await pool.fetch_one(statements.select_scope(condition.conditions), parameters)
    assert scope is not None
    narrow = scope["passing"] < dense.NARROW
    model = dense.search_model_of(scope).filtered(narrow=narrow)
    statement = statements.search_by_meaning(model, "dense", condition.conditions, narrow)
    rows = await pool.fetch_all(statement, parameters, setup=model.setup)
    return [row["distance"] for row in rows], way_of(model)


def way_of(model: dense.SearchModel) -> str:
    return f" (by index, effort {model.effort})" if model.index else " (exact)"


def _statement(model: dense.SearchModel) -> bytes:
    if model not in _statements:
        _statements[model] = dense.dense_statement(model).as_bytes(None)
    return _statements[model]


_statements: dict[dense.SearchModel, bytes] = {}


def other(name: str, python: Path, vectors: Matrix, questions: Matrix, truth: dict[str, list[float]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        np.save(f"{folder}/vectors.npy", vectors)
        np.save(f"{folder}/questions.npy", questions)
        script = str(Path(__file__).with_name("vector_engines.py"))
        files = [f"{folder}/vectors.npy", f"{folder}/questions.npy", f"{folder}/{name}"]
        done = subprocess.run([str(python), script, name, *files], stdout=subprocess.PIPE, check=True)
    report = json.loads(done.stdout.splitlines()[-1])
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    for filtered, key in (("", "all"), ("1 %, a collection", "filtered")):
        hits = 0
        for question, ids, farthest in zip(questions, report[key]["found"], truth[filtered], strict=True):
            distances = 1 - unit[ids] @ (question / np.linalg.norm(question))
            hits += int((distances <= farthest + 1e-5).sum())
        told = [f"{hits / K / len(questions):.3f}", f"{report[key]['cpu_ms']:.1f}"]
        line(
            len(vectors),
            name,
            filtered,
            [*told, f"{report[key]['p50_ms']:.1f}", f"{report['build_cpu_s']:.1f}", "", ""],
        )


def line(rows: int, name: str, filtered: str, told: Sequence[str]) -> None:
    cells = [f"{rows:,}", name, filtered, *told]
    print("| " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
