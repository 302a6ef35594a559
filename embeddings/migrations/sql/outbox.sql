-- What a store outside PostgreSQL is still to hear of, noted while there is such a store.
--
-- Statement-level triggers, so that a batch costs one statement more, and without a store one look at an empty
-- table. Keys are taken in one order, so that two writers of the same chunks wait and do not deadlock.
-- What changes while a worker has it in hand stays in its hand: the version tells it that more is to be done.
-- Whoever removes a whole model says so by knowlex.outbox = off: its space is dropped instead.
CREATE SEQUENCE embeddings_outbox_version;

CREATE FUNCTION embeddings_vectors_to_outbox() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT FROM embeddings_outsidestore)
        AND current_setting('knowlex.outbox', true) IS DISTINCT FROM 'off' THEN
        INSERT INTO embeddings_outboxentry AS o
            (model_id, chunk_id, version, attempts, error, created_at)
        SELECT model_id, chunk_id, nextval('embeddings_outbox_version'), 0, '', statement_timestamp()
        FROM (SELECT model_id, chunk_id FROM changed ORDER BY model_id, chunk_id) AS changed
        ON CONFLICT (model_id, chunk_id) DO UPDATE SET version = excluded.version, attempts = 0, error = '',
            leased_until = CASE WHEN o.lease IS NOT NULL THEN o.leased_until END;
    END IF;
    RETURN NULL;
END $$;

-- A version in the making is put under the collection that it is meant for: taking over, when its vectors move
-- there from the id of the document that it replaces, is no change to the store.
CREATE FUNCTION embeddings_rewritten_to_outbox() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT FROM embeddings_outsidestore)
        AND current_setting('knowlex.outbox', true) IS DISTINCT FROM 'off' THEN
        INSERT INTO embeddings_outboxentry AS o
            (model_id, chunk_id, version, attempts, error, created_at)
        SELECT model_id, chunk_id, nextval('embeddings_outbox_version'), 0, '', statement_timestamp()
        FROM (SELECT model_id, chunk_id FROM was JOIN now_is USING (model_id, chunk_id)
            WHERE was.vector <> now_is.vector OR was.collection_id <> now_is.collection_id
                AND EXISTS (SELECT FROM documents_collection c WHERE c.id = was.collection_id)
            ORDER BY model_id, chunk_id) AS changed
        ON CONFLICT (model_id, chunk_id) DO UPDATE SET version = excluded.version, attempts = 0, error = '',
            leased_until = CASE WHEN o.lease IS NOT NULL THEN o.leased_until END;
    END IF;
    RETURN NULL;
END $$;

CREATE TRIGGER embeddings_outbox_by_insert AFTER INSERT ON embeddings_embedding
    REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION embeddings_vectors_to_outbox();
CREATE TRIGGER embeddings_outbox_by_delete AFTER DELETE ON embeddings_embedding
    REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION embeddings_vectors_to_outbox();
CREATE TRIGGER embeddings_outbox_by_update AFTER UPDATE ON embeddings_embedding
    REFERENCING OLD TABLE AS was NEW TABLE AS now_is
    FOR EACH STATEMENT EXECUTE FUNCTION embeddings_rewritten_to_outbox();
