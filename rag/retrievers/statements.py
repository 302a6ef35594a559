"""The SQL that gives a passage its sentences: where they stand, and how similar each is to the question."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from psycopg.sql import SQL, Composable, Literal

from documents.library.collection_statistics import LANGUAGES
from documents.types import UNREAD_WARNINGS
from embeddings.search.dense import MODEL, SearchModel, dense_statement
from rag.retrievers.filtering import NARROW, is_passing, passing
from rag.types.question import Mode

# For what has been chosen already, in the same round trip: of `c`, the passage's chunk, by the model that the
# question's %(vector)s is of. Both vectors have length 1: the inner product is the cosine. The question's is
# made a halfvec once by its own SELECT; an array is unnested in its order.
COLUMNS = SQL("sentences.bounds::text AS bounds, sentences.similarities")
NO_COLUMNS = SQL("NULL AS bounds, NULL AS similarities")
JOIN = SQL("""
LEFT JOIN LATERAL (
    SELECT s.bounds, ARRAY(
        SELECT (-(one.vector <#> (SELECT %(vector)s::vector::halfvec)))::real
        FROM (SELECT unnest(s.vectors) AS vector) AS one
    ) AS similarities
    FROM embeddings_sentencevectors AS s WHERE s.chunk_id = c.id AND s.model_id = {model}
) AS sentences ON true
""")


@lru_cache(maxsize=2048)
def _pairs(bounds: str | None) -> tuple[tuple[int, int], ...]:
    """bounds: as PostgreSQL writes an array. The same passages come again and again."""
    places = [int(place) for place in (bounds or "").strip("{}").split(",") if place]
    return tuple(zip(places[::2], places[1::2], strict=True))


def take(row: dict[str, Any]) -> None:
    """Turn the columns into those fields of `Passage`; a chunk without stored sentences has none."""
    row["bounds"] = _pairs(row["bounds"])
    row["similarities"] = tuple(row["similarities"] or ())


# The active model and, of the collections that are read, chunks_with: in how many chunks each word stands;
# under "" the number of chunks. passing: how many chunks the filters let through, counted up to NARROW; null
# without filters. languages: of the documents, each found by one step in the index. No row where nothing was
# ever embedded. The inner SELECTs hide the values from the planner: it would plan anew for each question.
_SCOPE = SQL("""
SELECT model.*,
    EXISTS (
        SELECT FROM embeddings_embedding
        WHERE model_id = model.id
            AND collection_id = ANY((SELECT %(collections)s::uuid[])::uuid[])
    ) AS has_vectors,
    (
        SELECT coalesce(jsonb_object_agg(lexeme, chunks), '{{}}') FROM (
            SELECT lexeme, sum(chunks) AS chunks FROM embeddings_lexemecount
            WHERE collection_id = ANY((SELECT %(collections)s::uuid[])::uuid[])
                AND lexeme = ANY((SELECT %(lexemes)s::text[])::text[])
            GROUP BY lexeme
        ) AS counted
    ) AS chunks_with,
    {passing} AS passing,
    (SELECT coalesce(array_agg(language), '{{}}') FROM ({languages}) AS held) AS languages
FROM ({model}) AS model
""")
_COUNT_PASSING = SQL("(SELECT count(*) FROM ({passing} LIMIT {enough}) AS counted)")
# Of these words alone.
COUNTS = SQL("""
SELECT lexeme, sum(chunks) AS chunks FROM embeddings_lexemecount
WHERE collection_id = ANY((SELECT %(collections)s::uuid[])::uuid[])
    AND lexeme = ANY((SELECT %(lexemes)s::text[])::text[])
GROUP BY lexeme
""").as_bytes(None)

# A ranking that lacks a chunk counts as if it held it at this rank.
MISSING_RANK = 1000
# Best BM25 score over the idf of the whole question: from where on the list counts at all, and in full.
# Measured, 5th and 50th percentile: English questions 0.68 and 1.08, German ones of English texts 0.08, 0.28.
HELD_NOTHING, HELD_ENOUGH = 0.2, 0.5

_DENSE = SQL("""
    SELECT chunk_id, distance, row_number() OVER (ORDER BY distance, chunk_id) AS rank
    FROM ({dense}) AS nearest
""")
# Each product is worked out once, and both lists are in order as they come from below.
_SPARSE = SQL("""
    SELECT chunk_id, -negative AS score, row_number() OVER (ORDER BY negative, chunk_id) AS rank FROM (
        SELECT l.chunk_id, l.weights <#> %(weights)s::sparsevec AS negative
        FROM embeddings_lexicalentry AS l
        WHERE l.collection_id = ANY(%(collections)s) AND l.lexemes @@ %(words)s::tsquery{passing}
        ORDER BY negative, l.chunk_id
        LIMIT %(limit)s
    ) AS matching
""")
_HELD = SQL("""
    SELECT greatest(0, least(1,
        (coalesce(max(score), 0) / %(mass)s - {nothing}) / ({everything} - {nothing})
    )) AS weight
    FROM sparse
""").format(nothing=Literal(HELD_NOTHING), everything=Literal(HELD_ENOUGH))
# Weighted reciprocal rank fusion: weight / (k + rank), summed over both rankings, rank from 1.
# Cormack, Clarke, Buettcher, SIGIR 2009; k = 60 is theirs.
# Only a chunk with a vector of the active model is ever found, whichever ranking holds it. Of those that only
# words have found it is looked up: no index is searched for NULL, which the others have for a key. The lists
# are materialized: the planner would otherwise join while it orders, and take the distances of all chunks.
# A list of words of which even the first chunk holds little of the question weighs less, down to nothing: it
# knows a question in another language than the documents' by its names and numbers alone.
_FUSED = SQL("""
    SELECT chunk_id, distance, dense_rank, sparse_rank, score, tie, coalesce(sparse_score, (
        SELECT nullif(-(l.weights <#> %(weights)s::sparsevec), 0)
        FROM embeddings_lexicalentry AS l WHERE l.chunk_id = fused.chunk_id
    )) AS sparse_score
    FROM (
        SELECT coalesce(dense.chunk_id, e.chunk_id) AS chunk_id,
            coalesce(dense.distance, e.vector <=> %(vector)s::vector) AS distance,
            dense.rank AS dense_rank, sparse.rank AS sparse_rank, sparse.score AS sparse_score,
            %(dense_weight)s::float8 / (%(rrf_k)s::float8 + coalesce(dense.rank, {missing}))
                + %(sparse_weight)s::float8 * (SELECT weight FROM held)
                    / (%(rrf_k)s::float8 + coalesce(sparse.rank, {missing})) AS score,
            coalesce(dense.distance, e.vector <=> %(vector)s::vector) AS tie
        FROM dense FULL JOIN sparse USING (chunk_id)
        LEFT JOIN embeddings_embedding AS e ON e.model_id = {model}
            AND e.chunk_id = CASE WHEN dense.chunk_id IS NULL THEN sparse.chunk_id END
        WHERE coalesce(dense.chunk_id, e.chunk_id) IS NOT NULL
        ORDER BY score DESC, tie, chunk_id
        LIMIT %(candidates)s
    ) AS fused
""")
_BY_DENSE = SQL("""
    SELECT chunk_id, distance, rank AS dense_rank, NULL::bigint AS sparse_rank, NULL::float8 AS sparse_score,
        1 - distance AS score, distance AS tie
    FROM dense ORDER BY rank LIMIT %(candidates)s
""")
_BY_SPARSE = SQL("""
    SELECT chunk_id, NULL::float8 AS distance, NULL::bigint AS dense_rank, rank AS sparse_rank,
        score AS sparse_score, score, 0 AS tie
    FROM sparse ORDER BY rank LIMIT %(candidates)s
""")
# The literal in its chunk, letter case and runs of white space aside: how often, and where its longest word
# is. Matching white space costs more than the rest: a single word is counted without, and of several the
# longest is looked for first. OFFSET 0: what stands in it is worked out once.
_BY_LITERAL = SQL("""
    SELECT chunk_id, NULL::float8 AS distance, NULL::bigint AS dense_rank, NULL::bigint AS sparse_rank,
        NULL::float8 AS sparse_score, times::float8 AS score, place AS tie
    FROM (
        SELECT chunk_id, {times} AS times, strpos(folded, needle.word) AS place
        FROM (
            SELECT t.id AS chunk_id, lower(t.content) AS folded
            FROM ({possible}) AS possible JOIN documents_chunk AS t ON t.id = possible.chunk_id OFFSET 0
        ) AS candidate, needle
        WHERE strpos(folded, (SELECT word FROM needle)) > 0 OFFSET 0
    ) AS counted
    WHERE times > 0
    ORDER BY times DESC, place, chunk_id LIMIT %(candidates)s
""")
_TIMES_ONE_WORD = SQL("""
    (octet_length(folded) - octet_length(replace(folded, needle.word, ''))) / octet_length(needle.word)
""")
_TIMES = SQL("regexp_count(folded, needle.pattern)")
_NEEDLE = SQL("SELECT lower(%(longest)s) AS word, lower(%(pattern)s) AS pattern")
_HOLDING_WORDS = SQL("""
    SELECT l.chunk_id FROM embeddings_lexicalentry AS l
    WHERE l.collection_id = ANY(%(collections)s) AND l.lexemes @@ %(words)s::tsquery{passing}
""")
_HOLDING_ANY = SQL("""
    SELECT l.chunk_id FROM ({passing}) AS p JOIN embeddings_lexicalentry AS l ON l.chunk_id = p.id
""")
# Chunks that other words or vectors have found, as the question itself sees them.
_JUDGED = SQL("""
    SELECT e.chunk_id, e.vector <=> %(vector)s::vector AS distance,
        NULL::bigint AS dense_rank, NULL::bigint AS sparse_rank,
        CASE WHEN l.lexemes @@ %(words)s::tsquery THEN -(l.weights <#> %(weights)s::sparsevec)
            END AS sparse_score, given.score, e.vector <=> %(vector)s::vector AS tie
    FROM unnest(%(ids)s::uuid[], %(scores)s::float8[]) AS given (chunk_id, score)
    JOIN embeddings_embedding AS e ON e.chunk_id = given.chunk_id AND e.model_id = {model}
    LEFT JOIN embeddings_lexicalentry AS l ON l.chunk_id = given.chunk_id
""")
# Chunks by their places in documents, whatever a search would say of them.
_BESIDE = SQL("""
    SELECT c.id AS chunk_id, {distance} AS distance, NULL::bigint AS dense_rank, NULL::bigint AS sparse_rank,
        NULL::float8 AS sparse_score, 0::float8 AS score, 0 AS tie
    FROM unnest(%(documents)s::uuid[], %(indexes)s::int[]) AS place (document_id, chunk_index)
    JOIN documents_chunk AS c ON c.document_id = place.document_id AND c.chunk_index = place.chunk_index
    JOIN documents_document AS d ON d.id = c.document_id
    {join_vector}
    WHERE d.collection_id = ANY(%(collections)s) AND d.replaces_id IS NULL{conditions}
""")
# Chunks of a document at even distances: the first of each of `count` equal stretches.
_SAMPLE = SQL("""
    SELECT chunk_id, distance, NULL::bigint AS dense_rank, NULL::bigint AS sparse_rank,
        NULL::float8 AS sparse_score, 0::float8 AS score, 0 AS tie
    FROM (
        SELECT c.id AS chunk_id, {distance} AS distance, count(*) OVER () AS chunks,
            row_number() OVER (ORDER BY c.chunk_index) - 1 AS place
        FROM documents_chunk AS c JOIN documents_document AS d ON d.id = c.document_id
        {join_vector}
        WHERE c.document_id = %(document)s
            AND d.collection_id = ANY(%(collections)s) AND d.replaces_id IS NULL{conditions}
    ) AS numbered
    WHERE place = 0 OR place * %(count)s / chunks > (place - 1) * %(count)s / chunks
""")
_DISTANCE = SQL("e.vector <=> %(vector)s::vector")
_JOIN_VECTOR = SQL("JOIN embeddings_embedding AS e ON e.chunk_id = c.id AND e.model_id = {model}")
# Which of the chunks that a store named are there, and pass the filters.
_PASSING_AMONG = SQL("""
    SELECT coalesce(array_agg(e.chunk_id), '{{}}') AS ids
    FROM unnest(%(near)s::uuid[]) AS near (chunk_id)
    JOIN embeddings_embedding AS e ON e.chunk_id = near.chunk_id AND e.model_id = {model}
    WHERE e.collection_id = ANY(%(collections)s){passing}
""")
_PASSAGES = SQL("""
SELECT c.id AS chunk_id, c.document_id, d.original_filename AS document_name,
    nullif(d.warnings, '[]') AS document_warnings, d.language,
    CASE WHEN d.warnings <> '[]' THEN (
        SELECT coalesce(jsonb_agg(number), '[]') FROM (
            SELECT number FROM documents_page
            WHERE document_id = d.id AND warnings ?| {unread} ORDER BY number LIMIT 1000
        ) AS unread
    ) END AS unread_pages,
    coalesce(nullif(d.title, ''), d.original_filename) AS title,
    c.chunk_index, c.content, c.page_number, c.last_page, c.chapter, c.section, c.start_char, c.token_count,
    found.distance, found.dense_rank, found.sparse_rank, found.sparse_score, found.score,
    found.score AS fused_score, {sentences}
FROM found
JOIN documents_chunk AS c ON c.id = found.chunk_id
JOIN documents_document AS d ON d.id = c.document_id
{join_sentences}
ORDER BY found.score DESC, found.tie, c.id
""")


@lru_cache(maxsize=256)
def scope(conditions: str) -> bytes:
    """Parameters: collections, lexemes, and those of the conditions (see `filtering.Condition`)."""
    counted: Composable = SQL("NULL::bigint")
    if conditions:
        counted = _COUNT_PASSING.format(passing=passing(conditions), enough=Literal(NARROW))
    return _SCOPE.format(model=MODEL, passing=counted, languages=SQL(LANGUAGES)).as_bytes(None)


@lru_cache(maxsize=256)
def by_meaning(model: SearchModel, mode: Mode, conditions: str, narrow: bool) -> bytes:
    """Passages by both rankings (`hybrid`) or by their vectors alone (`dense`), best first.

    Parameters: vector, collections, limit (of each ranking), candidates (of the result), those of the
    conditions, and `near` where the model is searched outside; for `hybrid` words, weights, dense_weight,
    sparse_weight and rrf_k too.
    """
    near = dense_statement(model, _where(conditions, narrow, "e.chunk_id"))
    lists: dict[str, Composable] = {"dense": _DENSE.format(dense=near)}
    if mode == "dense":
        return _statement(lists, _BY_DENSE, conditions, narrow, model.id)
    lists["sparse"] = _SPARSE.format(passing=_where(conditions, narrow, "l.chunk_id"))
    lists["held"] = _HELD
    fused = _FUSED.format(model=Literal(model.id), missing=Literal(MISSING_RANK))
    return _statement(lists, fused, conditions, narrow, model.id)


@lru_cache(maxsize=256)
def passing_among(model_id: int, conditions: str) -> bytes:
    """One row: ids. Parameters: near, collections, those of the conditions."""
    passing = is_passing(conditions, "e.chunk_id")
    return _PASSING_AMONG.format(model=Literal(model_id), passing=passing).as_bytes(None)


@lru_cache(maxsize=256)
def judged(model: SearchModel) -> bytes:
    """These chunks as passages. Parameters: ids, scores, vector, words and weights of the question."""
    return _statement({}, _JUDGED.format(model=Literal(model.id)), "", False, model.id)


@lru_cache(maxsize=256)
def by_words(conditions: str, narrow: bool) -> bytes:
    """Passages by BM25 alone. Parameters: words, weights, collections, limit, candidates, the conditions'."""
    sparse = _SPARSE.format(passing=_where(conditions, narrow, "l.chunk_id"))
    return _statement({"sparse": sparse}, _BY_SPARSE, conditions, narrow)


@lru_cache(maxsize=256)
def by_literal(conditions: str, narrow: bool, with_words: bool, one_word: bool) -> bytes:
    """Passages that hold a string. Parameters: longest, pattern, collections, candidates, the conditions'.

    one_word: the string is one. with_words: `words` finds those that may hold it; without, all are looked at.
    """
    if with_words:
        possible = _HOLDING_WORDS.format(passing=_where(conditions, narrow, "l.chunk_id"))
    else:
        possible = _HOLDING_ANY.format(passing=passing(conditions))
    times = _TIMES_ONE_WORD if one_word else _TIMES
    found = _BY_LITERAL.format(possible=possible, times=times)
    return _statement({"needle": _NEEDLE}, found, conditions, narrow)


@lru_cache(maxsize=256)
def beside(model_id: int | None, conditions: str) -> bytes:
    """Passages by their places. Parameters: documents, indexes, collections, those of the conditions, and
    vector where there is a model; then only what has a vector of it is found, as in any search.
    """
    return _of_places(_BESIDE, model_id, conditions)


@lru_cache(maxsize=256)
def sample(model_id: int | None, conditions: str) -> bytes:
    """Passages spread over a document. Parameters: document, count, and else those of `beside`."""
    return _of_places(_SAMPLE, model_id, conditions)


def _of_places(found: SQL, model_id: int | None, conditions: str) -> bytes:
    distance, join = SQL("NULL::float8").format(), SQL("").format()
    if model_id is not None:
        distance, join = _DISTANCE.format(), _JOIN_VECTOR.format(model=Literal(model_id))
    chosen = found.format(distance=distance, join_vector=join, conditions=SQL(conditions))
    return _statement({}, chosen, "", False, model_id)


def _where(conditions: str, narrow: bool, chunk: str) -> Composable:
    if conditions and narrow:
        return SQL(" AND {chunk} IN (SELECT id FROM passing)").format(chunk=SQL(chunk))
    return is_passing(conditions, chunk)


def _statement(
    lists: Mapping[str, Composable],
    found: Composable,
    conditions: str,
    narrow: bool,
    model_id: int | None = None,
) -> bytes:
    """model_id: of the question's vector, where there is one."""
    if conditions and narrow:
        lists = {"passing": passing(conditions), **lists}
    parts: list[Composable] = [
        SQL("{name} AS MATERIALIZED ({query})").format(name=SQL(name), query=query)
        for name, query in {**lists, "found": found}.items()
    ]
    passages = _PASSAGES.format(
        unread=Literal(sorted(UNREAD_WARNINGS)),
        sentences=NO_COLUMNS if model_id is None else COLUMNS,
        join_sentences=SQL("") if model_id is None else JOIN.format(model=Literal(model_id)),
    )
    return (SQL("WITH ") + SQL(", ").join(parts) + passages).as_bytes(None)
