"""What things cost by the number of chunks: fills a database, and measures searches, lists and writes.

    KNOWLEX_DATA_DIR=FOLDER python manage.py up --port 8305                      # in another shell
    KNOWLEX_DATA_DIR=FOLDER python manage.py ingest --collection seeds --create DOCUMENTS
    KNOWLEX_DATA_DIR=FOLDER python -m benchmarks.growth fill 100000
    KNOWLEX_DATA_DIR=FOLDER python -m benchmarks.growth measure --url http://127.0.0.1:8305

`fill` makes chunks until there are so many: halves of two passages of the collection `seeds`, with their
sentences' vectors, a vector near both, words, pages and a file, as the product would have stored them, but by
COPY and without triggers. A document has 20 chunks. Of a hundred documents 10 are tagged `tenth`, 1
`hundredth`; of 10,000 one is tagged `myriad`. Fifty collections `small-N` have 40 to 120 chunks.
Figures of `measure` are CPU milliseconds of PostgreSQL and wall milliseconds (median / 95th percentile); who
else uses the machine disturbs the latter. The server is to have KNOWLEX_CACHE=off and no rate limit.
"""

import argparse
import asyncio
import hashlib
import json
import os
import random
import statistics
import struct
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "knowlex.settings")
django.setup()

import httpx
import numpy as np
import psutil
import psycopg
from django.conf import settings
from django.core.files.storage import default_storage
from psycopg.sql import SQL, Identifier

from embeddings.indexing.measuring import _find_neighbourhoods, _measure_at, index_of
from embeddings.lexical.terms import SPARSE_DIMENSIONS, lexemes, term_weights
from embeddings.models import EmbeddingModel, VectorIndex
from embeddings.registry import embedder_for
from embeddings.vectors.binary import pack_halfvecs, unpack_halfvecs
from knowlex.base.ids import new_id

IN_DOCUMENT, SMALL, AT_ONCE = 20, 50, 5_000
TAGS = (("tenth", 10), ("hundredth", 100), ("myriad", 10_000))
RECALL, WRITTEN = 500, 10_000  # questions, chunks
NOISE = 0.25  # length of what is added to a vector of length 1
COLUMNS = {
    "documents_document": (
        "id, collection_id, source, original_filename, title, checksum, size_bytes, file, page_count,"
        " chunk_count, status, metadata, warnings, created_at, language"
    ),
    "documents_page": "document_id, number, start_char, text, read_by, warnings",
    "documents_chunk": (
        "id, document_id, chunk_index, content, start_char, end_char, token_count, page_number, last_page,"
        " chapter, section, created_at"
    ),
    "embeddings_embedding": "chunk_id, model_id, collection_id, vector, created_at",
    "embeddings_sentencevectors": "chunk_id, model_id, bounds, vectors",
    "embeddings_lexicalentry": "chunk_id, collection_id, lexemes, weights",
}
SEEDS = """
    SELECT c.content, c.token_count, s.bounds, array_send(s.vectors) FROM documents_chunk c
    JOIN documents_document d ON d.id = c.document_id
    JOIN documents_collection o ON o.id = d.collection_id AND o.name = 'seeds'
    JOIN embeddings_sentencevectors s ON s.chunk_id = c.id WHERE cardinality(s.bounds) >= 4 ORDER BY c.id
"""
_EPOCH = datetime(2000, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Half:
    """One half of a passage, with its sentences."""

    text: str
    words: list[str]
    tokens: int
    bounds: np.ndarray
    vectors: np.ndarray


def int4(value: int) -> bytes:
    return value.to_bytes(4, "big", signed=True)


def int2(value: int) -> bytes:
    return value.to_bytes(2, "big", signed=True)


def jsonb(value: Any) -> bytes:
    return b"\x01" + json.dumps(value).encode()


def tsvector(words: Sequence[str]) -> bytes:
    found = sorted({word.encode() for word in words})
    return int4(len(found)) + b"".join(word + b"\0\0\0" for word in found)


def sparsevec(weights: dict[int, float]) -> bytes:
    places = sorted(weights)
    return (
        struct.pack(">3i", SPARSE_DIMENSIONS, len(places), 0)
        + np.array(places, ">i4").tobytes()
        + np.array([weights[place] for place in places], ">f4").tobytes()
    )


def record(*fields: bytes) -> bytes:
    return int2(len(fields)) + b"".join(int4(len(field)) + field for field in fields)


class Filling:
    """Documents of made-up chunks, in tables' binary form."""

    def __init__(self, database: psycopg.Connection, seed: int) -> None:
        self._random, self._numbers = random.Random(seed), np.random.default_rng(seed)
        self.counts: Counter[tuple[UUID, str]] = Counter()  # in how many chunks of a collection a lexeme is
        rows = database.execute(SEEDS).fetchall()
        self._halves = [half for row in rows for half in _halves(*row)]
        self._element = database.execute("SELECT 'halfvec'::regtype::oid::bigint").fetchone()[0]  # type: ignore[index]
        self._model = int2(EmbeddingModel.objects.active().get().pk)
        self._now = struct.pack(">q", (datetime.now(UTC) - _EPOCH) // (datetime.resolution))

    def document(self, collection: UUID, number: int, chunks: int) -> dict[str, bytes]:
        document, start = new_id(), 0
        rows: dict[str, list[bytes]] = {table: [] for table in COLUMNS}
        texts = []
        for index in range(chunks):
            text = self._add_chunk(rows, collection, document.bytes, index, start)
            texts.append(text)
            start += len(text) + 1
        content, name = "\n".join(texts).encode(), f"documents/{document}.txt"
        path = Path(default_storage.path(name))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        tags = [tag for tag, of in TAGS if number % of == min(7, of - 1)]
        rows["documents_document"].append(
            record(
                document.bytes,
                collection.bytes,
                b"PDF",
                f"{number:07}.txt".encode(),
                b"",
                hashlib.sha256(content).hexdigest().encode(),
                struct.pack(">q", len(content)),
                name.encode(),
                int4(chunks),
                int4(chunks),
                b"completed",
                jsonb({"tags": tags, "year": 1900 + number % 100}),
                jsonb([]),
                self._now,
                b"en",
            )
        )
        return {table: b"".join(of_table) for table, of_table in rows.items()}

    def _add_chunk(
        self, rows: dict[str, list[bytes]], collection: UUID, document: bytes, index: int, start: int
    ) -> str:
        one, other = self._random.choices(self._halves, k=2)
        text, chunk = f"{one.text} {other.text}", new_id().bytes
        words = one.words + other.words
        bounds = np.concatenate([one.bounds, other.bounds + len(one.text) + 1])
        vectors = np.concatenate([one.vectors, other.vectors])
        mean = vectors.astype(np.float32).sum(axis=0)
        noise = self._numbers.standard_normal(len(mean), dtype=np.float32)
        vector = mean / np.linalg.norm(mean) + NOISE * noise / np.linalg.norm(noise)
        vector /= np.linalg.norm(vector)
        place = [int4(start), int4(start + len(text))]
        rows["documents_page"].append(
            record(document, int4(index + 1), place[0], text.encode(), b"text", jsonb([]))
        )
        rows["documents_chunk"].append(
            record(
                chunk,
                document,
                int4(index),
                text.encode(),
                *place,
                int4(one.tokens + other.tokens),
                int4(index + 1),
                int4(index + 1),
                str(index % 5).encode(),
                b"",
                self._now,
            )
        )
        packed = struct.pack(">HH", len(vector), 0) + vector.astype(">f4").tobytes()
        rows["embeddings_embedding"].append(record(chunk, self._model, collection.bytes, packed, self._now))
        items = np.zeros(len(bounds), dtype=[("size", ">i4"), ("value", ">i4")])
        items["size"], items["value"] = 4, bounds
        places = struct.pack(">5i", 1, 0, 23, len(bounds), 1) + items.tobytes()
        packed = pack_halfvecs(vectors, self._element)
        rows["embeddings_sentencevectors"].append(record(chunk, self._model, places, packed))
        packed = sparsevec(term_weights(words))
        rows["embeddings_lexicalentry"].append(record(chunk, collection.bytes, tsvector(words), packed))
        self.counts.update((collection, word) for word in {"", *words})
        return text


def _halves(content: str, tokens: int, bounds: list[int], vectors: bytes) -> Iterator[Half]:
    of_sentences, middle = unpack_halfvecs(vectors), len(bounds) // 4
    for first, last in ((0, middle), (middle, len(bounds) // 2)):
        start, end = bounds[2 * first], bounds[2 * last - 1]
        text, places = content[start:end], np.array(bounds[2 * first : 2 * last]) - start
        yield Half(text, lexemes(text, "en"), tokens // 2, places, of_sentences[first:last])


def collection_named(database: psycopg.Connection, name: str) -> UUID:
    database.execute(
        "INSERT INTO documents_collection (id, name, description, settings, created_at)"
        " VALUES (%s, %s, '', '{}', now()) ON CONFLICT DO NOTHING",
        [new_id(), name],
    )
    row = database.execute("SELECT id FROM documents_collection WHERE name = %s", [name]).fetchone()
    assert row
    return UUID(str(row[0]))


def copy_documents(database: psycopg.Connection, documents: Sequence[dict[str, bytes]]) -> None:
    header, end = b"PGCOPY\n\xff\r\n\0" + int4(0) + int4(0), int2(-1)
    for table, columns in COLUMNS.items():
        statement = SQL(f"COPY {table} ({columns}) FROM STDIN (FORMAT binary)")
        with database.cursor().copy(statement) as copy:
            copy.write(header)
            for document in documents:
                copy.write(document[table])
            copy.write(end)


def count(database: psycopg.Connection, table: str) -> int:
    row = database.execute(SQL("SELECT count(*) FROM {}").format(Identifier(table))).fetchone()
    return int(row[0]) if row else 0


def database_connection() -> psycopg.Connection:
    return psycopg.connect(settings.DATABASE_URL, autocommit=True)


def fill(rows: int) -> None:
    with database_connection() as database:
        before = count(database, "documents_chunk")
        filling = Filling(database, before)
        index = "CREATE INDEX lexical_by_lexeme ON embeddings_lexicalentry USING gin (lexemes)"
        database.execute("SET session_replication_role = replica")
        database.execute("SET maintenance_work_mem = '1GB'")
        database.execute("DROP INDEX lexical_by_lexeme")
        _add(database, filling, rows - before)
        started = time.monotonic()
        database.execute(index)
        database.cursor().executemany(
            "INSERT INTO embeddings_lexemecount (collection_id, lexeme, chunks) VALUES (%s, %s, %s)",
            [(*held, chunks) for held, chunks in filling.counts.items()],
        )
        database.execute("SELECT documents_collections_changed(ARRAY(SELECT id FROM documents_collection))")
        database.execute("VACUUM ANALYZE")
        print(f"words indexed and counted, tables analysed in {time.monotonic() - started:.0f} s")


def _add(database: psycopg.Connection, filling: Filling, rows: int) -> None:
    started, number = time.monotonic(), count(database, "documents_document")
    default, done = collection_named(database, "default"), 0
    if number < 1000:
        small = [
            filling.document(collection_named(database, f"small-{n}"), n, IN_DOCUMENT)
            for n in range(SMALL)
            for _ in range(2 + n % 5)
        ]
        copy_documents(database, small)
        done = len(small) * IN_DOCUMENT
    while done < rows:
        documents = []
        for _ in range(min(AT_ONCE, rows - done + IN_DOCUMENT - 1) // IN_DOCUMENT):
            documents.append(filling.document(default, number, IN_DOCUMENT))
            number += 1
        copy_documents(database, documents)
        done += len(documents) * IN_DOCUMENT
        print(f"{done} of {rows} in {time.monotonic() - started:.0f} s", flush=True)


FILTERS = {"10 % by tag": "tenth", "1 % by tag": "hundredth", ".01 % by tag": "myriad"}
COMMON = 8  # single words, the most common of all


class Measuring:
    """Requests to a running server, with PostgreSQL's CPU."""

    def __init__(
        self, url: str, database: psycopg.Connection, questions: Sequence[str], key: str | None = None
    ) -> None:
        self.database, self.questions = database, questions
        self.with_ended = False
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        self._client = httpx.Client(base_url=url, timeout=120, headers=headers)
        self.rows = count(database, "documents_chunk")

    def cpu_ms(self) -> dict[int, float]:
        """Return those of each session of the database but our own; under 0 of those that have ended."""
        sessions = self.database.execute(
            "SELECT pid FROM pg_stat_activity WHERE datname = current_database()"
            " AND backend_type = 'client backend' AND pid <> pg_backend_pid()"
        ).fetchall()
        folder = Path(settings.DATA_DIR) / "postgres" / "postmaster.pid"
        ended = psutil.Process(int(folder.read_text().split()[0])).cpu_times()
        return {0: (ended.children_user + ended.children_system) * 1e3 * self.with_ended} | {
            pid: sum(psutil.Process(pid).cpu_times()[:2]) * 1e3 for (pid,) in sessions
        }

    def tell(self, name: str, calls: Sequence[Callable[[], object]]) -> None:
        """Print CPU and wall milliseconds of a call; the first three warm connections and plans up."""
        for call in calls[:3]:
            call()
        before, times = self.cpu_ms(), []
        for call in calls:
            started = time.perf_counter()
            call()
            times.append((time.perf_counter() - started) * 1e3)
        after = self.cpu_ms()
        cpu = sum(ms - before.get(pid, 0) for pid, ms in after.items()) / len(calls)
        p50, p95 = statistics.median(times), sorted(times)[int(0.95 * len(times))]
        print(f"{self.rows:8} {name:34} CPU {cpu:8.1f}  wall {p50:8.1f} / {p95:8.1f}", flush=True)

    def search(self, text: str, mode: str, **more: Any) -> None:
        body = {"query": text, "settings": {"mode": mode, "rerank": False}, **more}
        reply = self._client.post("/v1/search", json=body)
        assert reply.is_success, reply.text

    def get(self, path: str) -> None:
        reply = self._client.get(path)
        assert reply.is_success, f"{path}: {reply.status_code} {reply.text[:200]}"

    def generate(self) -> None:
        reply = self._client.post("/api/v1/embeddings/generate", json={})
        assert reply.is_success, reply.text

    def searches(self) -> None:
        for mode in ("dense", "sparse", "hybrid"):
            self.tell(mode, [lambda q=q, m=mode: self.search(q, m) for q in self.questions])
            for name, tag in FILTERS.items():
                filters = {"tags": [tag]}
                some = self.questions[:40]
                self.tell(
                    f"{mode}, {name}",
                    [lambda q=q, m=mode, f=filters: self.search(q, m, filters=f) for q in some],
                )
        small = [f"small-{n % SMALL}" for n in range(len(self.questions))]
        for mode in ("dense", "sparse", "hybrid"):
            calls = [
                lambda q=q, m=mode, c=c: self.search(q, m, collections=[c])
                for q, c in zip(self.questions, small, strict=True)
            ]
            self.tell(f"{mode}, 40 to 120 chunks", calls[:100])
        words = self.common_words()
        for size in (1, 2, 3):
            texts = [" ".join(words[n : n + size]) for n in range(COMMON)]
            self.tell(
                f"hybrid, {size} common words", [lambda q=q: self.search(q, "hybrid") for q in texts] * 2
            )

    def common_words(self) -> list[str]:
        rows = self.database.execute(
            "SELECT lexeme FROM embeddings_lexemecount WHERE lexeme <> ''"
            " GROUP BY 1 ORDER BY sum(chunks) DESC LIMIT %s",
            [COMMON + 3],
        )
        return [lexeme for (lexeme,) in rows]

    def routes(self) -> None:
        collections = self._client.get("/v1/collections").json()
        listed = collections.get("data") or collections.get("collections") or collections
        default = next(each["id"] for each in listed if each["name"] == "default")
        for path in (
            "/metrics",
            "/health",
            "/v1/collections",
            f"/v1/collections/{default}",
            f"/v1/collections/{default}/stats",
            "/v1/documents",
            "/v1/documents?limit=100",
            "/api/v1/documents",
            "/api/v1/collections",
        ):
            if self._client.get(path).status_code == 404:
                print(f"no {path}")
                continue
            self.tell(path.replace(default, "ID"), [lambda p=path: self.get(p)] * 5)
        self.with_ended = True
        self.tell("generate, nothing to do", [self.generate] * 5)
        self.with_ended = False

    def writes(self) -> None:
        """Insert a collection of WRITTEN chunks, with all triggers, 400 a transaction; and delete it."""
        collection = collection_named(self.database, "written")
        filling, before = Filling(self.database, time.time_ns()), self._own_cpu_ms()
        made = [filling.document(collection, 5, IN_DOCUMENT) for n in range(WRITTEN // IN_DOCUMENT)]
        started = time.perf_counter()
        for first in range(0, len(made), 20):
            copy_documents(self.database, made[first : first + 20])
        took, cpu = time.perf_counter() - started, self._own_cpu_ms() - before
        print(
            f"{self.rows:8} insert, a chunk{'':19} CPU {cpu / WRITTEN:8.2f}  wall {took * 1e3 / WRITTEN:8.2f}"
        )
        sessions, started = self.cpu_ms(), time.perf_counter()
        assert self._client.delete(f"/v1/collections/{collection}").is_success
        took, after = time.perf_counter() - started, self.cpu_ms()
        cpu = sum(ms - sessions.get(pid, 0) for pid, ms in after.items())
        print(f"{self.rows:8} delete {WRITTEN} chunks{'':15} CPU {cpu:8.0f}  wall {took * 1e3:8.0f}")

    def _own_cpu_ms(self) -> float:
        return sum(psutil.Process(self.database.info.backend_pid).cpu_times()[:2]) * 1e3


def measure_recall(database: psycopg.Connection, questions: Sequence[str]) -> None:
    """Compare what the index finds for the questions with what is nearest: ten each."""
    state = VectorIndex.objects.select_related("model").get(model__active=True)
    index, embedder = index_of(state), embedder_for(state.model.spec)
    vectors = np.array([asyncio.run(embedder.aembed_query(text)) for text in questions], np.float32)
    found = _find_neighbourhoods(index, vectors, state.rows)
    measured = _measure_at(index, found, 0.0, state.effort)
    print(f"recall@10 of {len(found)} questions at effort {state.effort}: {measured.recall:.3f}")


def questions_of(file: Path | None, database: psycopg.Connection) -> list[str]:
    """Return a file's (JSON lines with `question`), or words out of the seeds' own sentences."""
    if file is not None:
        return [json.loads(line)["question"] for line in file.read_text().splitlines()]
    texts = [row[0].split() for row in database.execute(SEEDS).fetchall()]
    return [" ".join(words[len(words) // 2 :][: 6 + n % 9]) for n, words in enumerate(texts)]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("fill").add_argument("rows", type=int)
    measure = commands.add_parser("measure")
    measure.add_argument("--url", default="http://127.0.0.1:8000")
    measure.add_argument("--questions", type=Path)
    measure.add_argument("--key", help="an API key; one of an account with limits meets the permissions")
    measure.add_argument("--count", type=int, default=100)
    measure.add_argument("parts", nargs="*", default=["searches", "routes", "recall"])
    options = parser.parse_args()
    if options.command == "fill":
        return fill(options.rows)
    with database_connection() as database:
        questions = questions_of(options.questions, database)
        random.Random(1).shuffle(questions)
        measuring = Measuring(options.url, database, questions[: options.count], options.key)
        for part in options.parts:
            if part == "recall":
                measure_recall(database, questions[:RECALL])
            else:
                getattr(measuring, part)()


if __name__ == "__main__":
    main()
