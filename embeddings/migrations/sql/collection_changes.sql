-- Vectors and words of a version in the making stand under its document's id, which is no collection's: they
-- change nothing yet. What goes with its document is not looked for again: that deletion says so itself.
-- The fences (OFFSET 0) keep this a walk along indexes: of a statement's own rows there are no statistics.
CREATE FUNCTION embeddings_collections_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM documents_collections_changed(ARRAY(SELECT DISTINCT collection_id FROM changed));
    RETURN NULL;
END $$;
CREATE FUNCTION embeddings_chunks_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM documents_collections_changed(ARRAY(
        SELECT DISTINCT d.collection_id FROM changed, LATERAL (
            SELECT document_id FROM documents_chunk WHERE id = changed.chunk_id OFFSET 0
        ) c, LATERAL (
            SELECT collection_id FROM documents_document
            WHERE id = c.document_id AND replaces_id IS NULL OFFSET 0
        ) d
    ));
    RETURN NULL;
END $$;
CREATE TRIGGER embeddings_change_by_insert AFTER INSERT ON embeddings_embedding
    REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION embeddings_collections_changed();
CREATE TRIGGER embeddings_change_by_update AFTER UPDATE ON embeddings_embedding
    REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION embeddings_collections_changed();
CREATE TRIGGER embeddings_change_by_delete AFTER DELETE ON embeddings_embedding
    REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION embeddings_chunks_changed();
CREATE TRIGGER embeddings_change_by_words AFTER UPDATE ON embeddings_lexicalentry
    REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION embeddings_collections_changed();
CREATE TRIGGER embeddings_change_by_sentences AFTER INSERT ON embeddings_sentencevectors
    REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION embeddings_chunks_changed();
