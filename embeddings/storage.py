"""How much room vectors take."""

from uuid import UUID

from django.db import connection

from knowlex.common.database import with_retries

_BYTES = """
    SELECT (SELECT coalesce(sum(pg_column_size(vector)), 0) FROM embeddings_embedding
            WHERE collection_id = %(collection)s)
        + (SELECT coalesce(sum(pg_column_size(lexemes) + pg_column_size(weights)), 0)
            FROM embeddings_lexicalentry
            WHERE collection_id = %(collection)s)
"""


def vector_bytes(collection_id: UUID) -> int:
    """Of all models' vectors of the collection, and of its rows of the lexical index."""

    def read() -> int:
        with connection.cursor() as cursor:
            cursor.execute(_BYTES, {"collection": collection_id})
            return int(cursor.fetchone()[0])

    return with_retries(read)
