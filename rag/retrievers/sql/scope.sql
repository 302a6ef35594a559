-- The active model and, of the collections that are read, chunks_with: in how many chunks each word stands;
-- under "" the number of chunks. passing: how many chunks the filters let through, counted up to COUNTED,
-- unless a sample shows that there are more; null without filters. passing_share: of all chunks, by the sample.
-- all_chunks: of all collections, roughly. languages: of the documents, each found by one step in the index. No row where
-- nothing was ever embedded. OFFSET 0: the planner would else take the sample once for each time that it is named.
-- The inner SELECTs hide the values from the planner: it would plan anew for each
-- question.
SELECT scope.*, CASE
        WHEN passing_share * (chunks_with ->> '')::bigint > {enough} THEN {enough} ELSE {passing}
    END AS passing
FROM (SELECT model.*,
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
    {share} AS passing_share,
    (SELECT reltuples FROM pg_class WHERE oid = 'embeddings_lexicalentry'::regclass) AS all_chunks,
    (SELECT coalesce(array_agg(language), '{{}}') FROM ({languages}) AS held) AS languages
FROM ({model}) AS model OFFSET 0
) AS scope
