"""A database of the release before jobs: its rows say afterwards how far they are."""

import os
import subprocess
import sys

from tests.support.environment import PROJECT
from tests.support.postgres import Postgres

BEFORE = ("migrate", "embeddings", "0003", "-v0")
# As that release stored them: no status, no request where nobody asked, one that failed, one that waits.
ROWS = """
    INSERT INTO documents_collection (id, name, description, settings, created_at)
        SELECT gen_random_uuid(), 'c', '', '{}', now();
    INSERT INTO embeddings_embeddingmodel (name, provider, dimensions, active, created_at)
        VALUES ('m', 'openai', 2, true, now());
    INSERT INTO documents_document (id, collection_id, source, original_filename, title, checksum, size_bytes,
            file, page_count, chunk_count, metadata, warnings, created_at)
        SELECT gen_random_uuid(), c.id, 'PDF', kind, '', kind, 1, kind, 1, 2, '{}', '[]', now()
        FROM documents_collection c, unnest(ARRAY['whole', 'unasked', 'failed', 'waiting']) AS kind
        WHERE c.name = 'c';
    INSERT INTO documents_chunk (id, document_id, chunk_index, content, start_char, end_char, token_count,
            chapter, section, created_at)
        SELECT gen_random_uuid(), d.id, n, 'x', 0, 1, 1, '', '', now()
        FROM documents_document d, generate_series(0, 1) n;
    INSERT INTO embeddings_embedding (chunk_id, model_id, collection_id, vector, created_at)
        SELECT c.id, m.id, d.collection_id, '[1,2]', now() FROM embeddings_embeddingmodel m, documents_chunk c
        JOIN documents_document d ON d.id = c.document_id
        WHERE m.name = 'm' AND (d.checksum = 'whole' OR (d.checksum <> 'unasked' AND c.chunk_index = 0));
    INSERT INTO embeddings_embeddingrun (id, requested, embedded, failed, created_at)
        SELECT gen_random_uuid(), 2, 0, 1, now();
    INSERT INTO embeddings_embeddingrequest
            (chunk_id, model_id, run_id, attempts, failed_at, error, created_at)
        SELECT c.id, m.id, r.id, 1, CASE WHEN d.checksum = 'failed' THEN now() END, '', now()
        FROM embeddings_embeddingrun r, embeddings_embeddingmodel m, documents_chunk c
        JOIN documents_document d ON d.id = c.document_id
        WHERE m.name = 'm' AND d.checksum IN ('failed', 'waiting') AND c.chunk_index = 1
"""


def test_rows_of_the_release_before_say_how_far_they_are(postgres: Postgres):
    name = "kx_upgrade"
    env = {**os.environ, "DATABASE_URL": postgres.create_database(name), "LOG_LEVEL": "ERROR"}

    def manage(*words: str) -> None:
        subprocess.run([sys.executable, "manage.py", *words], cwd=PROJECT, env=env, check=True, timeout=120)

    try:
        manage(*BEFORE)
        for statement in ROWS.split(";"):
            postgres.execute(statement, database=name)
        manage("migrate", "-v0")
        rows = postgres.execute("SELECT checksum, status FROM documents_document", database=name)
        assert {row["checksum"]: row["status"] for row in rows} == {
            "whole": "completed", "unasked": "pending", "failed": "failed", "waiting": "processing",
        }  # fmt: skip
    finally:
        postgres.drop_database(name)
