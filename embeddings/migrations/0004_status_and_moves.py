"""What is embedded already says so; lexeme counts stay true when a new version's words are moved."""

from django.db import migrations

COUNT_MOVED = """
CREATE FUNCTION embeddings_count_moved_lexemes() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO embeddings_lexemecount (collection_id, lexeme, chunks)
    SELECT collection_id, lexeme, sum(step) FROM (
        SELECT collection_id, unnest(tsvector_to_array(lexemes)) AS lexeme, -1 AS step FROM was
        UNION ALL SELECT collection_id, '', -1 FROM was
        UNION ALL SELECT collection_id, unnest(tsvector_to_array(lexemes)), 1 FROM now_is
        UNION ALL SELECT collection_id, '', 1 FROM now_is
    ) moved GROUP BY collection_id, lexeme HAVING sum(step) <> 0;
    RETURN NULL;
END $$;
CREATE TRIGGER embeddings_lexemes_moved AFTER UPDATE ON embeddings_lexicalentry
    REFERENCING OLD TABLE AS was NEW TABLE AS now_is
    FOR EACH STATEMENT EXECUTE FUNCTION embeddings_count_moved_lexemes();
"""
NO_COUNT_MOVED = """
DROP TRIGGER embeddings_lexemes_moved ON embeddings_lexicalentry;
DROP FUNCTION embeddings_count_moved_lexemes();
"""
STATUS = """
UPDATE documents_document d SET status = found.status FROM (
    SELECT c.document_id, CASE
        WHEN bool_or(q.id IS NOT NULL AND q.failed_at IS NULL AND e.chunk_id IS NULL) THEN 'processing'
        WHEN bool_and(e.chunk_id IS NOT NULL) THEN 'completed'
        WHEN bool_or(q.failed_at IS NOT NULL) THEN 'failed'
        ELSE 'pending' END AS status
    FROM embeddings_embeddingmodel m CROSS JOIN documents_chunk c
    LEFT JOIN embeddings_embedding e ON e.chunk_id = c.id AND e.model_id = m.id
    LEFT JOIN embeddings_embeddingrequest q ON q.chunk_id = c.id AND q.model_id = m.id
    WHERE m.active GROUP BY c.document_id
) found WHERE found.document_id = d.id AND d.status <> found.status;
"""


class Migration(migrations.Migration):
    dependencies = [
        ("documents", "0003_jobs_keys_and_replacements"),
        ("embeddings", "0003_lease_index"),
    ]

    operations = [
        migrations.RunSQL(COUNT_MOVED, NO_COUNT_MOVED),
        migrations.RunSQL(STATUS, migrations.RunSQL.noop),
    ]
