"""Checks of what searches look at: vectors, the words of chunks, and how they are counted."""

# ruff: noqa: S608 - table and column names come from the models

from collections.abc import Iterator

from embeddings.sanity.types import EMBED, Check


def vectors() -> Iterator[Check]:
    forget = "DELETE FROM embeddings_embedding of these chunks; then " + EMBED
    yield Check(
        "vector_length",
        "A vector is as long as its model's are.",
        "SELECT e.chunk_id FROM embeddings_embedding e JOIN embeddings_embeddingmodel m ON m.id = e.model_id "
        "WHERE vector_dims(e.vector) <> m.dimensions",
        forget,
        invariant="I3",
    )
    yield Check(
        "vector_values",
        "A vector is finite and not zero.",
        "SELECT chunk_id FROM embeddings_embedding WHERE NOT (vector_norm(vector) > 0 "
        "AND vector_norm(vector) < 'Infinity'::float8)",
        forget,
        invariant="I3",
    )
    for table, name in (("embeddings_embedding", "vector"), ("embeddings_lexicalentry", "words")):
        yield Check(
            f"{name}_collection",
            f"The {name} of a chunk stand under its document's collection; of a version in the making, under "
            "the document that it replaces.",
            f"SELECT t.chunk_id FROM {table} t JOIN documents_chunk c ON c.id = t.chunk_id "
            "JOIN documents_document d ON d.id = c.document_id "
            "WHERE t.collection_id <> coalesce(d.replaces_id, d.collection_id)",
            f"DELETE FROM {table} of these chunks; then {EMBED}",
            invariant="I7",
        )


def sentences() -> Iterator[Check]:
    table = "embeddings_sentencevectors"
    forget = f"DELETE FROM {table} of these chunks: they are found all the same, by their words and vectors."
    yield Check(
        "sentences_alone",
        "A chunk whose sentences have vectors has its own by the same model.",
        f"SELECT s.chunk_id FROM {table} s WHERE NOT EXISTS (SELECT FROM embeddings_embedding e "
        "WHERE e.chunk_id = s.chunk_id AND e.model_id = s.model_id)",
        forget,
    )
    yield Check(
        "sentences_places",
        "The sentences that have a vector follow each other in their chunk's text, each with one.",
        f"SELECT s.chunk_id FROM {table} s JOIN documents_chunk c ON c.id = s.chunk_id "
        "WHERE cardinality(s.bounds) <> 2 * cardinality(s.vectors) OR cardinality(s.bounds) = 0 "
        "OR s.bounds[1] < 0 OR s.bounds[cardinality(s.bounds)] > length(c.content) "
        "OR s.bounds <> ARRAY(SELECT place FROM unnest(s.bounds) place ORDER BY place)",
        forget,
    )
    yield Check(
        "sentences_values",
        "A sentence's vector is as long as its model's are, and not zero.",
        f"SELECT s.chunk_id FROM {table} s JOIN embeddings_embeddingmodel m ON m.id = s.model_id "
        "WHERE EXISTS (SELECT FROM unnest(s.vectors) v "
        "WHERE vector_dims(v) <> m.dimensions OR NOT l2_norm(v) > 0)",
        forget,
    )


def words() -> Iterator[Check]:
    yield Check(
        "words_missing",
        "A chunk with a vector has its words for the search.",
        "SELECT DISTINCT e.chunk_id FROM embeddings_embedding e "
        "WHERE NOT EXISTS (SELECT FROM embeddings_lexicalentry l WHERE l.chunk_id = e.chunk_id)",
        "DELETE FROM embeddings_embedding of these chunks; then " + EMBED,
        invariant="I3",
    )
    yield Check(
        "words_alone",
        "A chunk with words for the search has a vector.",
        "SELECT l.chunk_id FROM embeddings_lexicalentry l "
        "WHERE NOT EXISTS (SELECT FROM embeddings_embedding e WHERE e.chunk_id = l.chunk_id)",
        EMBED,
        invariant="I3",
    )
    yield Check(
        "lexeme_counts",
        "The counted words of a collection are those of its entries.",
        "WITH counted AS (SELECT collection_id, lexeme, sum(chunks) AS n FROM embeddings_lexemecount "
        "GROUP BY 1, 2 HAVING sum(chunks) <> 0), "
        "each (collection_id, lexeme) AS (SELECT l.collection_id, unnest(tsvector_to_array(l.lexemes)) "
        "FROM embeddings_lexicalentry l UNION ALL SELECT collection_id, '' FROM embeddings_lexicalentry), "
        "true_ones AS (SELECT collection_id, lexeme, count(*) AS n FROM each GROUP BY 1, 2) "
        "SELECT collection_id || ' ' || lexeme FROM counted "
        "FULL JOIN true_ones USING (collection_id, lexeme) WHERE counted.n IS DISTINCT FROM true_ones.n",
        "TRUNCATE embeddings_lexemecount and count anew from embeddings_lexicalentry.",
        invariant="I3",
    )
