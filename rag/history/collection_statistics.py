"""What a collection holds and how much it is asked, over all tables."""

from dataclasses import dataclass
from uuid import UUID

from documents.access import Access
from documents.library.collection_statistics import CollectionCounts, collection_stats
from embeddings.vectors.rows import vector_bytes
from rag.history.query_counts import questions_of_month


@dataclass(frozen=True, slots=True)
class CollectionStatistics:
    """vector_bytes: of vectors and of the lexical index's rows. questions: of the last 30 days."""

    counts: CollectionCounts
    vector_bytes: int
    questions: int


def collection_statistics(collection_id: UUID, *, access: Access) -> CollectionStatistics:
    """Four statements, whatever the size. Raises NotFound, Forbidden."""
    counts = collection_stats(collection_id, access=access)
    return CollectionStatistics(counts, vector_bytes(collection_id), questions_of_month(collection_id))
