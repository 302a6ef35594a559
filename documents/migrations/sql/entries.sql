-- Documents as lists show them: those that are stored, and those of jobs that are not (waiting, being read, or
-- failed before). Either half is a view of its own, so that each is read along its own indexes.
CREATE VIEW documents_entry_stored AS
SELECT d.id, d.collection_id, i.job_id, d.source, d.source_url, d.original_filename, d.title, d.checksum,
    d.size_bytes, d.page_count, d.chunk_count, d.status, coalesce(i.stage, '') AS stage,
    coalesce(i.error_code, '') AS error_code, coalesce(i.error, '') AS error,
    d.metadata, d.permissions, d.warnings, d.created_at, d.updated_at, d.language
FROM documents_document d LEFT JOIN documents_ingestitem i ON i.id = d.id
WHERE d.replaces_id IS NULL;

CREATE VIEW documents_entry_unstored AS
SELECT i.id, i.collection_id, i.job_id, ''::varchar AS source, i.source_url,
    i.filename AS original_filename, i.title, i.checksum, i.size_bytes, i.pages_done AS page_count,
    0 AS chunk_count, i.status, i.stage, i.error_code, i.error, i.metadata, '{}'::jsonb AS permissions,
    i.warnings, i.created_at, coalesce(i.ended_at, i.started_at, i.created_at) AS updated_at,
    ''::varchar AS language
FROM documents_ingestitem i
WHERE i.replaces_id IS NULL AND i.deleted_at IS NULL AND i.status <> 'completed'
    AND NOT EXISTS (SELECT FROM documents_document d WHERE d.id = i.id);

CREATE VIEW documents_entry AS
SELECT * FROM documents_entry_stored UNION ALL SELECT * FROM documents_entry_unstored;
