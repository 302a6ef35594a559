-- As in foreign_keys.sql: the collection takes its members along.
ALTER TABLE documents_collectionmember ADD CONSTRAINT documents_collectionmember_collection_id_fk
    FOREIGN KEY (collection_id) REFERENCES documents_collection (id) ON DELETE CASCADE;
