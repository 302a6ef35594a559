-- multilingual-e5-small gives other vectors from here on. Those that are stored go on under a name of their own,
-- judged by the weights of relevance that were theirs.
UPDATE embeddings_embeddingmodel SET name = 'multilingual-e5-small-mean', calibration = coalesce(calibration, '{
    "intercept": -12.60, "similarity": 1.66, "sentence": 2.05, "coverage": 1.93, "evidence": 1.63,
    "sentence_similarity": 1.66, "names": 1.36, "margin": 6.11, "base": 0.775, "spread": 0.02}')
WHERE name = 'multilingual-e5-small' AND provider = 'local' AND NOT options ? 'path'
    AND EXISTS (SELECT FROM embeddings_embedding e WHERE e.model_id = embeddings_embeddingmodel.id);
