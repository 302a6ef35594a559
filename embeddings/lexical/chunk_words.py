"""The words of chunks as BM25 finds them: stored with a chunk's first vector, by its document's language."""

from collections.abc import Sequence
from uuid import UUID

from embeddings.lexical.terms import SPARSE_DIMENSIONS, lexemes, term_weights
from embeddings.types import ClaimedChunk
from knowlex.db.threads import execute, with_retries

_SEPARATOR = "\x1f"  # stands in no lexeme
_GIVEN = "unnest(%s::uuid[], %s::text[], %s::text[]) AS given (chunk_id, lexemes, weights)"
_LEXEMES = "array_to_tsvector(string_to_array(given.lexemes, chr(31))), given.weights::sparsevec"
# Those that have words already are left out: a second model's vectors come to the same words.
_LANGUAGES = """
    SELECT c.id, d.language FROM documents_chunk c JOIN documents_document d ON d.id = c.document_id
    WHERE c.id = ANY(%s) AND NOT EXISTS (SELECT FROM embeddings_lexicalentry l WHERE l.chunk_id = c.id)
"""
_INSERT = f"""
    INSERT INTO embeddings_lexicalentry (chunk_id, collection_id, lexemes, weights)
    SELECT given.chunk_id, coalesce(d.replaces_id, d.collection_id), {_LEXEMES}
    FROM {_GIVEN}
    JOIN documents_chunk c ON c.id = given.chunk_id JOIN documents_document d ON d.id = c.document_id
    ON CONFLICT DO NOTHING
"""  # noqa: S608 - no value is in it
_UPDATE = f"""
    UPDATE embeddings_lexicalentry l SET (lexemes, weights) = ROW ({_LEXEMES})
    FROM {_GIVEN} WHERE l.chunk_id = given.chunk_id
"""  # noqa: S608

# Only the index's owner may, who is somebody else where the tables were not made by Knowlex's own role.
_INDEX_PENDING = """
    SELECT gin_clean_pending_list(oid) FROM pg_class
    WHERE oid = to_regclass('lexical_by_lexeme') AND pg_has_role(relowner, 'USAGE')
"""


def store_words(chunks: Sequence[ClaimedChunk]) -> None:
    """Words of chunks that are there and have none. In a transaction, with their documents locked."""
    language_of = dict(execute(_LANGUAGES, [[chunk.chunk_id for chunk in chunks]]))
    new = [chunk for chunk in chunks if chunk.chunk_id in language_of]
    if new:
        execute(_INSERT, _columns(new, [lexemes(one.content, language_of[one.chunk_id]) for one in new]))


def replace_words(chunks: Sequence[ClaimedChunk], language: str) -> None:
    """Other words for chunks that have some; triggers keep the counts true."""
    execute(_UPDATE, _columns(chunks, [lexemes(chunk.content, language) for chunk in chunks]))


def _columns(
    chunks: Sequence[ClaimedChunk], words: Sequence[Sequence[str]]
) -> tuple[list[UUID], list[str], list[str]]:
    return (
        [chunk.chunk_id for chunk in chunks],
        [_SEPARATOR.join(sorted(set(found))) for found in words],
        [sparse_text(term_weights(found)) for found in words],
    )


def sparse_text(weights: dict[int, float]) -> str:
    """pgvector's notation of a sparsevec, whose positions count from 1."""
    items = ",".join(f"{place + 1}:{weight:.6g}" for place, weight in sorted(weights.items()))
    return f"{{{items}}}/{SPARSE_DIMENSIONS}"


def index_pending() -> None:
    """Have the index of words take in what was written lately, which it keeps in a list of up to 4 MB: each
    search reads all of that, 0.4 ms for 300 chunks. Costs nothing where there is nothing; of a large ingest
    under 2 %: 0.3 ms a chunk if 40 are taken in at once, 0.1 ms if 400 are.
    """
    with_retries(lambda: execute(_INDEX_PENDING))
