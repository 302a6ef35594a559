"""Which documents say a word of a question, and how much of each does."""

from collections import OrderedDict
from collections.abc import Collection, Sequence

from documents.access import condition_on_readers
from embeddings.lexical.terms import quote_lexeme
from knowlex.db.replica import fetch_all
from rag.read_state import expected_state
from rag.retrievers.scope import Scope, Scopes
from rag.retrievers.statements import CHECKED_LAST, IN_COLLECTIONS
from rag.types.question import Question
from rag.types.retrieval import Saying

MOST_CHUNKS = 5000  # that say a word; one that more do is not looked up, whatever it is asked with
MOST_WORDS = 8  # of a question
MOST_SAYINGS = 200  # of those that a document says most, by its size
KEPT_STATES, KEPT_WORDS = 16, 10_000  # of each state
_SAYINGS = f"""
    WITH counted AS (
        SELECT n.lexeme, sum(n.chunks)::int AS chunks
        FROM embeddings_lexemecount AS n
        WHERE n.collection_id = ANY(%(collections)s) AND n.lexeme = ANY(%(lexemes)s)
        GROUP BY n.lexeme HAVING sum(n.chunks) BETWEEN 1 AND %(most_chunks)s
    ), said AS (
        SELECT counted.lexeme, counted.chunks AS all_chunks, c.document_id, count(*)::int AS chunks
        FROM counted
        JOIN unnest(%(lexemes)s::text[], %(queries)s::text[]) AS asked (lexeme, query) USING (lexeme)
        JOIN embeddings_lexicalentry AS l
            ON {{in_collections}} AND l.lexemes @@ asked.query::tsquery
        JOIN documents_chunk AS c ON c.id = l.chunk_id
        GROUP BY counted.lexeme, counted.chunks, c.document_id
    )
    SELECT said.lexeme, said.document_id, said.chunks,
        greatest(d.chunk_count, said.chunks) AS document_chunks,
        greatest(said.all_chunks, said.chunks) AS all_chunks,
        (SELECT coalesce(sum(n.chunks), 0)::int FROM embeddings_lexemecount AS n
            WHERE n.collection_id = ANY(%(collections)s) AND n.lexeme = '') AS read_chunks
    FROM said JOIN documents_document AS d ON d.id = said.document_id
    WHERE {condition_on_readers("d.readers")}
    ORDER BY said.chunks::float8 / greatest(d.chunk_count, 1) DESC, said.document_id, said.lexeme
    LIMIT %(most_sayings)s
"""  # noqa: S608 - constants only
# Of few of all chunks the index of collections may be the faster one.
_OF_FEW, _OF_MOST = (
    _SAYINGS.format(in_collections=one.as_string()) for one in (IN_COLLECTIONS, CHECKED_LAST)
)


class Sayings:
    """Looks up which documents say words. What was told is kept for each state of what is read."""

    def __init__(self) -> None:
        self._known: OrderedDict[tuple[str, tuple[str, ...] | None], dict[str, list[Saying]]] = OrderedDict()

    async def find(self, question: Question, words: Collection[str], scopes: Scopes) -> list[Saying]:
        """Return which documents say these lexemes, but for those that very many chunks say.

        Raises DatabaseUnavailable.
        """
        known = self._known_for(question)
        if lacking := [word for word in sorted(words) if word not in known][:MOST_WORDS]:
            scope = await scopes.of(question)
            found = await _find_sayings(question, lacking, scope) if scope else []
            known |= {word: [one for one in found if one.lexeme == word] for word in lacking}
        return [one for word in sorted(words) for one in known.get(word, ())]

    def _known_for(self, question: Question) -> dict[str, list[Saying]]:
        if not question.state:
            return {}
        key = question.state, question.principals and tuple(question.principals)
        known = self._known.setdefault(key, {})
        if len(known) > KEPT_WORDS:
            known.clear()
        self._known.move_to_end(key)
        if len(self._known) > KEPT_STATES:
            self._known.popitem(last=False)
        return known


async def _find_sayings(question: Question, words: Sequence[str], scope: Scope) -> list[Saying]:
    parameters = {
        "collections": list(question.collection_ids),
        "lexemes": list(words),
        "queries": list(map(quote_lexeme, words)),
        "most_chunks": MOST_CHUNKS,
        "most_sayings": MOST_SAYINGS,
        "principals": None if question.principals is None else list(question.principals),
    }
    statement = _OF_MOST if scope.reads_most else _OF_FEW
    rows = await fetch_all(statement, parameters, told=expected_state(question), reader=question.principals)
    return [Saying(**row) for row in rows]
