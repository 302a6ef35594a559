-- As in foreign_keys.sql: a collection takes its sources along, and a source its files. What a file's document and
-- item are is known before they are there, and may be gone, so these have no constraint.
ALTER TABLE documents_source ADD CONSTRAINT documents_source_collection_id_fk
    FOREIGN KEY (collection_id) REFERENCES documents_collection (id) ON DELETE CASCADE;
ALTER TABLE documents_sourceitem ADD CONSTRAINT documents_sourceitem_source_id_fk
    FOREIGN KEY (source_id) REFERENCES documents_source (id) ON DELETE CASCADE;
