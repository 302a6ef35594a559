"""The facts about one chunk and a question, found or not: exact ranks, scores, words, filters."""

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any
from uuid import UUID

from psycopg.sql import SQL, Composable, Literal

from embeddings.lexical.index import sparse_text
from embeddings.search.dense import SearchModel
from embeddings.types import Vector
from embeddings.vectors.binary import vector_parameter
from knowlex.db.pool import Row, fetch_one
from rag.retrievers import words as literal
from rag.retrievers.filtering import Condition, passing_condition
from rag.retrievers.scope import Scope
from rag.retrievers.statements import HELD_ENOUGH, HELD_NOTHING, MISSING_RANK
from rag.types.question import Question
from rag.types.retrieval import Examination

# One row for each filter would be a join too many: each is a column of booleans, null counting as false.
_EXAMINE = SQL("""
SELECT coalesce(d.collection_id = ANY(%(collections)s) AND d.replaces_id IS NULL, false) AS read,
    ARRAY[{each}]::boolean[] AS passes,
    l.chunk_id IS NOT NULL AS has_words,
    ARRAY(
        SELECT word FROM unnest(%(asked)s::text[]) AS word WHERE word = ANY(tsvector_to_array(l.lexemes))
    ) AS held,
    coalesce(l.lexemes @@ %(words)s::tsquery, false) AS found_by_words,
    -(l.weights <#> %(weights)s::sparsevec) AS sparse_score,
    best.score AS best_sparse, best.better + 1 AS sparse_rank,
    (length(c.folded) - length(replace(c.folded, lower(%(literal)s), ''))) / length(%(literal)s) AS times,
    {dense}
FROM (
    SELECT *, lower(regexp_replace(content, '\\s+', ' ', 'g')) AS folded
    FROM documents_chunk WHERE id = %(chunk)s
) AS c
JOIN documents_document AS d ON d.id = c.document_id
LEFT JOIN embeddings_lexicalentry AS l ON l.chunk_id = c.id
LEFT JOIN LATERAL (
    SELECT max(-(o.weights <#> %(weights)s::sparsevec)) AS score, count(*) FILTER (
        WHERE (o.weights <#> %(weights)s::sparsevec, o.chunk_id)
            < (l.weights <#> %(weights)s::sparsevec, l.chunk_id)
    ) AS better
    FROM embeddings_lexicalentry AS o
    WHERE o.collection_id = ANY(%(collections)s) AND o.lexemes @@ %(words)s::tsquery{passing_words}
) AS best ON true
{join_dense}
""")
_NO_VECTOR = SQL("NULL::float8 AS distance, NULL::bigint AS dense_rank, {embedded} AS embedded")
_VECTOR = SQL("""
    e.vector <=> %(vector)s::vector AS distance, closer.many + 1 AS dense_rank, {embedded} AS embedded
""")
_JOIN_VECTOR = SQL("""
LEFT JOIN embeddings_embedding AS e ON e.chunk_id = c.id AND e.model_id = {model}
LEFT JOIN LATERAL (
    SELECT count(*) AS many FROM embeddings_embedding AS o
    WHERE o.model_id = {model} AND o.collection_id = ANY(%(collections)s)
        AND (o.vector <=> %(vector)s::vector, o.chunk_id)
            < (e.vector <=> %(vector)s::vector, e.chunk_id){passing}
) AS closer ON e.chunk_id IS NOT NULL
""")
_EMBEDDED = SQL("EXISTS (SELECT FROM embeddings_embedding WHERE chunk_id = c.id AND model_id = {model})")


async def examine(
    question: Question,
    chunk_id: UUID,
    scope: Scope | None,
    model: SearchModel | None,
    vector: Vector | None,
    weights: dict[str, Any],
) -> Examination | None:
    """Return what is known of the chunk, None for one that is not there.

    scope, model: None where nothing was ever embedded. vector: the question's, in the modes that have one.
    weights: `limit` and `candidates`, and for the fusion rrf_k, dense_weight and sparse_weight.
    """
    condition = scope.condition if scope else Condition()
    words = scope.words if scope else None
    parameters = {
        "chunk": chunk_id,
        "collections": list(question.collection_ids),
        "asked": list(words.idf) if words else [],
        "words": scope.candidates.query if scope else "",
        "weights": words.weights() if words else sparse_text({}),
        "literal": literal.make_needle(question.text).text,
        **({} if vector is None else {"vector": vector_parameter(vector)}),
        **condition.parameters,
    }
    each = tuple(sql for _, sql in condition.named)
    statement = _statement(model.id if model else None, each, condition.conditions, vector is not None)
    row = await fetch_one(statement, parameters, reader=question.principals)
    return None if row is None else _examination(question, row, scope, condition, weights)


@lru_cache(maxsize=64)
def _statement(model_id: int | None, each: Sequence[str], conditions: str, with_vector: bool) -> bytes:
    model = Literal(model_id)
    embedded: Composable = SQL("false") if model_id is None else _EMBEDDED.format(model=model)
    dense, join = _NO_VECTOR.format(embedded=embedded), SQL("").format()
    if with_vector:
        dense = _VECTOR.format(embedded=embedded)
        join = _JOIN_VECTOR.format(model=model, passing=passing_condition(conditions, "o.chunk_id"))
    statement = _EXAMINE.format(
        each=SQL(", ").join(SQL("coalesce({one}, false)").format(one=SQL(one)) for one in each),
        passing_words=passing_condition(conditions, "o.chunk_id"),
        dense=dense,
        join_dense=join,
    )
    return statement.as_bytes(None)


def _examination(
    question: Question, row: Row, scope: Scope | None, condition: Condition, weights: dict[str, Any]
) -> Examination:
    failing = (name for (name, _), passes in zip(condition.named, row["passes"], strict=True) if not passes)
    by_words = row["found_by_words"] and question.mode in ("hybrid", "sparse")
    distance = row["distance"]
    facts = Examination(
        read=row["read"],
        failing=tuple(dict.fromkeys(failing)),
        embedded=row["embedded"],
        has_words=row["has_words"],
        limit=weights["limit"],
        candidates=weights["candidates"],
        similarity=None if distance is None else 1 - distance,
        dense_rank=None if distance is None else row["dense_rank"],
        sparse_score=row["sparse_score"] if row["held"] else None,
        sparse_rank=row["sparse_rank"] if by_words else None,
        asked=scope.words.idf if scope else {},
        held=tuple(row["held"]),
        found_by_words=by_words,
        times=row["times"] if question.mode == "exact" else None,
    )
    if question.mode != "hybrid":
        return facts
    return replace(facts, fused_score=_fused(facts, row, scope, weights))


def _fused(facts: Examination, row: Row, scope: Scope | None, weights: dict[str, Any]) -> float | None:
    """Fuse as the search's statement does; None where neither ranking holds the chunk."""
    ranks = [rank if rank and rank <= facts.limit else None for rank in (facts.dense_rank, facts.sparse_rank)]
    if scope is None or not any(ranks):
        return None
    held = ((row["best_sparse"] or 0.0) / scope.words.mass - HELD_NOTHING) / (HELD_ENOUGH - HELD_NOTHING)
    dense, sparse = (1 / (weights["rrf_k"] + (rank or MISSING_RANK)) for rank in ranks)
    of_words = weights["sparse_weight"] * max(0.0, min(1.0, held))
    return float(weights["dense_weight"] * dense + of_words * sparse)
