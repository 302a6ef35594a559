"""Follow-up questions are looked for once for each conversation, not for each of its citations.

Who sends the same conversation_id with every question has one conversation of hundreds of thousands, and the
deletion of a document that is often cited in it walked through all of them for each citation.
"""

from importlib import import_module

from django.db import migrations

before = import_module("rag.migrations.0004_rewritten_follow_ups")
# The last condition but one is the index's own.
FOLLOW_UPS = """
    UPDATE rag_query f SET rewritten_query = ''
    FROM (
        SELECT q.conversation_id, q.key_id, min(q.created_at) AS since
        FROM rag_citation c JOIN rag_query q ON q.id = c.response_id
        WHERE c.document_id = ANY(ids) AND NOT q.conversation_id = '' GROUP BY 1, 2
    ) told
    WHERE f.conversation_id = told.conversation_id AND f.key_id IS NOT DISTINCT FROM told.key_id
        AND f.created_at > told.since AND NOT f.conversation_id = '' AND f.rewritten_query <> '';
"""


class Migration(migrations.Migration):
    dependencies = [
        ("rag", "0006_responses_by_faithfulness"),
    ]

    operations = [
        migrations.RunSQL(
            before.FUNCTION.format(follow_ups=FOLLOW_UPS),
            before.FUNCTION.format(follow_ups=before.FOLLOW_UPS),
        ),
    ]
