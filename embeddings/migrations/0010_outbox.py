"""What a store outside PostgreSQL is still to hear of, noted by triggers while there is such a store."""

from django.db import migrations, models

# Statement-level triggers, so that a batch costs one statement more, and without a store one look at an empty
# table. Keys are taken in one order, so that two writers of the same chunks wait and do not deadlock.
# What changes while a worker has it in hand stays in its hand: the version tells it that more is to be done.
# A version in the making is put under the collection that it is meant for: taking over, when its vectors move
# there from the id of the document that it replaces, is no change to the store.
# Whoever removes a whole model says so by knowlex.outbox = off: its space is dropped instead.
TO_OUTBOX = """
    INSERT INTO embeddings_outboxentry AS o (model_id, chunk_id, version, attempts, error, created_at)
    SELECT model_id, chunk_id, nextval('embeddings_outbox_version'), 0, '', statement_timestamp()
    FROM (SELECT {source} ORDER BY model_id, chunk_id) AS changed
    ON CONFLICT (model_id, chunk_id) DO UPDATE SET version = excluded.version, attempts = 0, error = '',
        leased_until = CASE WHEN o.lease IS NOT NULL THEN o.leased_until END;
"""
FUNCTION = """
CREATE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT FROM embeddings_outsidestore)
        AND current_setting('knowlex.outbox', true) IS DISTINCT FROM 'off' THEN
        {to_outbox}
    END IF;
    RETURN NULL;
END $$;
"""
CHANGED = FUNCTION.format(
    name="embeddings_vectors_to_outbox",
    to_outbox=TO_OUTBOX.format(source="model_id, chunk_id FROM changed"),
)
REWRITTEN = FUNCTION.format(
    name="embeddings_rewritten_to_outbox",
    to_outbox=TO_OUTBOX.format(
        source="""model_id, chunk_id FROM was JOIN now_is USING (model_id, chunk_id)
            WHERE was.vector <> now_is.vector OR was.collection_id <> now_is.collection_id
                AND EXISTS (SELECT FROM documents_collection c WHERE c.id = was.collection_id)"""
    ),
)
TRIGGERS = f"""
CREATE SEQUENCE embeddings_outbox_version;
{CHANGED}
{REWRITTEN}
CREATE TRIGGER embeddings_outbox_by_insert AFTER INSERT ON embeddings_embedding
    REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION embeddings_vectors_to_outbox();
CREATE TRIGGER embeddings_outbox_by_delete AFTER DELETE ON embeddings_embedding
    REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION embeddings_vectors_to_outbox();
CREATE TRIGGER embeddings_outbox_by_update AFTER UPDATE ON embeddings_embedding
    REFERENCING OLD TABLE AS was NEW TABLE AS now_is
    FOR EACH STATEMENT EXECUTE FUNCTION embeddings_rewritten_to_outbox();
"""
NO_TRIGGERS = """
DROP TRIGGER embeddings_outbox_by_insert ON embeddings_embedding;
DROP TRIGGER embeddings_outbox_by_delete ON embeddings_embedding;
DROP TRIGGER embeddings_outbox_by_update ON embeddings_embedding;
DROP FUNCTION embeddings_vectors_to_outbox();
DROP FUNCTION embeddings_rewritten_to_outbox();
DROP SEQUENCE embeddings_outbox_version;
"""


class Migration(migrations.Migration):
    dependencies = [
        ("embeddings", "0009_changes_by_vectors"),
    ]

    operations = [
        migrations.CreateModel(
            name="DroppedSpace",
            fields=[
                ("model_id", models.SmallIntegerField(primary_key=True, serialize=False)),
                ("dimensions", models.IntegerField()),
                ("created_at", models.DateTimeField()),
            ],
        ),
        migrations.CreateModel(
            name="OutboxEntry",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "model_id", "chunk_id", blank=True, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("model_id", models.SmallIntegerField()),
                ("chunk_id", models.UUIDField()),
                ("version", models.BigIntegerField()),
                ("lease", models.UUIDField(null=True)),
                ("leased_until", models.DateTimeField(null=True)),
                ("attempts", models.IntegerField(default=0)),
                ("error", models.TextField(blank=True, default="")),
                ("created_at", models.DateTimeField()),
            ],
            options={
                "verbose_name_plural": "outbox entries",
                "indexes": [
                    models.Index(fields=["version"], name="outbox_in_order"),
                    models.Index(
                        condition=models.Q(("lease__isnull", False)), fields=["lease"], name="outbox_by_lease"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="OutsideStore",
            fields=[
                ("id", models.SmallIntegerField(default=1, primary_key=True, serialize=False)),
                ("kind", models.CharField(max_length=16)),
                ("place", models.TextField()),
                ("fingerprint", models.CharField(max_length=64)),
                ("since", models.DateTimeField()),
                ("filled", models.BooleanField(default=False)),
                ("failures", models.IntegerField(default=0)),
                ("failing_since", models.DateTimeField(null=True)),
                ("retry_at", models.DateTimeField(null=True)),
                ("error", models.TextField(blank=True, default="")),
            ],
            options={
                "verbose_name": "vector store outside PostgreSQL",
                "verbose_name_plural": "vector store outside PostgreSQL",
                "constraints": [
                    models.CheckConstraint(condition=models.Q(("id", 1)), name="outside_store_one")
                ],
            },
        ),
        migrations.RunSQL(TRIGGERS, NO_TRIGGERS),
    ]
