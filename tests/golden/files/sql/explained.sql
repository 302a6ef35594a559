-- POST /v1/search
-- {"query": "node", "settings": {"mode": "hybrid"}, "explain": "<chunk>"}

-- Statement 1, as hybrid.sql, statement 1
-- $1 = NULL

-- Statement 2
-- $1 = '<chunk>'
-- $2 = NULL
-- $3 = NULL
SELECT c.id FROM documents_chunk c JOIN documents_document d ON d.id = c.document_id
    WHERE c.id = $1 AND ($2::uuid[] IS NULL OR d.collection_id = ANY($2))
        AND ($3::text[] IS NULL OR d.readers IS NULL OR d.readers && $3::text[]);

-- Statement 3, as hybrid.sql, statement 3
-- $1 = '{<uuid>}'
-- $2 = <vector of 384 numbers>
-- $3 = '40'
-- $4 = '{8382534:3.58352}/16777216'
-- $5 = '''node'''
-- $6 = '3.58351893845611'
-- $7 = '0.5'
-- $8 = '60'
-- $9 = '0.5'
-- $10 = '20'
-- $11 = '{}'

-- Statement 4
-- $1 = '{<uuid>}'
-- $2 = '{node}'
-- $3 = '''node'''
-- $4 = '{8382534:3.58352}/16777216'
-- $5 = 'node'
-- $6 = <vector of 384 numbers>
-- $7 = '<chunk>'
SELECT coalesce(d.collection_id = ANY($1) AND d.replaces_id IS NULL, false) AS read,
    ARRAY[]::boolean[] AS passes,
    l.chunk_id IS NOT NULL AS has_words,
    ARRAY(
        SELECT word FROM unnest($2::text[]) AS word WHERE word = ANY(tsvector_to_array(l.lexemes))
    ) AS held,
    coalesce(l.lexemes @@ $3::tsquery, false) AS found_by_words,
    -(l.weights <#> $4::sparsevec) AS sparse_score,
    best.score AS best_sparse, best.better + 1 AS sparse_rank,
    (length(c.folded) - length(replace(c.folded, lower($5), ''))) / length($5) AS times,
    e.vector <=> $6::vector AS distance, closer.many + 1 AS dense_rank, EXISTS (SELECT FROM embeddings_embedding WHERE chunk_id = c.id AND model_id = 1) AS embedded
FROM (
    SELECT *, lower(regexp_replace(content, '\s+', ' ', 'g')) AS folded
    FROM documents_chunk WHERE id = $7
) AS c
JOIN documents_document AS d ON d.id = c.document_id
LEFT JOIN embeddings_lexicalentry AS l ON l.chunk_id = c.id
LEFT JOIN LATERAL (
    SELECT max(-(o.weights <#> $4::sparsevec)) AS score, count(*) FILTER (
        WHERE (o.weights <#> $4::sparsevec, o.chunk_id)
            < (l.weights <#> $4::sparsevec, l.chunk_id)
    ) AS better
    FROM embeddings_lexicalentry AS o
    WHERE o.collection_id = ANY($1) AND o.lexemes @@ $3::tsquery
) AS best ON true
LEFT JOIN embeddings_embedding AS e ON e.chunk_id = c.id AND e.model_id = 1
LEFT JOIN LATERAL (
    SELECT count(*) AS many FROM embeddings_embedding AS o
    WHERE o.model_id = 1 AND o.collection_id = ANY($1)
        AND (o.vector <=> $6::vector, o.chunk_id)
            < (e.vector <=> $6::vector, e.chunk_id)
) AS closer ON e.chunk_id IS NOT NULL;
