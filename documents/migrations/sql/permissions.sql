-- Who may read a document is worked out when it is written: `readers`, NULL where everybody may who may use the
-- collection. Whatever is not plainly public is closed: an unknown visibility, names without a visibility.
CREATE FUNCTION documents_readers_of(permissions jsonb, brought_by text) RETURNS text[]
LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    readers text[] := array_remove(ARRAY[brought_by], '');
    names_anybody boolean := false;
    kind text; list text;
BEGIN
    FOR kind, list IN VALUES ('user:', 'allowed_users'), ('group:', 'allowed_groups') LOOP
        IF jsonb_typeof(permissions -> list) = 'array' AND permissions -> list <> '[]' THEN
            readers := readers || ARRAY(SELECT kind || name FROM jsonb_array_elements_text(permissions -> list) AS name);
            names_anybody := true;
        END IF;
    END LOOP;
    IF coalesce(permissions ->> 'visibility', CASE WHEN names_anybody THEN 'restricted' ELSE 'public' END) = 'public'
    THEN RETURN NULL;
    END IF;
    RETURN readers;
END $$;

-- A new version is read by whoever reads the document that it will replace.
CREATE FUNCTION documents_set_readers() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'INSERT' AND NEW.replaces_id IS NOT NULL THEN
        SELECT permissions, brought_by INTO NEW.permissions, NEW.brought_by
        FROM documents_document WHERE id = NEW.replaces_id;
        NEW.permissions := coalesce(NEW.permissions, '{}');
        NEW.brought_by := coalesce(NEW.brought_by, '');
    END IF;
    NEW.readers := documents_readers_of(NEW.permissions, NEW.brought_by);
    RETURN NEW;
END $$;
CREATE TRIGGER documents_readers BEFORE INSERT OR UPDATE OF permissions, brought_by, readers
    ON documents_document FOR EACH ROW EXECUTE FUNCTION documents_set_readers();

-- A job's document has readers before it is stored: those of the collection's new documents; of the document
-- that it replaces, or that has the same bytes and is named in its error.
CREATE FUNCTION documents_set_item_readers() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE other uuid := coalesce(NEW.duplicate_of, NEW.replaces_id);
BEGIN
    IF other IS NOT NULL THEN
        SELECT readers INTO NEW.readers FROM documents_document WHERE id = other;
        IF FOUND THEN RETURN NEW; END IF;
    END IF;
    SELECT documents_readers_of(coalesce(c.settings -> 'default_permissions', '{}'), j.brought_by)
    INTO NEW.readers
    FROM documents_ingestjob j JOIN documents_collection c ON c.id = j.collection_id WHERE j.id = NEW.job_id;
    RETURN NEW;
END $$;
CREATE TRIGGER documents_item_readers BEFORE INSERT OR UPDATE OF duplicate_of, readers
    ON documents_ingestitem FOR EACH ROW EXECUTE FUNCTION documents_set_item_readers();

CREATE OR REPLACE VIEW documents_entry_stored AS
SELECT d.id, d.collection_id, i.job_id, d.source, d.source_url, d.original_filename, d.title, d.checksum,
    d.size_bytes, d.page_count, d.chunk_count, d.status, coalesce(i.stage, '') AS stage,
    coalesce(i.error_code, '') AS error_code, coalesce(i.error, '') AS error,
    d.metadata, d.permissions, d.warnings, d.created_at, d.updated_at, d.language, d.readers
FROM documents_document d LEFT JOIN documents_ingestitem i ON i.id = d.id
WHERE d.replaces_id IS NULL;

CREATE OR REPLACE VIEW documents_entry_unstored AS
SELECT i.id, i.collection_id, i.job_id, ''::varchar AS source, i.source_url,
    i.filename AS original_filename, i.title, i.checksum, i.size_bytes, i.pages_done AS page_count,
    0 AS chunk_count, i.status, i.stage, i.error_code, i.error, i.metadata, '{}'::jsonb AS permissions,
    i.warnings, i.created_at, coalesce(i.ended_at, i.started_at, i.created_at) AS updated_at,
    ''::varchar AS language, i.readers
FROM documents_ingestitem i
WHERE i.replaces_id IS NULL AND i.deleted_at IS NULL AND i.status <> 'completed'
    AND NOT EXISTS (SELECT FROM documents_document d WHERE d.id = i.id);

CREATE OR REPLACE VIEW documents_entry AS
SELECT * FROM documents_entry_stored UNION ALL SELECT * FROM documents_entry_unstored;

-- What is there already: who brought it is known where the job is on record.
UPDATE documents_ingestjob j
SET brought_by = coalesce('account:' || k.user_id, 'key:' || k.id) FROM documents_apikey k WHERE k.id = j.key_id;
UPDATE documents_document d SET brought_by = j.brought_by
FROM documents_ingestitem i JOIN documents_ingestjob j ON j.id = i.job_id
WHERE i.id = d.id AND d.permissions <> '{}' AND j.brought_by <> '';
UPDATE documents_document SET readers = NULL WHERE permissions <> '{}';
UPDATE documents_ingestitem i SET readers = NULL
FROM documents_collection c WHERE c.id = i.collection_id AND c.settings ? 'default_permissions';
