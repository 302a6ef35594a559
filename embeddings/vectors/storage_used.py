"""How much room vectors take, and of which model a chunk's is."""

from collections.abc import Sequence
from uuid import UUID

from embeddings.models import Embedding
from knowlex.db.threads import execute, with_retries

_BYTES = """
    SELECT (SELECT coalesce(sum(pg_column_size(vector)), 0) FROM embeddings_embedding
            WHERE collection_id = %(collection)s)
        + (SELECT coalesce(sum(pg_column_size(lexemes) + pg_column_size(weights)), 0)
            FROM embeddings_lexicalentry
            WHERE collection_id = %(collection)s)
        + (SELECT coalesce(sum(pg_column_size(s.bounds) + pg_column_size(s.vectors)), 0)
            FROM embeddings_sentencevectors s JOIN embeddings_embedding e USING (chunk_id, model_id)
            WHERE e.collection_id = %(collection)s)
"""


def vector_bytes(collection_id: UUID) -> int:
    """Of all models' vectors of the collection, sentences included, and of its rows of the lexical index."""

    return int(with_retries(lambda: execute(_BYTES, {"collection": collection_id}))[0][0])


def fetch_model_names(chunk_ids: Sequence[UUID]) -> dict[UUID, str]:
    """Chunk -> the active model's name, for those that have its vector; in one statement."""
    rows = Embedding.objects.filter(chunk_id__in=chunk_ids, model__active=True)
    return dict(with_retries(lambda: list(rows.values_list("chunk_id", "model__name"))))
