"""What must hold after every fault, read straight from the database and the file store."""

import numpy as np
from pgvector import Vector

from tests.provider import Provider, vector_of
from tests.support.stack import Stack
from tests.support.waiting import wait_until

BATCH = 20


def assert_documents_whole(stack: Stack) -> None:
    """I1, I2: chunks numbered 0..n-1, none without document; row, pages, chunks and file come together."""
    wrong = stack.sql(
        """
        SELECT d.id, d.chunk_count, count(c.id) AS chunks, max(c.chunk_index) AS highest
        FROM documents_document d LEFT JOIN documents_chunk c ON c.document_id = d.id
        GROUP BY d.id
        HAVING count(c.id) = 0 OR count(c.id) <> d.chunk_count OR min(c.chunk_index) <> 0
            OR max(c.chunk_index) <> count(c.id) - 1 OR count(DISTINCT c.chunk_index) <> count(c.id)
        """
    )
    assert wrong == []
    doubled = (
        "SELECT checksum FROM documents_document WHERE replaces_id IS NULL "
        "GROUP BY collection_id, checksum HAVING count(*) > 1"
    )
    assert stack.sql(doubled) == []
    for table in ("documents_chunk", "documents_page"):
        orphans = "document_id NOT IN (SELECT id FROM documents_document)"
        assert stack.count(table, orphans) == 0
    quotes = "quoted_text <> '' AND document_id NOT IN (SELECT id FROM documents_document)"
    assert stack.count("rag_citation", quotes) == 0  # I7
    owned = "SELECT file FROM documents_document UNION SELECT file FROM documents_ingestitem WHERE file <> ''"
    kept = {stack.folder / "files" / row["file"] for row in stack.sql(owned)}
    assert set(stack.stored_files()) == kept


def assert_settled(stack: Stack) -> None:
    """I9: nothing waits, nothing is leased."""
    assert stack.count("embeddings_embeddingrequest", "failed_at IS NULL") == 0


def assert_jobs_settled(stack: Stack) -> None:
    """Every document of every job has ended, is held by nobody, and says as much as its document does."""
    assert (
        stack.count("documents_ingestitem", "status IN ('pending', 'processing') OR lease IS NOT NULL") == 0
    )
    assert stack.count("documents_ingestitem", "(status = 'failed') <> (error <> '')") == 0
    assert stack.count("documents_document", "status = 'processing'") == 0
    completed_without = """
        status = 'completed' AND EXISTS (
            SELECT FROM documents_chunk c WHERE c.document_id = documents_document.id
            AND NOT EXISTS (SELECT FROM embeddings_embedding e WHERE e.chunk_id = c.id))
    """
    assert stack.count("documents_document", completed_without) == 0


def assert_words_counted(stack: Stack) -> None:
    """In each collection each word is counted in as many chunks as it stands in."""
    wrong = stack.sql(
        """
        SELECT * FROM (
            SELECT l.collection_id, w.lexeme, count(*) AS n
            FROM embeddings_lexicalentry l, unnest(tsvector_to_array(l.lexemes) || ARRAY['']) AS w (lexeme)
            GROUP BY 1, 2
        ) real FULL JOIN (
            SELECT collection_id, lexeme, sum(chunks) AS n FROM embeddings_lexemecount
            GROUP BY 1, 2 HAVING sum(chunks) <> 0
        ) counted USING (collection_id, lexeme)
        WHERE real.n IS DISTINCT FROM counted.n LIMIT 5
        """
    )
    assert wrong == []


def assert_embedded_once(stack: Stack, *, but: int = 0) -> None:
    """I3 without the values: every chunk but `but` of them has one vector, and every vector a chunk."""
    chunks, vectors = stack.count("documents_chunk"), stack.count("embeddings_embedding")
    assert vectors == chunks - but
    assert stack.count("embeddings_embedding", "chunk_id NOT IN (SELECT id FROM documents_chunk)") == 0
    assert stack.count("embeddings_lexicalentry") == vectors
    counted = stack.sql("SELECT coalesce(sum(chunks), 0) AS n FROM embeddings_lexemecount WHERE lexeme = ''")
    assert counted[0]["n"] == vectors


def assert_own_vectors(stack: Stack) -> None:
    """I3: every stored vector is the one of its own text, by the provider's pure function."""
    rows = stack.sql(
        "SELECT c.content, e.vector::text AS vector FROM embeddings_embedding e "
        "JOIN documents_chunk c ON c.id = e.chunk_id"
    )
    for row in rows:
        stored = Vector.from_text(row["vector"]).to_numpy()
        assert np.allclose(stored, vector_of(row["content"], len(stored)), atol=1e-5), row["content"][:80]


def assert_asked_once(stack: Stack, provider: Provider, *, beyond: int = 0) -> None:
    """I4: each chunk's text was asked for, and at most `beyond` askings more than there are chunks."""
    texts = [row["content"] for row in stack.sql("SELECT content FROM documents_chunk")]
    asked = provider.asked()
    assert [text for text in texts if not asked[text]] == []
    assert sum(asked[text] for text in set(texts)) <= len(texts) + beyond


def wait_embedded(stack: Stack, timeout_s: float = 30.0) -> None:
    """Until every chunk has its vector and nothing waits."""

    def all_done() -> bool:
        done = stack.count("embeddings_embedding") == stack.count("documents_chunk")
        return done and stack.count("embeddings_embeddingrequest", "failed_at IS NULL") == 0

    wait_until(all_done, timeout_s, "all chunks to be embedded")
