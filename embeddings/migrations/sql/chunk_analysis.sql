-- Words and numbers of some hundred bytes: compressing them would cost each question more than reading them.
ALTER TABLE embeddings_chunkanalysis ALTER COLUMN analysis SET STORAGE EXTERNAL;
ALTER TABLE embeddings_chunkanalysis ADD CONSTRAINT embeddings_chunkanalysis_chunk_id_fk
    FOREIGN KEY (chunk_id) REFERENCES documents_chunk (id) ON DELETE CASCADE;
