"""Checks of the database: documents, vectors, words, and pending work of jobs, requests and the outbox."""

# ruff: noqa: S608 - the statements are put together from constants of this module

from collections.abc import Iterator

from django.apps import apps
from django.db.models import ForeignKey

from embeddings.models import EmbeddingModel
from embeddings.sanity.types import EMBED, UNSHIPPED, VECTOR, WAITING, SanityCheck

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


APPS = {"documents", "embeddings", "rag"}
DELETE_AGAIN = "Delete the document and upload it again."
_CHUNKS = "FROM documents_chunk c WHERE c.document_id = d.id"


def orphans() -> Iterator[SanityCheck]:
    """Check what foreign keys hold, unless somebody has gone past them."""
    for model in apps.get_models():
        if model._meta.app_label not in APPS or not model._meta.managed:
            continue
        for one in model._meta.local_fields:
            if isinstance(one, ForeignKey):
                yield _orphan(model._meta.db_table, one)


def _orphan(table: str, key: "ForeignKey[object, object]") -> SanityCheck:
    parent = key.related_model._meta
    target = parent.pk.column
    return SanityCheck(
        f"{table}.{key.column}",
        f"Every {key.column} of {table} names a row of {parent.db_table}.",
        f"SELECT DISTINCT t.{key.column} FROM {table} t WHERE t.{key.column} IS NOT NULL "
        f"AND NOT EXISTS (SELECT FROM {parent.db_table} p WHERE p.{target} = t.{key.column})",
        f"DELETE FROM {table} WHERE {key.column} is one of these.",
        invariant="I7",
    )


def documents() -> Iterator[SanityCheck]:
    yield SanityCheck(
        "default_collection",
        "The collection `default` is there.",
        "SELECT 'default' WHERE NOT EXISTS (SELECT FROM documents_collection WHERE name = 'default')",
        "Any upload makes it again.",
    )
    yield SanityCheck(
        "one_per_checksum",
        "A collection holds the same bytes once.",
        "SELECT collection_id || ' ' || checksum FROM documents_document WHERE replaces_id IS NULL "
        "GROUP BY collection_id, checksum HAVING count(*) > 1",
        "Delete all but one of the documents with this checksum.",
        invariant="I1",
    )
    yield SanityCheck(
        "chunks_numbered",
        "A document has chunk_count chunks, at least one, numbered from 0 without gaps.",
        "SELECT d.id FROM documents_document d LEFT JOIN documents_chunk c ON c.document_id = d.id "
        "GROUP BY d.id HAVING count(c.id) = 0 OR count(c.id) <> d.chunk_count OR min(c.chunk_index) <> 0 "
        "OR max(c.chunk_index) <> count(c.id) - 1 OR count(DISTINCT c.chunk_index) <> count(c.id)",
        DELETE_AGAIN,
        invariant="I1",
    )
    yield SanityCheck(
        "replacements",
        "A version in the making belongs to a job's document that is under way.",
        "SELECT d.id FROM documents_document d WHERE d.replaces_id IS NOT NULL AND NOT EXISTS "
        "(SELECT FROM documents_ingestitem i WHERE i.id = d.id AND i.status IN ('pending', 'processing'))",
        "DELETE FROM documents_document WHERE id is one of these; the document that they replace stays.",
        invariant="I2",
    )


def statuses(model: dict[str, int | None]) -> Iterator[SanityCheck]:
    rules = {
        "completed": (
            f"NOT EXISTS (SELECT {_CHUNKS} AND NOT EXISTS (SELECT {VECTOR}))",
            "A completed document has a vector of the active model for each chunk.",
            "I3",
        ),
        "processing": (
            f"EXISTS (SELECT {_CHUNKS} AND (EXISTS (SELECT {WAITING} IS NULL) "
            f"OR EXISTS (SELECT {UNSHIPPED})))",
            "A document that is processing has chunks that wait for their vectors, or to be shipped.",
            "",
        ),
        "failed": (
            f"EXISTS (SELECT {_CHUNKS} AND EXISTS (SELECT {WAITING} IS NOT NULL))",
            "A failed document has chunks that could not be embedded.",
            "",
        ),
        "pending": (
            f"NOT EXISTS (SELECT {_CHUNKS} AND EXISTS (SELECT {WAITING} IS NULL)) "
            f"AND EXISTS (SELECT {_CHUNKS} AND NOT EXISTS (SELECT {VECTOR}))",
            "Of a pending document nothing waits, and not all is embedded.",
            "",
        ),
    }
    for status, (rule, says, invariant) in rules.items():
        yield SanityCheck(
            f"status_{status}",
            says,
            f"SELECT d.id FROM documents_document d WHERE d.status = '{status}' AND NOT ({rule})",
            EMBED,
            invariant,
            model,
            settles=True,
        )


def vectors() -> Iterator[SanityCheck]:
    forget = "DELETE FROM embeddings_embedding of these chunks; then " + EMBED
    yield SanityCheck(
        "vector_length",
        "A vector is as long as its model's are.",
        "SELECT e.chunk_id FROM embeddings_embedding e JOIN embeddings_embeddingmodel m ON m.id = e.model_id "
        "WHERE vector_dims(e.vector) <> m.dimensions",
        forget,
        invariant="I3",
    )
    yield SanityCheck(
        "vector_values",
        "A vector is finite and not zero.",
        "SELECT chunk_id FROM embeddings_embedding WHERE NOT (vector_norm(vector) > 0 "
        "AND vector_norm(vector) < 'Infinity'::float8)",
        forget,
        invariant="I3",
    )
    for table, name in (("embeddings_embedding", "vector"), ("embeddings_lexicalentry", "words")):
        yield SanityCheck(
            f"{name}_collection",
            f"The {name} of a chunk stand under its document's collection; of a version in the making, under "
            "the document that it replaces.",
            f"SELECT t.chunk_id FROM {table} t JOIN documents_chunk c ON c.id = t.chunk_id "
            "JOIN documents_document d ON d.id = c.document_id "
            "WHERE t.collection_id <> coalesce(d.replaces_id, d.collection_id)",
            f"DELETE FROM {table} of these chunks; then {EMBED}",
            invariant="I7",
        )


def sentences() -> Iterator[SanityCheck]:
    table = "embeddings_sentencevectors"
    forget = f"DELETE FROM {table} of these chunks: they are found all the same, by their words and vectors."
    yield SanityCheck(
        "sentences_alone",
        "A chunk whose sentences have vectors has its own by the same model.",
        f"SELECT s.chunk_id FROM {table} s WHERE NOT EXISTS (SELECT FROM embeddings_embedding e "
        "WHERE e.chunk_id = s.chunk_id AND e.model_id = s.model_id)",
        forget,
    )
    yield SanityCheck(
        "sentences_places",
        "The sentences that have a vector follow each other in their chunk's text, each with one.",
        f"SELECT s.chunk_id FROM {table} s JOIN documents_chunk c ON c.id = s.chunk_id "
        "WHERE cardinality(s.bounds) <> 2 * cardinality(s.vectors) OR cardinality(s.bounds) = 0 "
        "OR s.bounds[1] < 0 OR s.bounds[cardinality(s.bounds)] > length(c.content) "
        "OR s.bounds <> ARRAY(SELECT place FROM unnest(s.bounds) place ORDER BY place)",
        forget,
    )
    yield SanityCheck(
        "sentences_values",
        "A sentence's vector is as long as its model's are, and not zero.",
        f"SELECT s.chunk_id FROM {table} s JOIN embeddings_embeddingmodel m ON m.id = s.model_id "
        "WHERE EXISTS (SELECT FROM unnest(s.vectors) v "
        "WHERE vector_dims(v) <> m.dimensions OR NOT l2_norm(v) > 0)",
        forget,
    )


def words() -> Iterator[SanityCheck]:
    yield SanityCheck(
        "words_missing",
        "A chunk with a vector has its words for the search.",
        "SELECT DISTINCT e.chunk_id FROM embeddings_embedding e "
        "WHERE NOT EXISTS (SELECT FROM embeddings_lexicalentry l WHERE l.chunk_id = e.chunk_id)",
        "DELETE FROM embeddings_embedding of these chunks; then " + EMBED,
        invariant="I3",
    )
    yield SanityCheck(
        "words_alone",
        "A chunk with words for the search has a vector.",
        "SELECT l.chunk_id FROM embeddings_lexicalentry l "
        "WHERE NOT EXISTS (SELECT FROM embeddings_embedding e WHERE e.chunk_id = l.chunk_id)",
        EMBED,
        invariant="I3",
    )
    yield SanityCheck(
        "lexeme_counts",
        "The counted words of a collection are those of its entries.",
        "WITH counted AS (SELECT collection_id, lexeme, sum(chunks) AS n FROM embeddings_lexemecount "
        "GROUP BY 1, 2 HAVING sum(chunks) <> 0), "
        "each (collection_id, lexeme) AS (SELECT l.collection_id, unnest(tsvector_to_array(l.lexemes)) "
        "FROM embeddings_lexicalentry l UNION ALL SELECT collection_id, '' FROM embeddings_lexicalentry), "
        "true_ones AS (SELECT collection_id, lexeme, count(*) AS n FROM each GROUP BY 1, 2) "
        "SELECT collection_id || ' ' || lexeme FROM counted "
        "FULL JOIN true_ones USING (collection_id, lexeme) WHERE counted.n IS DISTINCT FROM true_ones.n",
        "TRUNCATE embeddings_lexemecount and count anew from embeddings_lexicalentry.",
        invariant="I3",
    )


def checks() -> Iterator[SanityCheck]:
    """Yield all of them, cheap ones first. Runs one query: for the active model."""
    model = {"model": EmbeddingModel.objects.active().values_list("id", flat=True).first()}
    yield from orphans()
    yield from documents()
    yield from statuses(model)
    yield from items(model)
    yield from requests()
    yield from outbox()
    yield from vectors()
    yield from sentences()
    yield from words()
