"""Checks of documents and their status, and of all rows that name others: one statement each."""

# ruff: noqa: S608 - table and column names come from the models

from collections.abc import Iterator

from django.apps import apps
from django.db.models import ForeignKey

from embeddings.sanity.types import EMBED, UNSHIPPED, VECTOR, WAITING, Check

APPS = {"documents", "embeddings", "rag"}
DELETE_AGAIN = "Delete the document and upload it again."
_CHUNKS = "FROM documents_chunk c WHERE c.document_id = d.id"


def orphans() -> Iterator[Check]:
    """Foreign keys hold this, unless somebody has gone past them."""
    for model in apps.get_models():
        if model._meta.app_label not in APPS or not model._meta.managed:
            continue
        for one in model._meta.local_fields:
            if isinstance(one, ForeignKey):
                yield _orphan(model._meta.db_table, one)


def _orphan(table: str, key: "ForeignKey[object, object]") -> Check:
    parent = key.related_model._meta
    target = parent.pk.column
    return Check(
        f"{table}.{key.column}",
        f"Every {key.column} of {table} names a row of {parent.db_table}.",
        f"SELECT DISTINCT t.{key.column} FROM {table} t WHERE t.{key.column} IS NOT NULL "
        f"AND NOT EXISTS (SELECT FROM {parent.db_table} p WHERE p.{target} = t.{key.column})",
        f"DELETE FROM {table} WHERE {key.column} is one of these.",
        invariant="I7",
    )


def documents() -> Iterator[Check]:
    yield Check(
        "default_collection",
        "The collection `default` is there.",
        "SELECT 'default' WHERE NOT EXISTS (SELECT FROM documents_collection WHERE name = 'default')",
        "Any upload makes it again.",
    )
    yield Check(
        "one_per_checksum",
        "A collection holds the same bytes once.",
        "SELECT collection_id || ' ' || checksum FROM documents_document WHERE replaces_id IS NULL "
        "GROUP BY collection_id, checksum HAVING count(*) > 1",
        "Delete all but one of the documents with this checksum.",
        invariant="I1",
    )
    yield Check(
        "chunks_numbered",
        "A document has chunk_count chunks, at least one, numbered from 0 without gaps.",
        "SELECT d.id FROM documents_document d LEFT JOIN documents_chunk c ON c.document_id = d.id "
        "GROUP BY d.id HAVING count(c.id) = 0 OR count(c.id) <> d.chunk_count OR min(c.chunk_index) <> 0 "
        "OR max(c.chunk_index) <> count(c.id) - 1 OR count(DISTINCT c.chunk_index) <> count(c.id)",
        DELETE_AGAIN,
        invariant="I1",
    )
    yield Check(
        "replacements",
        "A version in the making belongs to a job's document that is under way.",
        "SELECT d.id FROM documents_document d WHERE d.replaces_id IS NOT NULL AND NOT EXISTS "
        "(SELECT FROM documents_ingestitem i WHERE i.id = d.id AND i.status IN ('pending', 'processing'))",
        "DELETE FROM documents_document WHERE id is one of these; the document that they replace stays.",
        invariant="I2",
    )


def statuses(model: dict[str, int | None]) -> Iterator[Check]:
    told = {
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
    for status, (rule, says, invariant) in told.items():
        yield Check(
            f"status_{status}",
            says,
            f"SELECT d.id FROM documents_document d WHERE d.status = '{status}' AND NOT ({rule})",
            EMBED,
            invariant,
            model,
            settles=True,
        )
