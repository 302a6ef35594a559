"""The queue of embedding requests: which chunks are embedded next, and for which run.

Locks are taken in one order everywhere: documents by id, then chunks, then requests. A deletion takes them in
the same order, so the two wait for each other but never deadlock.
"""

# ruff: noqa: S608 - the statements are put together from constants of this module

from collections.abc import Iterable, Mapping, Sequence
from uuid import UUID

from embeddings.types import ClaimedChunk
from knowlex.db.leases import LeaseQueue
from knowlex.db.threads import execute

MAX_ATTEMPTS = 5
OLDEST_FIRST = 4  # of so many claims one goes to the run that has waited longest, the others to the shortest
GAVE_UP = f"The worker ended without a result {MAX_ATTEMPTS} times while it had this text in hand."
_CLAIM_LOCK, _SWEEP_LOCK, MODEL_LOCK, INDEX_LOCK, LEXEME_LOCK, ANALYSIS_LOCK = range(0x6B780001, 0x6B780007)

_WANTED = """
    NOT EXISTS (SELECT 1 FROM embeddings_embedding e WHERE e.chunk_id = c.id AND e.model_id = %(model)s)
    AND NOT EXISTS (SELECT 1 FROM embeddings_embeddingrequest q
                    WHERE q.chunk_id = c.id AND q.model_id = %(model)s AND q.failed_at IS NULL)
"""
# The ids of all chunks beside those of all vectors, both out of indexes, and only then the documents: to look
# for the vectors document by document takes ten times as long.
_LACKING = f"""
    WITH lacking AS MATERIALIZED (
        SELECT c.id FROM documents_chunk c
        WHERE (%(document)s::uuid IS NULL OR c.document_id = %(document)s) AND {_WANTED}
    )
    SELECT d.id FROM documents_document d
    WHERE d.id IN (SELECT c.document_id FROM lacking JOIN documents_chunk c USING (id))
      AND (%(allowed)s::uuid[] IS NULL OR d.collection_id = ANY(%(allowed)s))
      AND (d.replaces_id IS NULL OR d.id = %(document)s)
    ORDER BY d.id
"""
_LOCK_DOCUMENTS = f"{_LACKING} FOR NO KEY UPDATE OF d"
# For a model whose work no document's status tells of: only that none is deleted meanwhile. Versions in the
# making are among them, since they take over with all their vectors.
_KEEP_DOCUMENTS = f"""
    SELECT d.id FROM documents_document d
    WHERE d.id > %(after)s AND (%(document)s::uuid IS NULL OR d.id = %(document)s)
      AND EXISTS (SELECT 1 FROM documents_chunk c WHERE c.document_id = d.id AND {_WANTED})
    ORDER BY d.id LIMIT %(limit)s FOR KEY SHARE OF d
"""
_PROCESSING = """
    UPDATE documents_document SET status = 'processing' WHERE id = ANY(%s) AND status <> 'processing'
"""
# First chunks of all documents first: a small document is done while a book has still most of its way to go.
_REQUEST = f"""
    WITH wanted AS (
        SELECT c.id, (row_number() OVER (ORDER BY c.chunk_index, c.document_id) - 1) / %(size)s AS place
        FROM documents_chunk c WHERE c.document_id = ANY(%(documents)s) AND {_WANTED}
    ), batches AS MATERIALIZED (
        SELECT place, gen_random_uuid() AS batch FROM wanted GROUP BY place
    )
    INSERT INTO embeddings_embeddingrequest AS q
        (chunk_id, model_id, run_id, batch, attempts, error, created_at)
    SELECT wanted.id, %(model)s, %(run)s, batches.batch, 0, '', statement_timestamp()
    FROM wanted JOIN batches USING (place) ORDER BY place, wanted.id
    ON CONFLICT (chunk_id, model_id) DO UPDATE
        SET run_id = excluded.run_id, batch = excluded.batch, attempts = 0, error = '', failed_at = NULL
        WHERE q.failed_at IS NOT NULL
    RETURNING q.batch
"""
# From the third time on each text goes alone, so that one which kills its worker takes no other along.
REQUESTS = LeaseQueue(
    table="embeddings_embeddingrequest",
    key=("id",),
    waiting="w.failed_at IS NULL",
    lease_s=12,
    max_attempts=MAX_ATTEMPTS,
    given_up="failed_at = statement_timestamp(), error = %(error)s",
    freed="batch = CASE WHEN attempts >= 2 THEN gen_random_uuid() ELSE batch END",
)
# Runs are looked through in their order until one has something free, however many wait.
_BATCH = f"""
    SELECT first.batch FROM (
        SELECT * FROM embeddings_embeddingrun r WHERE requested > embedded + failed
        AND (model_id = %(model)s OR model_id IS NULL)
        ORDER BY {{order}} OFFSET 0
    ) r, LATERAL (
        SELECT w.batch FROM embeddings_embeddingrequest w
        WHERE w.run_id = r.id AND w.model_id = %(model)s AND {REQUESTS.free} ORDER BY w.id LIMIT 1
    ) first ORDER BY {{order}} LIMIT 1
"""
_CLAIM = REQUESTS.claim_sql(
    f"""
        SELECT w.id FROM embeddings_embeddingrequest w
        WHERE w.batch = ({_BATCH}) AND w.model_id = %(model)s AND {REQUESTS.free}
    """,
    returning="w.chunk_id, (SELECT c.content FROM documents_chunk c WHERE c.id = w.chunk_id)",
)
_CLAIM_SHORTEST = _CLAIM.format(order="r.requested, r.created_at, r.id")
_CLAIM_OLDEST = _CLAIM.format(order="r.created_at, r.id")
_FORGET_DONE = """
    DELETE FROM embeddings_embeddingrequest q USING embeddings_embedding e
    WHERE q.lease = %s AND e.chunk_id = q.chunk_id AND e.model_id = q.model_id RETURNING q.chunk_id
"""
_FAIL = REQUESTS.leased_sql(
    f"failed_at = statement_timestamp(), error = %(error)s, {REQUESTS.release_columns}",
    where="w.chunk_id = ANY(%(chunks)s)",
    returning="w.run_id",
)
# Which batch a hint names does not matter, since the most urgent one is claimed; how many there are does.
_DUE = """
    SELECT DISTINCT batch FROM (
        SELECT batch FROM embeddings_embeddingrequest
        WHERE failed_at IS NULL AND lease IS NULL AND model_id <> ALL(%s)
        ORDER BY id LIMIT 10000
    ) free LIMIT 1000
"""

_LAST = "SELECT coalesce(max(id), 0) FROM embeddings_embeddingrequest"
_WAITING = """
    SELECT q.batch FROM embeddings_embeddingrequest q JOIN documents_chunk c ON c.id = q.chunk_id
    JOIN documents_document d ON d.id = c.document_id
    WHERE q.model_id = %(model)s AND q.failed_at IS NULL
      AND (%(allowed)s::uuid[] IS NULL OR d.collection_id = ANY(%(allowed)s))
      AND (%(document)s::uuid IS NULL OR d.id = %(document)s) LIMIT 1
"""


def add_requests(
    *,
    run_id: UUID,
    model_id: int,
    document_id: UUID | None,
    collection_ids: list[UUID] | None,
    batch_size: int,
) -> dict[UUID, int]:
    """Ask for every chunk (of the document) that has no vector and is not asked for yet; failed ones anew.

    collection_ids: only of documents in these; None for all.
    Returns the size of each new batch. Runs in the caller's transaction.
    """
    scope = {"model": model_id, "document": document_id, "allowed": collection_ids}
    documents = [row[0] for row in execute(_LOCK_DOCUMENTS, scope)]
    execute(_PROCESSING, [documents])
    return _add(documents, {"model": model_id, "run": run_id, "size": batch_size})


def add_inactive_requests(
    *, run_id: UUID, model_id: int, document_id: UUID | None, after: UUID, limit: int, batch_size: int
) -> tuple[dict[UUID, int], UUID | None]:
    """Ask the same of a model that is not the active one, on which no document's status depends.

    At most `limit` documents, whose ids come after `after`; returns the last one too, None at the end.
    """
    scope = {"model": model_id, "document": document_id, "after": after, "limit": limit}
    documents = [row[0] for row in execute(_KEEP_DOCUMENTS, scope)]
    sizes = _add(documents, {"model": model_id, "run": run_id, "size": batch_size})
    return sizes, documents[-1] if documents else None


def _add(documents: Sequence[UUID], values: Mapping[str, object]) -> dict[UUID, int]:
    sizes: dict[UUID, int] = {}
    for (batch,) in execute(_REQUEST, {**values, "documents": documents}):
        sizes[batch] = sizes.get(batch, 0) + 1
    return sizes


def claim(*, model_id: int, lease: UUID) -> list[ClaimedChunk]:
    """Take the most urgent free batch; [] if all work is done or in hands.

    That is one of the shortest run, so small documents are done quickly; but in one claim of four of the
    oldest (which one is left to the lease, a random number), so that a book goes on under however many small
    ones that keep coming. Runs in the caller's transaction, one claim at a time: two workers never split a
    batch.
    """
    lock(_CLAIM_LOCK)
    statement = _CLAIM_OLDEST if lease.int % OLDEST_FIRST == 0 else _CLAIM_SHORTEST
    rows = execute(statement, {"model": model_id, "lease": lease})
    done = {row[0] for row in execute(_FORGET_DONE, [lease])} if rows else set()
    return [ClaimedChunk(chunk_id, content) for chunk_id, content in rows if chunk_id not in done]


def renew(lease: UUID) -> None:
    REQUESTS.renew(lease)


def fail(*, lease: UUID, chunk_ids: Sequence[UUID], reason: str) -> None:
    """Mark those still held as failed, and count them on their runs."""
    values = {"error": reason, "lease": lease, "chunks": list(chunk_ids)}
    count_on_runs("failed", (row[0] for row in execute(_FAIL, values)))


def expire_leases() -> None:
    """Free what no worker holds any more, and give up what has ended its worker too often."""
    count_on_runs(
        "failed", (row[0] for row in REQUESTS.give_up_hopeless({"error": GAVE_UP}, returning="w.run_id"))
    )
    REQUESTS.free_expired()


def due_batches(waiting: Sequence[int] = ()) -> list[UUID]:
    """Return batches that nobody holds; at most 1000, of the 10,000 chunks that were asked for first.

    waiting: ids of models that are left alone.
    """
    return [row[0] for row in execute(_DUE, [list(waiting)])]


def count_on_runs(column: str, run_ids: Iterable[UUID]) -> None:
    """Add one for each id; rows are updated in the order of ids, so that two workers cannot deadlock."""
    tally: dict[UUID, int] = {}
    for run_id in run_ids:
        tally[run_id] = tally.get(run_id, 0) + 1
    statement = {
        "embedded": "UPDATE embeddings_embeddingrun SET embedded = embedded + %s WHERE id = %s",
        "failed": "UPDATE embeddings_embeddingrun SET failed = failed + %s WHERE id = %s",
    }[column]
    for run_id in sorted(tally):
        execute(statement, [tally[run_id], run_id])


def lock(key: int) -> None:
    """Wait for an advisory lock that ends with the transaction."""
    execute("SELECT pg_advisory_xact_lock(%s)", [key])


def lock_shared(key: int) -> None:
    """Wait only for who holds it alone."""
    execute("SELECT pg_advisory_xact_lock_shared(%s)", [key])


def try_lock(key: int) -> bool:
    return bool(execute("SELECT pg_try_advisory_xact_lock(%s)", [key])[0][0])


def try_sweep_lock() -> bool:
    return try_lock(_SWEEP_LOCK)


def last_request() -> int:
    """Return the highest id of all requests, 0 if there is none."""
    return int(execute(_LAST)[0][0])


def waiting_batch(
    *, model_id: int, document_id: UUID | None, collection_ids: list[UUID] | None
) -> tuple[UUID, ...]:
    """Return a batch of the scope that waits, or that somebody holds; () if there is none."""
    rows = execute(_WAITING, {"model": model_id, "document": document_id, "allowed": collection_ids})
    return tuple(row[0] for row in rows)
