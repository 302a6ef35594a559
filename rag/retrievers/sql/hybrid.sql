-- Passages by their vectors and by BM25, fused: weighted reciprocal rank fusion, weight / (k + rank), summed
-- over both rankings, rank from 1. Cormack, Clarke, Buettcher, SIGIR 2009; k = 60 is theirs. Only a chunk
-- with a vector of the active model is ever found, whichever ranking holds it. Of those that only words have
-- found it is looked up: no index is searched for NULL, which the others have for a key. The lists are
-- materialized: the planner would otherwise join while it orders, and take the distances of all chunks.
-- held: a list of words of which even the first chunk holds little of the question weighs less, down to
-- nothing: it knows a question in another language than the documents' by its names and numbers alone.
-- known_limit: %(limit)s again, as a number. The planner takes a LIMIT that it does not know for a tenth of all
-- rows, and then plans anew for each question, as the plan for any would join whole tables.
-- surest: the first of each list are candidates whatever the other list says: of sixty manuals that say the same
-- but for their names, only the words know which is meant.
WITH {passing_list}dense AS MATERIALIZED (
    SELECT chunk_id, distance, row_number() OVER (ORDER BY distance, chunk_id) AS rank
    FROM ({nearest}) AS nearest{known_limit}
),
sparse AS MATERIALIZED (
    SELECT chunk_id, -negative AS score, row_number() OVER (ORDER BY negative, chunk_id) AS rank FROM (
        SELECT chunk_id, negative FROM (
            SELECT chunk_id, weights <#> %(weights)s::sparsevec AS negative
            FROM ({holding}) AS holding ORDER BY negative, chunk_id
        ) AS l {passing_words}
        LIMIT %(limit)s
    ) AS matching
),
held AS MATERIALIZED (
    SELECT greatest(0, least(1,
        (coalesce(max(score), 0) / %(mass)s - {nothing}) / ({everything} - {nothing})
    )) AS weight
    FROM sparse
),
found AS MATERIALIZED (
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
        ORDER BY coalesce(dense.rank <= {surest}, false)
            OR coalesce(sparse.rank <= {surest} * (SELECT weight FROM held), false) DESC, score DESC, tie, chunk_id
        LIMIT %(candidates)s
    ) AS fused
)
{passages}
