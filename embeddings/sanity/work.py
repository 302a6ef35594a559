"""Checks of what waits or is in somebody's hands: the documents of jobs, the chunks to be embedded."""

# ruff: noqa: S608 - the statements are put together from constants

from collections.abc import Iterator

from embeddings.sanity.types import EMBED, UNSHIPPED, WAITING, SanityCheck

LONG_AGO = "interval '5 minutes'"
SHIP = "manage.py vector_store check tells more; a running worker ships what it can (manage.py up)."
REPEAT = "A running worker takes it up within seconds; start one (manage.py up)."


def items(model: dict[str, int | None]) -> Iterator[SanityCheck]:
    yield SanityCheck(
        "items_ended",
        "A job's document that has ended is in stage `ended`, has its time, and is in nobody's hands.",
        "SELECT id FROM documents_ingestitem WHERE status IN ('completed', 'failed') "
        "AND (lease IS NOT NULL OR leased_until IS NOT NULL OR stage <> 'ended' OR ended_at IS NULL)",
        "Retry it, or delete it.",
        invariant="I9",
    )
    yield SanityCheck(
        "items_leased",
        "No job's document is held under a lease that ended long ago.",
        f"SELECT id FROM documents_ingestitem WHERE leased_until < clock_timestamp() - {LONG_AGO}",
        REPEAT,
        invariant="I9",
    )
    yield SanityCheck(
        "items_with_nobody",
        "A job's document in stage `embedding` has chunks that wait for their vectors, or to be shipped.",
        "SELECT i.id FROM documents_ingestitem i WHERE i.status = 'processing' AND i.stage = 'embedding' "
        "AND NOT EXISTS (SELECT FROM documents_chunk c WHERE c.document_id = i.id "
        f"AND (EXISTS (SELECT {WAITING} IS NULL) OR EXISTS (SELECT {UNSHIPPED})))",
        "Retry it.",
        "I9",
        model,
        settles=True,
    )
    yield SanityCheck(
        "items_in_no_hands",
        "A job's document that is being read is in a worker's hands.",
        "SELECT id FROM documents_ingestitem WHERE status = 'processing' AND stage <> 'embedding' "
        "AND lease IS NULL",
        "Retry it.",
        invariant="I9",
    )
    yield SanityCheck(
        "items_stored",
        "A job's document that is completed is stored, unless it was deleted.",
        "SELECT i.id FROM documents_ingestitem i WHERE i.status = 'completed' AND i.deleted_at IS NULL "
        "AND NOT EXISTS (SELECT FROM documents_document d WHERE d.id = coalesce(i.replaces_id, i.id))",
        "Upload it again.",
        invariant="I2",
    )


def requests() -> Iterator[SanityCheck]:
    yield SanityCheck(
        "requests_leased",
        "No chunk is held for embedding under a lease that ended long ago.",
        "SELECT chunk_id FROM embeddings_embeddingrequest "
        f"WHERE failed_at IS NULL AND leased_until < clock_timestamp() - {LONG_AGO}",
        REPEAT,
        invariant="I9",
    )
    yield SanityCheck(
        "requests_failed",
        "What could not be embedded is in nobody's hands.",
        "SELECT chunk_id FROM embeddings_embeddingrequest WHERE failed_at IS NOT NULL AND lease IS NOT NULL",
        EMBED,
        invariant="I9",
    )


def outbox() -> Iterator[SanityCheck]:
    yield SanityCheck(
        "outbox_shipped",
        "The vector store outside PostgreSQL hears of a changed vector within minutes.",
        "SELECT chunk_id || CASE WHEN error <> '' THEN ': ' || error ELSE '' END "
        f"FROM embeddings_outboxentry WHERE created_at < clock_timestamp() - {LONG_AGO}",
        SHIP,
        invariant="I9",
    )
    yield SanityCheck(
        "outbox_leased",
        "No vector is held for shipping under a lease that ended long ago.",
        "SELECT chunk_id FROM embeddings_outboxentry "
        f"WHERE lease IS NOT NULL AND leased_until < clock_timestamp() - {LONG_AGO}",
        REPEAT,
        invariant="I9",
    )
    yield SanityCheck(
        "outbox_in_use",
        "Only with a vector store outside PostgreSQL is there an outbox.",
        "SELECT chunk_id FROM embeddings_outboxentry WHERE NOT EXISTS (SELECT FROM embeddings_outsidestore)",
        "Start Knowlex again (manage.py up); it empties the outbox, or registers the store.",
    )
    yield SanityCheck(
        "spaces_dropped",
        "The vector store outside PostgreSQL drops the space of a removed model within minutes.",
        "SELECT 'model ' || model_id FROM embeddings_droppedspace "
        f"WHERE created_at < clock_timestamp() - {LONG_AGO}",
        SHIP,
    )
