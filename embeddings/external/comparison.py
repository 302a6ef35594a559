"""A comparison of an external vector store with PostgreSQL, one model's space at a time, in bounded memory.

What the store holds goes page by page into a temporary table, and PostgreSQL compares.
"""

# ruff: noqa: S608 - the statements are put together from constants of this module

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from dataclasses import dataclass
from uuid import UUID

from embeddings.external import configuration, outbox
from embeddings.external.configuration import space_of
from embeddings.external.delivery import read_batches
from embeddings.external.outbox import Entry
from embeddings.models import EmbeddingModel
from embeddings.protocols import VectorStore
from embeddings.types import Point, Space, StoredChunk
from knowlex.db.threads import execute

MAX_READS = 3  # of a space where vectors come and go meanwhile
SAMPLE = 5
LOOKED_UP, NEIGHBOURS = 20, 10  # chunks that are searched by their own vectors, and hits of each search
SAME_DISTANCE = 1e-3  # cosine distance of a vector to itself, as stores compute it
PORTION = 2000

_CREATE_TABLE = """
    CREATE TEMP TABLE IF NOT EXISTS in_store (chunk_id uuid PRIMARY KEY, collection_id text, chunk_hash text)
"""
_EMPTY = "TRUNCATE in_store"
_INSERT_STORED = """
    INSERT INTO in_store SELECT * FROM unnest(%s::uuid[], %s::text[], %s::text[]) ON CONFLICT DO NOTHING
"""
_DIFFERENT = """
    SELECT chunk_id, here.chunk_hash IS NULL AS strange, in_store.chunk_hash IS NULL AS missing,
        in_store.collection_id <> here.collection_id AS elsewhere
    FROM (
        SELECT e.chunk_id, d.collection_id::text AS collection_id,
            encode(sha256(convert_to(c.content, 'UTF8')), 'hex') AS chunk_hash
        FROM embeddings_embedding e JOIN documents_chunk c ON c.id = e.chunk_id
        JOIN documents_document d ON d.id = c.document_id WHERE e.model_id = %(model)s
    ) here FULL JOIN in_store USING (chunk_id)
    WHERE (here.collection_id, here.chunk_hash) IS DISTINCT FROM (in_store.collection_id, in_store.chunk_hash)
"""
_KINDS = f"""
    SELECT different.chunk_id, CASE
        WHEN EXISTS (SELECT FROM embeddings_outboxentry o
            WHERE o.model_id = %(model)s AND o.chunk_id = different.chunk_id) THEN 'waiting'
        WHEN missing THEN 'missing' WHEN strange THEN 'strange' WHEN elsewhere THEN 'elsewhere'
        ELSE 'other_text' END AS kind
    FROM ({_DIFFERENT}) different
"""
_TALLY = f"""
    SELECT kind, count(*), (array_agg(chunk_id ORDER BY chunk_id))[1:{SAMPLE}]
    FROM ({_KINDS}) different GROUP BY kind
"""
_BROKEN = f"SELECT chunk_id FROM ({_KINDS}) different WHERE kind <> 'waiting'"
_SOUND = f"""
    SELECT h.chunk_id FROM (
        SELECT in_store.* FROM in_store JOIN embeddings_embedding e USING (chunk_id)
        WHERE e.model_id = %s ORDER BY random() LIMIT {LOOKED_UP}
    ) h JOIN documents_chunk c ON c.id = h.chunk_id JOIN documents_document d ON d.id = c.document_id
    WHERE d.collection_id::text = h.collection_id
        AND encode(sha256(convert_to(c.content, 'UTF8')), 'hex') = h.chunk_hash
"""
_ALL = "SELECT chunk_id FROM embeddings_embedding WHERE model_id = %(model)s"
_VECTORS = "SELECT count(*) FROM embeddings_embedding WHERE model_id = %s"
_LAST_VERSION = "SELECT last_value FROM embeddings_outbox_version"
_LAST_MODEL = "SELECT coalesce(max(last_value), 0) FROM pg_sequences WHERE sequencename = %s"
_GONE = """
    SELECT n FROM generate_series(1, %s) n
    WHERE NOT EXISTS (SELECT FROM embeddings_embeddingmodel m WHERE m.id = n)
        AND NOT EXISTS (SELECT FROM embeddings_droppedspace s WHERE s.model_id = n)
"""


@dataclass(frozen=True, slots=True)
class SpaceComparison:
    """One space. vectors: in PostgreSQL; held: in the store. missing there; strange: not in PostgreSQL (any
    more); elsewhere: under another collection; other_text: with another text's hash; other_vector: not found
    by their own vectors, of up to 20 others that are looked up. waiting: different, and in the outbox.
    sample: up to 5 chunks of each. model: "" for one that is gone, whose all is strange.
    """

    space: str
    model: str
    model_id: int
    vectors: int
    held: int
    missing: int = 0
    strange: int = 0
    elsewhere: int = 0
    other_text: int = 0
    other_vector: int = 0
    waiting: int = 0
    sample: tuple[tuple[str, tuple[str, ...]], ...] = ()

    @property
    def broken(self) -> int:
        return self.missing + self.strange + self.elsewhere + self.other_text + self.other_vector


class StoreComparison:
    """Use as a context manager, outside transactions. Raises VectorStoreFailed, DatabaseUnavailable.

    show: hears of each page of what the store holds: the space's name, how much came, how much is expected.
    """

    def __init__(self, show: Callable[[str, int, int], None]) -> None:
        self._show, self._store, self._runner = show, configuration.external_store(), asyncio.Runner()

    def __enter__(self) -> "StoreComparison":
        execute(_CREATE_TABLE)
        return self

    def __exit__(self, *_: object) -> None:
        self._runner.run(self._store.aclose())
        self._runner.close()
        execute("DROP TABLE IF EXISTS in_store")

    def compare_all(self) -> Iterator[SpaceComparison]:
        """Compare every model's space, and those of removed models that are still there."""
        for model in EmbeddingModel.objects.order_by("id"):
            yield self._compare(model)
        last_id = execute(_LAST_MODEL, ["embeddings_embeddingmodel_id_seq"])[0][0]
        for (model_id,) in execute(_GONE, [last_id]):
            space = space_of(model_id, 0)
            if count := self._read(space, 0):
                yield SpaceComparison(space.name, "", model_id, 0, count, strange=count)

    def repair(self, comparison: SpaceComparison) -> None:
        """Put what is different into the outbox, all vectors where some of the sample are; a removed model's
        space is to be dropped. Only for the one at which `compare_all` stands.
        """
        if not comparison.model:
            outbox.drop_gone(comparison.model_id)
            return
        broken = f"{_BROKEN} UNION {_ALL}" if comparison.other_vector else _BROKEN
        entries = [
            Entry(comparison.model_id, row[0], 0) for row in execute(broken, {"model": comparison.model_id})
        ]
        for start in range(0, len(entries), PORTION):
            outbox.add(entries[start : start + PORTION])

    def _compare(self, model: EmbeddingModel) -> SpaceComparison:
        """Compare once more where vectors came or went meanwhile: a page may have been read before."""
        space = space_of(model.pk, model.dimensions)
        for _ in range(MAX_READS):
            before, vectors = execute(_LAST_VERSION), execute(_VECTORS, [model.pk])[0][0]
            count = self._read(space, vectors)
            rows = execute(_TALLY, {"model": model.pk})
            if execute(_LAST_VERSION) == before:
                break
        if lost := self._find_lost(model.pk):
            rows.append(("other_vector", len(lost), lost[:SAMPLE]))
        counts = {kind: broken for kind, broken, _ in rows}
        sample = tuple((kind, tuple(map(str, chunks))) for kind, _, chunks in rows)
        return SpaceComparison(space.name, model.name, model.pk, vectors, count, **counts, sample=sample)

    def _find_lost(self, model_id: int) -> list[UUID]:
        """Return those of a sample of sound chunks that their own vectors do not lead to."""
        entries = [Entry(model_id, row[0], 0) for row in execute(_SOUND, [model_id])]
        return [
            point.chunk_id
            for batch in read_batches(entries)
            for point in batch.points.values()
            if not self._runner.run(_is_found(self._store, batch.space, point))
        ]

    def _read(self, space: Space, expected: int) -> int:
        """Read what the store has into the temporary table; return how much that is."""
        execute(_EMPTY)
        count, pages = 0, self._store.list_chunks(space)
        while page := self._runner.run(_next_page(pages)):
            execute(_INSERT_STORED, list(map(list, zip(*page, strict=True))))
            count += len(page)
            self._show(space.name, count, max(expected, count))
        return count


async def _is_found(store: VectorStore, space: Space, point: Point) -> bool:
    """Return whether the point is found by its vector, or more than enough others of the same vector are."""
    hits = await store.nearest(space, point.vector, collections=[point.collection_id], limit=NEIGHBOURS)
    same = [hit.chunk_id for hit in hits if hit.distance <= SAME_DISTANCE]
    return point.chunk_id in same or len(same) == NEIGHBOURS


async def _next_page(pages: AsyncIterator[Sequence[StoredChunk]]) -> Sequence[StoredChunk]:
    """Return the next page that is not empty; [] at the end."""
    async for page in pages:
        if page:
            return page
    return []
