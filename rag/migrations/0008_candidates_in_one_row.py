"""The candidates of a query in one row, not in twenty: rows, their keys and their entries in two indexes were
most of what it costs to write a query down. `rag_retrieval` goes on to show them one by one, as a view.
"""

import django.contrib.postgres.fields
import django.db.models.deletion
from django.db import migrations, models

from knowlex.db.cascades import cascade

TOGETHER = """
    INSERT INTO rag_candidates (query_id, judged, chunk_ids, document_ids, dense_scores, sparse_scores,
        fused_scores, rerank_scores, relevances, results, context)
    SELECT query_id, count(rank), array_agg(chunk_id ORDER BY n), array_agg(document_id ORDER BY n),
        array_agg(dense_score ORDER BY n), array_agg(sparse_score ORDER BY n),
        array_agg(fused_score ORDER BY n), array_agg(rerank_score ORDER BY n),
        array_agg(relevance ORDER BY n),
        coalesce(array_agg(n ORDER BY place) FILTER (WHERE place IS NOT NULL), '{}'),
        coalesce(array_agg(n ORDER BY context_number) FILTER (WHERE context_number IS NOT NULL), '{}')
    FROM (
        SELECT *, row_number() OVER (PARTITION BY query_id ORDER BY rank NULLS LAST, id) AS n
        FROM rag_retrieval
    ) numbered
    GROUP BY query_id
"""
EACH = """
    SELECT c.query_id, r.number::int AS number, r.chunk_id, r.document_id,
        CASE WHEN r.number <= c.judged THEN r.number::int END AS rank,
        r.dense_score, r.sparse_score, r.fused_score, r.rerank_score, r.relevance,
        array_position(c.results, r.number::int) AS place,
        array_position(c.context, r.number::int) AS context_number
    FROM rag_candidates c, unnest(c.chunk_ids, c.document_ids, c.dense_scores, c.sparse_scores,
            c.fused_scores, c.rerank_scores, c.relevances) WITH ORDINALITY
        AS r (chunk_id, document_id, dense_score, sparse_score, fused_score, rerank_score, relevance, number)
"""
APART = f"""
    INSERT INTO rag_retrieval (query_id, chunk_id, document_id, rank, dense_score, sparse_score, fused_score,
        rerank_score, relevance, place, context_number)
    SELECT query_id, chunk_id, document_id, rank, dense_score, sparse_score, fused_score, rerank_score,
        relevance, place, context_number
    FROM ({EACH}) each ORDER BY query_id, number
"""  # noqa: S608  # constants only
CASCADING = cascade("rag_retrieval", "query_id", "rag_query").sql
# A row of 2 to 8 kB would be squeezed first, which costs more than all else and brings little.
PLAIN = "ALTER TABLE rag_candidates SET (toast_tuple_target = 8160)"


def _array(of: models.Field) -> django.contrib.postgres.fields.ArrayField:
    return django.contrib.postgres.fields.ArrayField(base_field=of, size=None)


class Migration(migrations.Migration):
    dependencies = [
        ("rag", "0007_follow_ups_once"),
    ]

    operations = [
        migrations.CreateModel(
            name="Candidates",
            fields=[
                (
                    "query",
                    models.OneToOneField(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        primary_key=True,
                        related_name="candidates",
                        serialize=False,
                        to="rag.query",
                    ),
                ),
                ("judged", models.IntegerField()),
                ("chunk_ids", _array(models.UUIDField())),
                ("document_ids", _array(models.UUIDField())),
                ("dense_scores", _array(models.FloatField(null=True))),
                ("sparse_scores", _array(models.FloatField(null=True))),
                ("fused_scores", _array(models.FloatField(null=True))),
                ("rerank_scores", _array(models.FloatField(null=True))),
                ("relevances", _array(models.FloatField())),
                ("results", _array(models.IntegerField())),
                ("context", _array(models.IntegerField())),
            ],
            options={
                "verbose_name_plural": "candidates",
            },
        ),
        cascade("rag_candidates", "query_id", "rag_query"),
        migrations.RunSQL(PLAIN, migrations.RunSQL.noop),
        migrations.RunSQL("LOCK TABLE rag_retrieval IN SHARE MODE", migrations.RunSQL.noop),
        migrations.RunSQL(TOGETHER, f"{APART}; {CASCADING}"),
        migrations.DeleteModel(name="Retrieval"),
        migrations.CreateModel(
            name="Retrieval",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "query_id", "number", blank=True, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("number", models.IntegerField()),
                ("chunk_id", models.UUIDField()),
                ("document_id", models.UUIDField()),
                ("rank", models.IntegerField(null=True)),
                ("dense_score", models.FloatField(null=True)),
                ("sparse_score", models.FloatField(null=True)),
                ("fused_score", models.FloatField(null=True)),
                ("rerank_score", models.FloatField(null=True)),
                ("relevance", models.FloatField()),
                ("place", models.IntegerField(null=True)),
                ("context_number", models.IntegerField(null=True)),
                (
                    "query",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="retrievals",
                        to="rag.query",
                    ),
                ),
            ],
            options={
                "db_table": "rag_retrieval",
                "ordering": ["query_id", "number"],
                "managed": False,
            },
        ),
        migrations.RunSQL(f"CREATE VIEW rag_retrieval AS {EACH}", "DROP VIEW rag_retrieval"),
    ]
