"""Why a question found nothing at all. Plain Python.

Of several that hold, the first is told that the reader has to mend first:

1. `no_documents`: none in the collections that are read, and none on its way.
2. `embeddings_pending`: none yet, but some are being read; or those that the filters let through wait to be
   embedded. Waiting helps.
3. `filtered_out`: there are documents, and the filters let none of their chunks through. Waiting does not.
4. `below_threshold`: there is text to be found, and the question found none of it (`sparse` and `exact`).

`below_threshold` is also the reason where passages were found and none is relevant enough; `not_supported`
and `model_declined` come later, from what a synthesizer said of relevant passages.
"""

from functools import lru_cache
from typing import NamedTuple

from psycopg.sql import SQL, Literal

from documents.access import condition_on_readers
from embeddings.search.dense import NARROW
from knowlex.db.pool import fetch_one
from rag.retrievers.filtering import condition_of, read_parameters, select_passing_chunks
from rag.types.answer import Reason
from rag.types.question import Question


class Holdings(NamedTuple):
    """Of the collections that are read. documents: any. awaited: any is being read. passing: any chunk passes
    the filters; findable: any of those can be found by search.
    """

    documents: bool
    awaited: bool
    passing: bool
    findable: bool


def reason_of(held: Holdings) -> Reason:
    if not held.documents:
        return "embeddings_pending" if held.awaited else "no_documents"
    if not held.passing:
        return "filtered_out"
    return "below_threshold" if held.findable else "embeddings_pending"


# A search by vectors finds whatever has one, so where it found nothing, nothing has. Words are stored with a
# chunk's first vector. Of those that pass, the first NARROW are looked at: one that has words is enough.
_HOLDINGS = SQL("""
SELECT
    EXISTS (
        SELECT FROM documents_document
        WHERE collection_id = ANY(%(collections)s) AND replaces_id IS NULL AND {readable}
    ) AS documents,
    EXISTS (
        SELECT FROM documents_ingestitem
        WHERE status IN ('pending', 'processing') AND collection_id = ANY(%(collections)s) AND {readable}
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
    condition = condition_of(question)
    parameters = {
        "collections": list(question.collection_ids),
        "by_words": question.mode in ("sparse", "exact"),
        **condition.parameters,
        **read_parameters(question),
    }
    row = await fetch_one(_statement(condition.conditions), parameters, reader=question.principals)
    return "no_documents" if row is None else reason_of(Holdings(**row))


@lru_cache(maxsize=256)
def _statement(conditions: str) -> bytes:
    return _HOLDINGS.format(
        passing=select_passing_chunks(conditions),
        enough=Literal(NARROW),
        readable=SQL(condition_on_readers("readers")),
    ).as_bytes(None)
