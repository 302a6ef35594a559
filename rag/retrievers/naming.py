"""Which documents say a word of a question, and how much of each does."""

from collections.abc import Collection

from documents.access import condition_on_readers
from embeddings.lexical.terms import quote_lexeme
from knowlex.db.replica import fetch_all
from rag.read_state import expected_state
from rag.types.question import Question
from rag.types.retrieval import Saying

MOST_CHUNKS = 5000  # that are looked at, those of the rarest words
MOST_WORDS = 8  # of a question
MOST_SAYINGS = 200  # of those that a document says most, by its size
# The collections in a form that no index serves: theirs would be read as a whole beside that of the words.
_SAYINGS = f"""
    WITH counted AS (
        SELECT n.lexeme, sum(n.chunks)::int AS chunks,
            sum(sum(n.chunks)) OVER (ORDER BY sum(n.chunks), n.lexeme) AS looked_at
        FROM embeddings_lexemecount AS n
        WHERE n.collection_id = ANY(%(collections)s) AND n.lexeme = ANY(%(lexemes)s)
        GROUP BY n.lexeme HAVING sum(n.chunks) > 0
    ), said AS (
        SELECT counted.lexeme, counted.chunks AS all_chunks, c.document_id, count(*)::int AS chunks
        FROM counted
        JOIN unnest(%(lexemes)s::text[], %(queries)s::text[]) AS asked (lexeme, query) USING (lexeme)
        JOIN embeddings_lexicalentry AS l
            ON (l.collection_id = ANY(%(collections)s)) IS TRUE AND l.lexemes @@ asked.query::tsquery
        JOIN documents_chunk AS c ON c.id = l.chunk_id
        WHERE counted.looked_at <= %(most_chunks)s
        GROUP BY counted.lexeme, counted.chunks, c.document_id
    )
    SELECT said.lexeme, said.document_id, said.chunks,
        greatest(d.chunk_count, said.chunks) AS document_chunks,
        greatest(said.all_chunks, said.chunks) AS all_chunks
    FROM said JOIN documents_document AS d ON d.id = said.document_id
    WHERE {condition_on_readers("d.readers")}
    ORDER BY said.chunks::float8 / greatest(d.chunk_count, 1) DESC, said.document_id, said.lexeme
    LIMIT %(most_sayings)s
"""  # noqa: S608 - constants only


async def find_sayings(question: Question, words: Collection[str]) -> tuple[Saying, ...]:
    """Return which documents say these lexemes, but for those that very many chunks say.

    Raises DatabaseUnavailable.
    """
    asked = sorted(words)[:MOST_WORDS]
    parameters = {
        "collections": list(question.collection_ids),
        "lexemes": asked,
        "queries": list(map(quote_lexeme, asked)),
        "most_chunks": MOST_CHUNKS,
        "most_sayings": MOST_SAYINGS,
        "principals": None if question.principals is None else list(question.principals),
    }
    rows = await fetch_all(_SAYINGS, parameters, told=expected_state(question), reader=question.principals)
    return tuple(Saying(**row) for row in rows)
