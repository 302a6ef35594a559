-- A row for each statement that changes what a question may find, and none is ever updated, so that writers
-- neither wait for one another nor deadlock; for the same reason there is no foreign key to the collection.
-- The marks are random: no sum of them is ever met twice, not after a deletion nor in a restored database.
-- status and updated_at change with the work that is done on a document, and no answer shows them.
CREATE FUNCTION documents_collections_changed(ids uuid[]) RETURNS void LANGUAGE sql AS $$
    INSERT INTO documents_collectionchange (collection_id, mark)
    SELECT id, (random() * 9007199254740991)::bigint FROM documents_collection WHERE id = ANY(ids)
$$;
CREATE FUNCTION documents_documents_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM documents_collections_changed(
        ARRAY(SELECT DISTINCT collection_id FROM changed WHERE replaces_id IS NULL));
    RETURN NULL;
END $$;
CREATE FUNCTION documents_documents_rewritten() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM documents_collections_changed(ARRAY(
        SELECT DISTINCT unnest(ARRAY[was.collection_id, now_is.collection_id])
        FROM was JOIN now_is USING (id)
        WHERE (was.replaces_id IS NULL OR now_is.replaces_id IS NULL)
            AND to_jsonb(was) - '{status,updated_at}'::text[]
                <> to_jsonb(now_is) - '{status,updated_at}'::text[]
    ));
    RETURN NULL;
END $$;
CREATE TRIGGER documents_change_by_insert AFTER INSERT ON documents_document
    REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION documents_documents_changed();
CREATE TRIGGER documents_change_by_delete AFTER DELETE ON documents_document
    REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION documents_documents_changed();
CREATE TRIGGER documents_change_by_update AFTER UPDATE ON documents_document
    REFERENCING OLD TABLE AS was NEW TABLE AS now_is
    FOR EACH STATEMENT EXECUTE FUNCTION documents_documents_rewritten();
