-- Checked at once, and cascaded by the database itself: one DELETE takes everything along, whatever a worker
-- writes meanwhile.
ALTER TABLE documents_apikeycollection ADD CONSTRAINT documents_apikeycollection_collection_id_fk
    FOREIGN KEY (collection_id) REFERENCES documents_collection (id) ON DELETE CASCADE;
ALTER TABLE documents_apikeycollection ADD CONSTRAINT documents_apikeycollection_key_id_fk
    FOREIGN KEY (key_id) REFERENCES documents_apikey (id) ON DELETE CASCADE;
ALTER TABLE documents_chunk ADD CONSTRAINT documents_chunk_document_id_fk
    FOREIGN KEY (document_id) REFERENCES documents_document (id) ON DELETE CASCADE;
ALTER TABLE documents_document ADD CONSTRAINT documents_document_collection_id_fk
    FOREIGN KEY (collection_id) REFERENCES documents_collection (id) ON DELETE CASCADE;
ALTER TABLE documents_document ADD CONSTRAINT documents_document_replaces_id_fk
    FOREIGN KEY (replaces_id) REFERENCES documents_document (id) ON DELETE CASCADE;
ALTER TABLE documents_ingestitem ADD CONSTRAINT documents_ingestitem_collection_id_fk
    FOREIGN KEY (collection_id) REFERENCES documents_collection (id) ON DELETE CASCADE;
ALTER TABLE documents_ingestitem ADD CONSTRAINT documents_ingestitem_job_id_fk
    FOREIGN KEY (job_id) REFERENCES documents_ingestjob (id) ON DELETE CASCADE;
ALTER TABLE documents_ingestitem ADD CONSTRAINT documents_ingestitem_replaces_id_fk
    FOREIGN KEY (replaces_id) REFERENCES documents_document (id) ON DELETE CASCADE;
ALTER TABLE documents_ingestjob ADD CONSTRAINT documents_ingestjob_collection_id_fk
    FOREIGN KEY (collection_id) REFERENCES documents_collection (id) ON DELETE CASCADE;
ALTER TABLE documents_page ADD CONSTRAINT documents_page_document_id_fk
    FOREIGN KEY (document_id) REFERENCES documents_document (id) ON DELETE CASCADE;
