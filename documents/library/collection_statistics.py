"""Statistics of collections, counted by PostgreSQL."""

import json
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import connection

from documents.access import Access, condition_on_readers
from documents.library.collections import get_collection
from knowlex.db.threads import execute, with_retries

_PRESENT = """
    WITH RECURSIVE held (language) AS (
        (SELECT d.language FROM documents_document d WHERE d.collection_id = read.id
            ORDER BY d.language LIMIT 1)
        UNION ALL
        SELECT (SELECT d.language FROM documents_document d
            WHERE d.collection_id = read.id AND d.language > held.language ORDER BY d.language LIMIT 1)
        FROM held WHERE held.language IS NOT NULL
    )
    SELECT language FROM held WHERE language IS NOT NULL
"""
# Rows of `language`, "" for unknown; parameter: collections (uuid[]).
LANGUAGES = f"""
    SELECT DISTINCT found.language FROM unnest((SELECT %(collections)s::uuid[])) AS read (id),
        LATERAL ({_PRESENT}) AS found
"""  # noqa: S608 - no value is in it
_STORED = f"""
    SELECT DISTINCT found.language FROM documents_collection AS read, LATERAL ({_PRESENT}) AS found ORDER BY 1
"""  # noqa: S608


def stored_languages() -> list[str]:
    """Return the languages of all documents, "" for unknown; pending new versions count too."""
    return [code for (code,) in with_retries(lambda: execute(_STORED))]


READ, FEWEST_READ = 20_000, 200  # chunks, and documents, whose texts are read: of each step-th document
_STATS = f"""
    WITH stored AS MATERIALIZED (
        SELECT id, source, size_bytes, chunk_count, row_number() OVER (ORDER BY id) AS n
        FROM documents_document
        WHERE collection_id = %(collection)s AND replaces_id IS NULL AND {condition_on_readers("readers")}),
    whole AS (SELECT count(*) AS documents, coalesce(sum(chunk_count), 0) AS chunks,
            coalesce(sum(size_bytes), 0)::bigint AS bytes,
            greatest(1, least(coalesce(sum(chunk_count), 0) / %(read)s, count(*) / %(fewest)s)) AS step
        FROM stored),
    read AS MATERIALIZED (
        SELECT id, chunk_count FROM stored WHERE n %% (SELECT step FROM whole) = 0),
    scale AS (SELECT CASE WHEN step = 1 THEN 1
            ELSE chunks / (SELECT sum(chunk_count) FROM read)::float8 END AS times FROM whole)
    SELECT documents, chunks, round(times * c.tokens)::bigint AS tokens,
        whole.bytes + round(times * (c.bytes + p.bytes))::bigint AS bytes,
        (SELECT coalesce(jsonb_object_agg(status, n), '{{}}') FROM (SELECT status, count(*) AS n
            FROM documents_entry WHERE collection_id = %(collection)s AND error_code <> 'DUPLICATE'
                AND {condition_on_readers("readers")}
            GROUP BY status) s) AS by_status,
        (SELECT coalesce(jsonb_object_agg(lower(source), n), '{{}}') FROM (SELECT source, count(*) AS n
            FROM stored GROUP BY source) t) AS by_type
    FROM whole, scale,
        (SELECT coalesce(sum(token_count), 0) AS tokens, coalesce(sum(pg_column_size(content)), 0) AS bytes
            FROM documents_chunk WHERE document_id IN (SELECT id FROM read)) c,
        (SELECT coalesce(sum(pg_column_size(text)), 0) AS bytes
            FROM documents_page WHERE document_id IN (SELECT id FROM read)) p
"""  # noqa: S608 - constants only


@dataclass(frozen=True, slots=True)
class CollectionCounts:
    """Counts of a collection.

    tokens and bytes (stored files, text of pages and chunks): of more than READ chunks about, by the texts of
    some documents. by_status: with those not stored.
    """

    documents: int
    chunks: int
    tokens: int
    bytes: int
    by_status: dict[str, int]
    by_type: dict[str, int]


def collection_stats(collection_id: UUID, *, access: Access) -> CollectionCounts:
    """Count in one statement. Raises NotFound, Forbidden."""
    get_collection(collection_id, access=access)

    scope = {"collection": collection_id, "principals": access.reads_as, "read": READ, "fewest": FEWEST_READ}

    def read() -> dict[str, Any]:
        with connection.cursor() as cursor:
            cursor.execute(_STATS, scope)
            row = dict(zip((column.name for column in cursor.description), cursor.fetchone(), strict=True))
        return row | {name: json.loads(row[name]) for name in ("by_status", "by_type")}  # Django leaves text

    return CollectionCounts(**with_retries(read, reader=access.reads_as))
