"""A comparison of an external vector store with PostgreSQL, one model's space at a time, in bounded memory.

What the store holds goes page by page into a temporary table, and PostgreSQL compares.
"""

# ruff: noqa: S608 - the statements are put together from constants of this module

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from dataclasses import dataclass
from uuid import UUID

from embeddings.external import configuration, delivery, outbox
from embeddings.external.configuration import space_of
from embeddings.external.delivery import read_batches
from embeddings.external.outbox import Entry
from embeddings.models import DroppedSpace, EmbeddingModel, OutboxEntry, OutsideStore
from embeddings.protocols import VectorStore
from embeddings.types import Point, Space, StoredChunk
from knowlex.base.errors import VectorStoreFailed
from knowlex.db.threads import execute, with_retries

POLL_S = 0.2
PATIENCE_S = 60.0  # with what a worker has in hand


def drain_outbox() -> Iterator[int]:
    """Deliver until the outbox is empty; yields now and then how many entries are left.

    Raises VectorStoreFailed if the store is down, or refuses what is left; DatabaseUnavailable.
    """
    since, last = time.monotonic(), -1
    while left := with_retries(_count_left):
        if left != last:
            since, last = time.monotonic(), left
            yield left
        if delivery.deliver_once():
            continue
        if reason := with_retries(_explain_standstill):
            raise VectorStoreFailed(f"{reason.rstrip('.')}. {left} entries stay in the outbox.")
        if time.monotonic() - since > PATIENCE_S:
            raise VectorStoreFailed(f"Nothing was shipped for {PATIENCE_S:.0f} s; {left} entries are left.")
        time.sleep(POLL_S)


def _count_left() -> int:
    return OutboxEntry.objects.count() + DroppedSpace.objects.count()


def _explain_standstill() -> str:
    """Explain why nothing goes on; "" if that is not known."""
    store = OutsideStore.objects.first()
    if store is None or store.failures:
        return store.error if store else "There is no vector store in use any more."
    refused = OutboxEntry.objects.exclude(error="").first()
    return refused.error if refused and not OutboxEntry.objects.filter(error="").exists() else ""


LOOKS = 3  # at most, at a space where vectors come and go meanwhile
SAMPLE = 5
LOOKED_UP, AMONG = 20, 10  # chunks whose vectors are compared, and what each of them is looked for among
ALIKE = 1e-3  # cosine distance of a vector to itself, as stores compute it
PORTION = 2000

_CREATE_TABLE = (
    "CREATE TEMP TABLE IF NOT EXISTS held (chunk_id uuid PRIMARY KEY, collection_id text, chunk_hash text)"
)
_EMPTY = "TRUNCATE held"
_INSERT_STORED = """
    INSERT INTO held SELECT * FROM unnest(%s::uuid[], %s::text[], %s::text[]) ON CONFLICT DO NOTHING
"""
_DIFFERENT = """
    SELECT chunk_id, here.chunk_hash IS NULL AS strange, held.chunk_hash IS NULL AS missing,
        held.collection_id <> here.collection_id AS elsewhere
    FROM (
        SELECT e.chunk_id, d.collection_id::text AS collection_id,
            encode(sha256(convert_to(c.content, 'UTF8')), 'hex') AS chunk_hash
        FROM embeddings_embedding e JOIN documents_chunk c ON c.id = e.chunk_id
        JOIN documents_document d ON d.id = c.document_id WHERE e.model_id = %(model)s
    ) here FULL JOIN held USING (chunk_id)
    WHERE (here.collection_id, here.chunk_hash) IS DISTINCT FROM (held.collection_id, held.chunk_hash)
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
        SELECT held.* FROM held JOIN embeddings_embedding e USING (chunk_id)
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

    tell: hears of each page of what the store holds: the space's name, how much came, how much is expected.
    """

    def __init__(self, tell: Callable[[str, int, int], None]) -> None:
        self._tell, self._store, self._runner = tell, configuration.external_store(), asyncio.Runner()

    def __enter__(self) -> "StoreComparison":
        execute(_CREATE_TABLE)
        return self

    def __exit__(self, *_: object) -> None:
        self._runner.run(self._store.aclose())
        self._runner.close()
        execute("DROP TABLE IF EXISTS held")

    def all(self) -> Iterator[SpaceComparison]:
        """Compare every model's space, and those of removed models that are still there."""
        for model in EmbeddingModel.objects.order_by("id"):
            yield self._compared(model)
        for model_id in self._gone():
            space = space_of(model_id, 0)
            if held := self._read(space, 0):
                yield SpaceComparison(space.name, "", model_id, 0, held, strange=held)

    def mend(self, found: SpaceComparison) -> None:
        """Put what is different into the outbox, all vectors where some of the sample are; a removed model's
        space is to be dropped. Only for the one at which `all` stands.
        """
        if not found.model:
            outbox.drop_gone(found.model_id)
            return
        broken = f"{_BROKEN} UNION {_ALL}" if found.other_vector else _BROKEN
        chunks = [row[0] for row in execute(broken, {"model": found.model_id})]
        for start in range(0, len(chunks), PORTION):
            outbox.add([Entry(found.model_id, chunk, 0) for chunk in chunks[start : start + PORTION]])

    def _compared(self, model: EmbeddingModel) -> SpaceComparison:
        """Compare once more where vectors came or went meanwhile: a page may have been read before."""
        space = space_of(model.pk, model.dimensions)
        for _ in range(LOOKS):
            before, vectors = execute(_LAST_VERSION), execute(_VECTORS, [model.pk])[0][0]
            held = self._read(space, vectors)
            rows = execute(_TALLY, {"model": model.pk})
            if execute(_LAST_VERSION) == before:
                break
        counts = {kind: count for kind, count, _ in rows}
        if lost := self._lost(model.pk):
            counts["other_vector"] = len(lost)
            rows.append(("other_vector", len(lost), lost[:SAMPLE]))
        sample = tuple((kind, tuple(map(str, chunks))) for kind, _, chunks in rows)
        return SpaceComparison(space.name, model.name, model.pk, vectors, held, **counts, sample=sample)

    def _lost(self, model_id: int) -> list[UUID]:
        """Return those of a sample of sound chunks that their own vectors do not lead to."""
        entries = [Entry(model_id, row[0], 0) for row in execute(_SOUND, [model_id])]
        points = [(batch.space, point) for batch in read_batches(entries) for point in batch.points.values()]
        return [
            point.chunk_id
            for space, point in points
            if not self._runner.run(_leads_to_itself(self._store, space, point))
        ]

    def _read(self, space: Space, expected: int) -> int:
        """Read what the store has into the temporary table; return how much that is."""
        execute(_EMPTY)
        count, pages = 0, self._store.list_chunks(space)
        while page := self._runner.run(_next_page(pages)):
            columns: list[list[UUID] | list[str]] = [
                [stored.chunk_id for stored in page],
                [stored.collection_id for stored in page],
                [stored.chunk_hash for stored in page],
            ]
            execute(_INSERT_STORED, columns)
            count += len(page)
            self._tell(space.name, count, max(expected, count))
        return count

    def _gone(self) -> Sequence[int]:
        """Return ids that models have had."""
        last = execute(_LAST_MODEL, ["embeddings_embeddingmodel_id_seq"])[0][0]
        return [row[0] for row in execute(_GONE, [last])]


async def _leads_to_itself(store: VectorStore, space: Space, point: Point) -> bool:
    """Return whether the point is found by its vector, or more than enough others of the same vector are."""
    found = await store.nearest(space, point.vector, collections=[point.collection_id], limit=AMONG)
    alike = [near.chunk_id for near in found if near.distance <= ALIKE]
    return point.chunk_id in alike or len(alike) == AMONG


async def _next_page(pages: AsyncIterator[Sequence[StoredChunk]]) -> Sequence[StoredChunk]:
    """Return the next page that is not empty; [] at the end."""
    async for page in pages:
        if page:
            return page
    return []
