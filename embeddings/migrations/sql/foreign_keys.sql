-- Checked at once, and cascaded by the database itself: one DELETE takes everything along, whatever a worker
-- writes meanwhile.
ALTER TABLE embeddings_embedding ADD CONSTRAINT embeddings_embedding_chunk_id_fk
    FOREIGN KEY (chunk_id) REFERENCES documents_chunk (id) ON DELETE CASCADE;
ALTER TABLE embeddings_embedding ADD CONSTRAINT embeddings_embedding_model_id_fk
    FOREIGN KEY (model_id) REFERENCES embeddings_embeddingmodel (id) ON DELETE CASCADE;
ALTER TABLE embeddings_embeddingrequest ADD CONSTRAINT embeddings_embeddingrequest_chunk_id_fk
    FOREIGN KEY (chunk_id) REFERENCES documents_chunk (id) ON DELETE CASCADE;
ALTER TABLE embeddings_embeddingrequest ADD CONSTRAINT embeddings_embeddingrequest_model_id_fk
    FOREIGN KEY (model_id) REFERENCES embeddings_embeddingmodel (id) ON DELETE CASCADE;
ALTER TABLE embeddings_embeddingrequest ADD CONSTRAINT embeddings_embeddingrequest_run_id_fk
    FOREIGN KEY (run_id) REFERENCES embeddings_embeddingrun (id) ON DELETE CASCADE;
ALTER TABLE embeddings_embeddingrun ADD CONSTRAINT embeddings_embeddingrun_model_id_fk
    FOREIGN KEY (model_id) REFERENCES embeddings_embeddingmodel (id) ON DELETE CASCADE;
ALTER TABLE embeddings_indexmeasurement ADD CONSTRAINT embeddings_indexmeasurement_model_id_fk
    FOREIGN KEY (model_id) REFERENCES embeddings_embeddingmodel (id) ON DELETE CASCADE;
ALTER TABLE embeddings_lexicalentry ADD CONSTRAINT embeddings_lexicalentry_chunk_id_fk
    FOREIGN KEY (chunk_id) REFERENCES documents_chunk (id) ON DELETE CASCADE;
ALTER TABLE embeddings_sentencevectors ADD CONSTRAINT embeddings_sentencevectors_chunk_id_fk
    FOREIGN KEY (chunk_id) REFERENCES documents_chunk (id) ON DELETE CASCADE;
ALTER TABLE embeddings_sentencevectors ADD CONSTRAINT embeddings_sentencevectors_model_id_fk
    FOREIGN KEY (model_id) REFERENCES embeddings_embeddingmodel (id) ON DELETE CASCADE;
ALTER TABLE embeddings_vectorindex ADD CONSTRAINT embeddings_vectorindex_model_id_fk
    FOREIGN KEY (model_id) REFERENCES embeddings_embeddingmodel (id) ON DELETE CASCADE;
