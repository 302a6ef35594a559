"""A follow-up question made to stand alone may name what a deleted document said: its own words stay."""

from django.db import migrations

FUNCTION = """
CREATE OR REPLACE FUNCTION rag_forget_quotes() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE ids uuid[] := (SELECT array_agg(id) FROM deleted);
BEGIN
    {follow_ups}
    UPDATE rag_response SET answer = '', quotes_gone = true
    WHERE query_id IN (SELECT response_id FROM rag_citation WHERE document_id = ANY(ids));
    UPDATE rag_citation SET quoted_text = '', title = '', gone = true
    WHERE document_id = ANY(ids) AND NOT gone;
    RETURN NULL;
END $$;
"""
# The last condition but one is the index's own.
FOLLOW_UPS = """
    UPDATE rag_query f SET rewritten_query = ''
    FROM rag_citation c JOIN rag_query q ON q.id = c.response_id
    WHERE c.document_id = ANY(ids) AND f.conversation_id = q.conversation_id
        AND f.key_id IS NOT DISTINCT FROM q.key_id AND f.created_at > q.created_at
        AND NOT f.conversation_id = '' AND f.rewritten_query <> '';
"""


class Migration(migrations.Migration):
    dependencies = [
        ("rag", "0003_past_answers"),
    ]

    operations = [
        migrations.RunSQL(FUNCTION.format(follow_ups=FOLLOW_UPS), FUNCTION.format(follow_ups="")),
    ]
