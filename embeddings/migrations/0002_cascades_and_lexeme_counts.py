"""Immediate cascading foreign keys, storage of vectors, and the triggers that keep lexeme counts true."""

from django.contrib.postgres.indexes import GinIndex
from django.db import migrations

from knowlex.db.cascades import cascade

# Statement-level triggers: one INSERT of a batch of entries adds one row per (collection, lexeme), and no
# row is ever updated here, so writers of the same words neither wait for each other nor deadlock.
LEXEME_COUNTS = """
CREATE FUNCTION embeddings_count_lexemes() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    step integer := CASE TG_OP WHEN 'INSERT' THEN 1 ELSE -1 END;
BEGIN
    INSERT INTO embeddings_lexemecount (collection_id, lexeme, chunks)
    SELECT collection_id, lexeme, step * count(*)
    FROM changed, unnest(tsvector_to_array(changed.lexemes)) AS lexeme
    GROUP BY collection_id, lexeme
    UNION ALL
    SELECT collection_id, '', step * count(*) FROM changed GROUP BY collection_id;
    RETURN NULL;
END $$;
CREATE TRIGGER embeddings_lexemes_in AFTER INSERT ON embeddings_lexicalentry
    REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION embeddings_count_lexemes();
CREATE TRIGGER embeddings_lexemes_out AFTER DELETE ON embeddings_lexicalentry
    REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION embeddings_count_lexemes();
"""
NO_LEXEME_COUNTS = """
DROP TRIGGER embeddings_lexemes_in ON embeddings_lexicalentry;
DROP TRIGGER embeddings_lexemes_out ON embeddings_lexicalentry;
DROP FUNCTION embeddings_count_lexemes();
"""


class Migration(migrations.Migration):
    dependencies = [
        ("embeddings", "0001_initial"),
        ("documents", "0002_cascades_and_default"),
    ]

    operations = [
        cascade("embeddings_embedding", "chunk_id", "documents_chunk"),
        cascade("embeddings_embedding", "model_id", "embeddings_embeddingmodel"),
        cascade("embeddings_embeddingrequest", "chunk_id", "documents_chunk"),
        cascade("embeddings_embeddingrequest", "model_id", "embeddings_embeddingmodel"),
        cascade("embeddings_embeddingrequest", "run_id", "embeddings_embeddingrun"),
        cascade("embeddings_lexicalentry", "chunk_id", "documents_chunk"),
        # In line as long as a page holds them: an exact scan of vectors out of line is three times slower.
        migrations.RunSQL(
            "ALTER TABLE embeddings_embedding ALTER COLUMN vector SET STORAGE MAIN",
            migrations.RunSQL.noop,
        ),
        migrations.AddIndex("lexicalentry", GinIndex(fields=["lexemes"], name="lexical_by_lexeme")),
        migrations.RunSQL(LEXEME_COUNTS, NO_LEXEME_COUNTS),
    ]
