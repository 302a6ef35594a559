-- Where the sentences of a passage stand, and how similar each is to the question: of `c`, the passage's
-- chunk, by the model that the question's vector is of. Both vectors have length 1: the inner product is the
-- cosine. The question's is made a halfvec once by its own SELECT; an array is unnested in its order.
LEFT JOIN LATERAL (
    SELECT s.bounds, ARRAY(
        SELECT (-(one.vector <#> (SELECT %(vector)s::vector::halfvec)))::real
        FROM (SELECT unnest(s.vectors) AS vector) AS one
    ) AS similarities
    FROM embeddings_sentencevectors AS s WHERE s.chunk_id = c.id AND s.model_id = {model}
) AS sentences ON true
