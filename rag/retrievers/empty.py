"""What there is in the collections of a question that found nothing."""

from functools import lru_cache

from psycopg.sql import SQL, Literal

from knowlex.db.pool import fetch_one
from rag.answering.empty_results import Holdings, reason_of
from rag.retrievers.filtering import NARROW, condition_of, passing
from rag.types.answer import Reason
from rag.types.question import Question

# A search by vectors finds whatever has one, so where it found nothing, nothing has. Words are stored with a
# chunk's first vector. Of those that pass, the first NARROW are looked at: one that has words is enough.
_HOLDINGS = SQL("""
SELECT
    EXISTS (
        SELECT FROM documents_document WHERE collection_id = ANY(%(collections)s) AND replaces_id IS NULL
    ) AS documents,
    EXISTS (
        SELECT FROM documents_ingestitem
        WHERE status IN ('pending', 'processing') AND collection_id = ANY(%(collections)s)
    ) AS awaited,
    EXISTS ({passing}) AS passing,
    %(by_words)s AND EXISTS (
        SELECT FROM ({passing} LIMIT {enough}) AS p
        JOIN embeddings_lexicalentry AS l ON l.chunk_id = p.id
    ) AS findable
""")


async def why_nothing(question: Question) -> Reason:
    if not question.collection_ids:
        return "no_documents"
    condition = condition_of(question.filters)
    parameters = {
        "collections": list(question.collection_ids),
        "by_words": question.mode in ("sparse", "exact"),
        **condition.parameters,
    }
    row = await fetch_one(_statement(condition.conditions), parameters)
    return "no_documents" if row is None else reason_of(Holdings(**row))


@lru_cache(maxsize=256)
def _statement(conditions: str) -> bytes:
    return _HOLDINGS.format(passing=passing(conditions), enough=Literal(NARROW)).as_bytes(None)
