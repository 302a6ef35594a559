"""Checks of the database: documents, vectors, words, and pending work of jobs, requests and the outbox."""

# ruff: noqa: S608 - the statements are put together from constants of this module

from collections.abc import Iterator

from django.apps import apps
from django.db.models import ForeignKey

from embeddings.sanity.types import SanityCheck

APPS = {"documents", "embeddings", "rag"}
LONG_AGO = "interval '5 minutes'"
EMBED = "POST /api/v1/embeddings/generate embeds what has no vector."
EMBED_ANEW = f"DELETE FROM embeddings_embedding of these chunks; then {EMBED}"
UPLOAD_AGAIN = "Delete the document and upload it again."
SHIP = "manage.py vector_store check tells more; a running worker ships what it can (manage.py up)."
REPEAT = "A running worker takes it up within seconds; start one (manage.py up)."
FORGET_SENTENCES = (
    "DELETE FROM embeddings_sentencevectors of these chunks: they are found all the same, by their words and "
    "vectors."
)
# Of the chunk c: its vector of the active model, its place in the queue, and in the outbox.
_VECTOR = "FROM embeddings_embedding e WHERE e.chunk_id = c.id AND e.model_id = %(model)s"
_REQUEST = "FROM embeddings_embeddingrequest q WHERE q.chunk_id = c.id AND q.model_id = %(model)s"
_WAITS = f"EXISTS (SELECT {_REQUEST} AND q.failed_at IS NULL)"
_UNSHIPPED = (
    "EXISTS (SELECT FROM embeddings_outboxentry o WHERE o.chunk_id = c.id AND o.model_id = %(model)s)"
)
_CHUNKS = "FROM documents_chunk c WHERE c.document_id = d.id"


def _status_check(status: str, rule: str, condition: str, invariant: str = "") -> SanityCheck:
    sql = f"SELECT d.id FROM documents_document d WHERE d.status = '{status}' AND NOT ({condition})"
    return SanityCheck(f"status_{status}", rule, sql, EMBED, invariant, settles=True)


def _collection_check(name: str, table: str) -> SanityCheck:
    return SanityCheck(
        f"{name}_collection",
        f"The {name} of a chunk stand under its document's collection; of a version in the making, under "
        "the document that it replaces.",
        f"""SELECT t.chunk_id FROM {table} t JOIN documents_chunk c ON c.id = t.chunk_id
        JOIN documents_document d ON d.id = c.document_id
        WHERE t.collection_id <> coalesce(d.replaces_id, d.collection_id)""",
        f"DELETE FROM {table} of these chunks; then {EMBED}",
        "I7",
    )


# Cheap ones first.
CHECKS = [
    SanityCheck(
        "default_collection",
        "The collection `default` is there.",
        "SELECT 'default' WHERE NOT EXISTS (SELECT FROM documents_collection WHERE name = 'default')",
        "Any upload makes it again.",
    ),
    SanityCheck(
        "one_per_checksum",
        "A collection holds the same bytes once.",
        """SELECT collection_id || ' ' || checksum FROM documents_document WHERE replaces_id IS NULL
        GROUP BY collection_id, checksum HAVING count(*) > 1""",
        "Delete all but one of the documents with this checksum.",
        "I1",
    ),
    SanityCheck(
        "chunks_numbered",
        "A document has chunk_count chunks, at least one, numbered from 0 without gaps.",
        """SELECT d.id FROM documents_document d LEFT JOIN documents_chunk c ON c.document_id = d.id
        GROUP BY d.id HAVING count(c.id) = 0 OR count(c.id) <> d.chunk_count OR min(c.chunk_index) <> 0
            OR max(c.chunk_index) <> count(c.id) - 1 OR count(DISTINCT c.chunk_index) <> count(c.id)""",
        UPLOAD_AGAIN,
        "I1",
    ),
    SanityCheck(
        "replacements",
        "A version in the making belongs to a job's document that is under way.",
        """SELECT d.id FROM documents_document d WHERE d.replaces_id IS NOT NULL AND NOT EXISTS
        (SELECT FROM documents_ingestitem i WHERE i.id = d.id AND i.status IN ('pending', 'processing'))""",
        "DELETE FROM documents_document WHERE id is one of these; the document that they replace stays.",
        "I2",
    ),
    _status_check(
        "completed",
        "A completed document has a vector of the active model for each chunk.",
        f"NOT EXISTS (SELECT {_CHUNKS} AND NOT EXISTS (SELECT {_VECTOR}))",
        "I3",
    ),
    _status_check(
        "processing",
        "A document that is processing has chunks that wait for their vectors, or to be shipped.",
        f"EXISTS (SELECT {_CHUNKS} AND ({_WAITS} OR {_UNSHIPPED}))",
    ),
    _status_check(
        "failed",
        "A failed document has chunks that could not be embedded.",
        f"EXISTS (SELECT {_CHUNKS} AND EXISTS (SELECT {_REQUEST} AND q.failed_at IS NOT NULL))",
    ),
    _status_check(
        "pending",
        "Of a pending document nothing waits, and not all is embedded.",
        f"""NOT EXISTS (SELECT {_CHUNKS} AND {_WAITS})
        AND EXISTS (SELECT {_CHUNKS} AND NOT EXISTS (SELECT {_VECTOR}))""",
    ),
    SanityCheck(
        "items_ended",
        "A job's document that has ended is in stage `ended`, has its time, and is in nobody's hands.",
        """SELECT id FROM documents_ingestitem WHERE status IN ('completed', 'failed')
        AND (lease IS NOT NULL OR leased_until IS NOT NULL OR stage <> 'ended' OR ended_at IS NULL)""",
        "Retry it, or delete it.",
        "I9",
    ),
    SanityCheck(
        "items_leased",
        "No job's document is held under a lease that ended long ago.",
        f"SELECT id FROM documents_ingestitem WHERE leased_until < clock_timestamp() - {LONG_AGO}",
        REPEAT,
        "I9",
    ),
    SanityCheck(
        "items_with_nobody",
        "A job's document in stage `embedding` has chunks that wait for their vectors, or to be shipped.",
        f"""SELECT i.id FROM documents_ingestitem i WHERE i.status = 'processing' AND i.stage = 'embedding'
        AND NOT EXISTS (
            SELECT FROM documents_chunk c WHERE c.document_id = i.id AND ({_WAITS} OR {_UNSHIPPED}))""",
        "Retry it.",
        "I9",
        settles=True,
    ),
    SanityCheck(
        "items_in_no_hands",
        "A job's document that is being read is in a worker's hands.",
        """SELECT id FROM documents_ingestitem
        WHERE status = 'processing' AND stage <> 'embedding' AND lease IS NULL""",
        "Retry it.",
        "I9",
    ),
    SanityCheck(
        "items_stored",
        "A job's document that is completed is stored, unless it was deleted.",
        """SELECT i.id FROM documents_ingestitem i WHERE i.status = 'completed' AND i.deleted_at IS NULL
        AND NOT EXISTS (SELECT FROM documents_document d WHERE d.id = coalesce(i.replaces_id, i.id))""",
        "Upload it again.",
        "I2",
    ),
    SanityCheck(
        "requests_leased",
        "No chunk is held for embedding under a lease that ended long ago.",
        f"""SELECT chunk_id FROM embeddings_embeddingrequest
        WHERE failed_at IS NULL AND leased_until < clock_timestamp() - {LONG_AGO}""",
        REPEAT,
        "I9",
    ),
    SanityCheck(
        "requests_failed",
        "What could not be embedded is in nobody's hands.",
        "SELECT chunk_id FROM embeddings_embeddingrequest WHERE failed_at IS NOT NULL AND lease IS NOT NULL",
        EMBED,
        "I9",
    ),
    SanityCheck(
        "outbox_shipped",
        "The vector store outside PostgreSQL hears of a changed vector within minutes.",
        f"""SELECT chunk_id || CASE WHEN error <> '' THEN ': ' || error ELSE '' END
        FROM embeddings_outboxentry WHERE created_at < clock_timestamp() - {LONG_AGO}""",
        SHIP,
        "I9",
    ),
    SanityCheck(
        "outbox_leased",
        "No vector is held for shipping under a lease that ended long ago.",
        f"""SELECT chunk_id FROM embeddings_outboxentry
        WHERE lease IS NOT NULL AND leased_until < clock_timestamp() - {LONG_AGO}""",
        REPEAT,
        "I9",
    ),
    SanityCheck(
        "outbox_in_use",
        "Only with a vector store outside PostgreSQL is there an outbox.",
        "SELECT chunk_id FROM embeddings_outboxentry WHERE NOT EXISTS (SELECT FROM embeddings_outsidestore)",
        "Start Knowlex again (manage.py up); it empties the outbox, or registers the store.",
    ),
    SanityCheck(
        "spaces_dropped",
        "The vector store outside PostgreSQL drops the space of a removed model within minutes.",
        f"""SELECT 'model ' || model_id FROM embeddings_droppedspace
        WHERE created_at < clock_timestamp() - {LONG_AGO}""",
        SHIP,
    ),
    SanityCheck(
        "vector_length",
        "A vector is as long as its model's are.",
        """SELECT e.chunk_id FROM embeddings_embedding e JOIN embeddings_embeddingmodel m ON m.id = e.model_id
        WHERE vector_dims(e.vector) <> m.dimensions""",
        EMBED_ANEW,
        "I3",
    ),
    SanityCheck(
        "vector_values",
        "A vector is finite and not zero.",
        """SELECT chunk_id FROM embeddings_embedding
        WHERE NOT (vector_norm(vector) > 0 AND vector_norm(vector) < 'Infinity'::float8)""",
        EMBED_ANEW,
        "I3",
    ),
    _collection_check("vector", "embeddings_embedding"),
    _collection_check("words", "embeddings_lexicalentry"),
    SanityCheck(
        "sentences_alone",
        "A chunk whose sentences have vectors has its own by the same model.",
        """SELECT s.chunk_id FROM embeddings_sentencevectors s WHERE NOT EXISTS (
            SELECT FROM embeddings_embedding e WHERE e.chunk_id = s.chunk_id AND e.model_id = s.model_id)""",
        FORGET_SENTENCES,
    ),
    SanityCheck(
        "sentences_places",
        "The sentences that have a vector follow each other in their chunk's text, each with one.",
        """SELECT s.chunk_id FROM embeddings_sentencevectors s JOIN documents_chunk c ON c.id = s.chunk_id
        WHERE cardinality(s.bounds) <> 2 * cardinality(s.vectors) OR cardinality(s.bounds) = 0
            OR s.bounds[1] < 0 OR s.bounds[cardinality(s.bounds)] > length(c.content)
            OR s.bounds <> ARRAY(SELECT place FROM unnest(s.bounds) place ORDER BY place)""",
        FORGET_SENTENCES,
    ),
    SanityCheck(
        "sentences_values",
        "A sentence's vector is as long as its model's are, and not zero.",
        """SELECT s.chunk_id FROM embeddings_sentencevectors s
        JOIN embeddings_embeddingmodel m ON m.id = s.model_id WHERE EXISTS (
            SELECT FROM unnest(s.vectors) v WHERE vector_dims(v) <> m.dimensions OR NOT l2_norm(v) > 0)""",
        FORGET_SENTENCES,
    ),
    SanityCheck(
        "words_missing",
        "A chunk with a vector has its words for the search.",
        """SELECT DISTINCT e.chunk_id FROM embeddings_embedding e
        WHERE NOT EXISTS (SELECT FROM embeddings_lexicalentry l WHERE l.chunk_id = e.chunk_id)""",
        EMBED_ANEW,
        "I3",
    ),
    SanityCheck(
        "words_alone",
        "A chunk with words for the search has a vector.",
        """SELECT l.chunk_id FROM embeddings_lexicalentry l
        WHERE NOT EXISTS (SELECT FROM embeddings_embedding e WHERE e.chunk_id = l.chunk_id)""",
        EMBED,
        "I3",
    ),
    SanityCheck(
        "lexeme_counts",
        "The counted words of a collection are those of its entries.",
        """WITH counted AS (
            SELECT collection_id, lexeme, sum(chunks) AS n FROM embeddings_lexemecount
            GROUP BY 1, 2 HAVING sum(chunks) <> 0
        ), each (collection_id, lexeme) AS (
            SELECT l.collection_id, unnest(tsvector_to_array(l.lexemes)) FROM embeddings_lexicalentry l
            UNION ALL SELECT collection_id, '' FROM embeddings_lexicalentry
        ), true_ones AS (SELECT collection_id, lexeme, count(*) AS n FROM each GROUP BY 1, 2)
        SELECT collection_id || ' ' || lexeme FROM counted
        FULL JOIN true_ones USING (collection_id, lexeme) WHERE counted.n IS DISTINCT FROM true_ones.n""",
        "TRUNCATE embeddings_lexemecount and count anew from embeddings_lexicalentry.",
        "I3",
    ),
]


def check_foreign_keys() -> Iterator[SanityCheck]:
    """Check what foreign keys hold, unless somebody has gone past them."""
    for model in apps.get_models():
        if model._meta.app_label in APPS and model._meta.managed:
            for field in model._meta.local_fields:
                if isinstance(field, ForeignKey):
                    yield _check_foreign_key(model._meta.db_table, field)


def _check_foreign_key(table: str, key: "ForeignKey[object, object]") -> SanityCheck:
    parent = key.related_model._meta
    return SanityCheck(
        f"{table}.{key.column}",
        f"Every {key.column} of {table} names a row of {parent.db_table}.",
        f"""SELECT DISTINCT t.{key.column} FROM {table} t WHERE t.{key.column} IS NOT NULL AND NOT EXISTS (
            SELECT FROM {parent.db_table} p WHERE p.{parent.pk.column} = t.{key.column})""",
        f"DELETE FROM {table} WHERE {key.column} is one of these.",
        "I7",
    )
