"""How long each mode of retrieval takes, by the number of chunks, through the API; figures to read by eye.

    python -m benchmarks.search DATA [--rows 10000 100000] [--questions 50] [--readable 100 10 1]

DATA is a folder that `benchmarks.vector_index` filled: chunks of real text, their vectors, and pieces of
other chunks as questions. A hundred chunks make a document, each in one chapter of five; one document in a
hundred has the tag `rare`, one in ten is in a collection of its own, `tenth`, the others in `default`. Chunks
whose vectors are not there yet get none; the modes that need them are then left out.

With --readable a key asks instead, first without permissions, then with all documents restricted and so many
per cent of them for the key: CPU of PostgreSQL for a search, and recall@10 against the same search before an
index was there. Ten chunks make a document then.
"""

import argparse
import gzip
import json
import time
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import psutil
import psycopg

from tests.support import environment

environment.set_environment()

from benchmarks.vector_data import read_questions
from embeddings.lexical.index import sparse_text
from embeddings.lexical.terms import lexemes, term_weights
from knowlex.base.ids import new_id
from tests.keys.key_factory import as_key, make_key
from tests.support.postgres import Postgres
from tests.support.stack import Stack

A_DOCUMENT = 100
RARE = {"tags": ["rare"]}
MODES = ("sparse", "dense", "hybrid")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path)
    parser.add_argument("--rows", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--questions", type=int, default=50)
    parser.add_argument("--readable", type=int, nargs="+", metavar="PERCENT", help="with permissions")
    options = parser.parse_args()
    postgres = Postgres(Path(environment.DATA_DIR))
    questions = read_questions(options.data)[: options.questions]
    try:
        if options.readable:
            _compare_permissions(postgres, options, questions)
            return
        with Stack(postgres, environment.FOLDER / "search", workers=0, env={}) as stack:
            stack.client.post("/v1/search", json={"query": "makes the model and the collection"})
            loaded = 0
            for rows in sorted(options.rows):
                with_vectors = _load(stack, options.data, loaded, rows)
                loaded = rows
                _measure(stack, rows, questions, only_words=with_vectors < rows)
    finally:
        postgres.stop()


def _measure(stack: Stack, rows: int, questions: Sequence[str], *, only_words: bool) -> None:
    print(f"{rows} chunks: median and 95th percentile of the retrieval, CPU of PostgreSQL and of the web")
    print("process for a whole request, ms", flush=True)
    for name, body in _requests():
        if only_words and name.startswith(("dense", "hybrid")):
            continue
        times, before = [], _cpu_ms(stack)
        for text in questions:
            words = text.split()
            query = {"inner": " ".join(words[2:8]), "word": max(words, key=len)}.get(name.split()[-1], text)
            reply = stack.client.post("/v1/search", json={"query": query, **body})
            failed = not reply.is_success
            times.append(np.inf if failed else reply.json()["stage_times_ms"]["retrieve"])
        after = _cpu_ms(stack)
        used = [sum(after[k].values()) - sum(before[k].get(p, 0) for p in after[k]) for k in (0, 1)]
        told = [np.median(times), np.percentile(times, 95), *(each / len(questions) for each in used)]
        failures = sum(map(np.isinf, times))
        print(f"  {name:28}" + "".join(f"{each:9.1f}" for each in told), f"{failures} failed", flush=True)


def _compare_permissions(postgres: Postgres, options: argparse.Namespace, questions: Sequence[str]) -> None:
    rows = max(options.rows)
    env = {"KNOWLEX_REQUIRE_API_KEY": "true", "KNOWLEX_RATE_LIMIT": "1000000/min"}
    with Stack(postgres, environment.FOLDER / "permissions", workers=0, env=env) as stack:
        _load(stack, options.data, 0, rows, a_document=10, index=False)
        client = as_key(stack, make_key(stack, "read"))
        key = f"key:{stack.sql('SELECT id FROM documents_apikey')[0]['id']}"
        cases = [(share, mode) for share in (None, *options.readable) for mode in MODES]
        exact = {}
        for share, mode in cases:
            _restrict(stack, key, share)
            exact[share, mode] = [_ten_nearest(client, text, mode)[0] for text in questions]
        print(stack.manage("vector_index", "build"))
        print(f"{rows} chunks, {len(questions)} questions\n")
        print("| may read | mode | CPU of PostgreSQL, ms | retrieval p50, ms | recall@10 |")
        print("| --- | --- | --- | --- | --- |", flush=True)
        for share, mode in cases:
            _restrict(stack, key, share)
            found = [_ten_nearest(client, text, mode)[0] for text in questions]  # and what is read is cached
            before = _cpu_ms(stack)[0]
            times = [_ten_nearest(client, text, mode)[1] for text in questions]
            after = _cpu_ms(stack)[0]
            cpu = (sum(after.values()) - sum(before.get(process, 0) for process in after)) / len(questions)
            nearest = exact[share, mode]
            recall = sum(len(a & b) for a, b in zip(found, nearest, strict=True)) / sum(map(len, nearest))
            who = "no permissions" if share is None else f"{share} %"
            print(f"| {who} | `{mode}` | {cpu:.1f} | {np.median(times):.1f} | {recall:.3f} |", flush=True)


def _restrict(stack: Stack, key: str, share: int | None) -> None:
    """Leave every document public where there is no share, else let the key alone read that share of them."""
    visibility = "public" if share is None else "private"
    stack.sql(
        "UPDATE documents_document SET permissions = jsonb_build_object('visibility', %s::text),"
        " brought_by = CASE WHEN split_part(original_filename, '.', 1)::int %% 100 < %s THEN %s ELSE '' END",
        visibility,
        100 if share is None else share,
        key,
    )
    stack.sql("VACUUM ANALYZE documents_document")


def _ten_nearest(client: httpx.Client, text: str, mode: str) -> tuple[set[str], float]:
    """Return the ids of the best ten chunks, and the milliseconds of the retrieval."""
    body = {"query": text, "settings": {"mode": mode, "rerank": False, "top_k": 10}}
    reply = client.post("/v1/search", json=body).raise_for_status().json()
    return {passage["chunk_id"] for passage in reply["results"]}, reply["stage_times_ms"]["retrieve"]


def _cpu_ms(stack: Stack) -> tuple[dict[int, float], dict[int, float]]:
    """By process: of the web server's database sessions, and of the web server."""
    assert stack.web is not None
    rows = stack.sql("SELECT pid FROM pg_stat_activity WHERE application_name = 'knowlex'")
    processes = [psutil.Process(row["pid"]) for row in rows]
    web = [psutil.Process(stack.web.pid)]
    sessions, server = ({each.pid: sum(each.cpu_times()[:2]) * 1e3 for each in of} for of in (processes, web))
    return sessions, server


def _requests() -> Iterator[tuple[str, dict[str, Any]]]:
    for mode in MODES:
        settings = {"settings": {"mode": mode, "rerank": False}}
        yield mode, settings
        yield f"{mode}, 1 % by tag", {**settings, "filters": RARE}
        yield f"{mode}, 20 % by chapter", {**settings, "filters": {"chapter": "3"}}
        yield f"{mode}, a tenth by collection", {**settings, "collections": ["tenth"]}
    yield "exact, inner", {"settings": {"mode": "exact"}}
    yield "exact, one word", {"settings": {"mode": "exact"}}
    yield "exact, 1 % by tag, one word", {"settings": {"mode": "exact"}, "filters": RARE}


def _load(
    stack: Stack, data: Path, first: int, rows: int, *, a_document: int = A_DOCUMENT, index: bool = True
) -> int:
    """Straight into the tables, as the product would have stored them. How many rows have vectors by now."""
    started = time.perf_counter()
    done = int((data / "done.txt").read_text())
    vectors = np.load(data / "vectors.npy", mmap_mode="r")[:done]
    with (
        gzip.open(data / "chunks.jsonl.gz", "rt") as lines,
        psycopg.connect(stack.postgres.url(stack.database)) as connection,
    ):
        model, collections = _ground(connection)
        texts = (json.loads(line)["text"] for line in islice(lines, first, rows))
        for start in range(first, rows, a_document):
            some = list(islice(texts, a_document))
            number = start // a_document
            collection = collections[number % 10 == 0]
            _store(connection, model, collection, number, some, vectors[start : start + len(some)])
            connection.commit()
    with_vectors = stack.count("embeddings_embedding")
    took = time.perf_counter() - started
    print(f"loaded {rows - first} more in {took:.0f} s; {with_vectors} have vectors", flush=True)
    stack.sql("VACUUM ANALYZE")
    if with_vectors and index:
        print(stack.manage("vector_index", "build"))
    return with_vectors


def _ground(connection: psycopg.Connection) -> tuple[int, list[Any]]:
    """Ids of the model and of both collections."""
    connection.execute(
        "INSERT INTO embeddings_embeddingmodel"
        " (name, provider, dimensions, options, active, wanted, created_at)"
        " VALUES ('all-MiniLM-L6-v2', 'local', 384, '{}', true, true, now()) ON CONFLICT DO NOTHING"
    )
    found = connection.execute("SELECT id FROM embeddings_embeddingmodel WHERE active").fetchone()
    collections = []
    for name in ("default", "tenth"):
        connection.execute(
            "INSERT INTO documents_collection (id, name, description, settings, created_at)"
            " VALUES (%s, %s, '', '{}', now()) ON CONFLICT DO NOTHING",
            [new_id(), name],
        )
        row = connection.execute("SELECT id FROM documents_collection WHERE name = %s", [name]).fetchone()
        collections += row or ()
    return (found[0] if found else 0), collections


def _store(
    connection: psycopg.Connection, model: int, collection: Any, number: int, texts: list[str], vectors: Any
) -> None:
    document = new_id()
    metadata = json.dumps(
        {"tags": ["rare"] if number % 100 == 50 else ["usual"], "year": 1900 + number % 100}
    )
    connection.execute(
        "INSERT INTO documents_document (id, collection_id, source, original_filename, title, checksum,"
        " size_bytes, file, page_count, chunk_count, metadata, warnings, created_at)"
        " VALUES (%s, %s, 'TEXT', %s, '', %s, 1, '', 1, %s, %s, '[]', now())",
        [document, collection, f"{number}.txt", f"{number:064}", len(texts), metadata],
    )
    ids, words = [new_id() for _ in texts], [lexemes(text) for text in texts]
    with connection.cursor() as cursor:
        cursor.executemany(
            "INSERT INTO documents_chunk (id, document_id, chunk_index, content, start_char, end_char,"
            " token_count, chapter, section, created_at) VALUES (%s, %s, %s, %s, 0, 0, 300, %s, '', now())",
            [
                (id_, document, n, text, str(n % 5))
                for n, (id_, text) in enumerate(zip(ids, texts, strict=True))
            ],
        )
        cursor.executemany(
            "INSERT INTO embeddings_embedding (chunk_id, model_id, collection_id, vector, created_at)"
            " VALUES (%s, %s, %s, %s, now())",
            [(id_, model, collection, str(v.tolist())) for id_, v in zip(ids, vectors, strict=False)],
        )
    connection.execute(
        "INSERT INTO embeddings_lexicalentry (chunk_id, collection_id, lexemes, weights)"
        " SELECT id, %s, array_to_tsvector(string_to_array(words, chr(31))), weights::sparsevec"
        " FROM unnest(%s::uuid[], %s::text[], %s::text[]) AS given (id, words, weights)",
        [
            collection,
            ids,
            ["\x1f".join(sorted(set(found))) for found in words],
            [sparse_text(term_weights(found)) for found in words],
        ],
    )


if __name__ == "__main__":
    main()
