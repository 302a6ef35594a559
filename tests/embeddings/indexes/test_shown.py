"""What people see of the vector index: /health, the admin, `manage.py vector_index`."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client
from psycopg.conninfo import make_conninfo

from embeddings import indexing
from embeddings.models import VectorIndex
from embeddings.queue import INDEX_LOCK
from knowlex.db import pool
from rag import health
from tests.embeddings.conftest import in_thread

pytestmark = pytest.mark.usefixtures("configure", "transactional_db")


@pytest.fixture
def built(add_vectors, settings) -> VectorIndex:
    settings.DATABASE_URL = make_conninfo(**pool._connection_arguments(connection.settings_dict))
    add_vectors(300)
    indexing.ensure_index(min_rows=1)
    return VectorIndex.objects.get()


async def read_index() -> dict[str, Any]:
    database = await health._database()
    assert database
    return database.vector_index


async def test_health_tells_what_searches_go_through_and_what_it_finds(built):
    told = await read_index()

    assert {name: told[name] for name in ("kind", "storage", "rows", "searches")} == {
        "kind": "ivfflat",
        "storage": "vector",
        "rows": 300,
        "searches": "index",
    }
    assert told["recall"] >= 0.95
    assert told["measured_at"].endswith("Z")

    await in_thread(VectorIndex.objects.update, serves=False, recall=0.4)
    assert (await read_index())["searches"] == "exact"


def test_the_admin_lists_indexes_and_measurements(built):
    client = Client()
    client.force_login(User.objects.create(username="admin", is_staff=True, is_superuser=True))

    for name in ("vectorindex", "indexmeasurement"):
        page = client.get(f"/admin/embeddings/{name}/").content.decode()
        assert "ivfflat" in page
        assert f"{built.recall:.3f}" in page
        assert client.get(f"/admin/embeddings/{name}/add/").status_code == 403
    assert "built: first" in page


def test_the_command_shows_builds_and_measures(add_vectors, capsys):
    call_command("vector_index")
    assert "no vector index; searches are exact" in capsys.readouterr().out
    with pytest.raises(CommandError, match="no vector index"):
        call_command("vector_index", "measure")
    add_vectors(200)

    call_command("vector_index", "build")
    assert "Nothing to build." in capsys.readouterr().out
    call_command("vector_index", "build", "--force")
    assert "(built: asked for)" in capsys.readouterr().out
    call_command("vector_index", "measure")
    assert "(asked for)" in capsys.readouterr().out


def test_the_command_says_that_another_process_builds(add_vectors, capsys):
    add_vectors(200)
    other = connection.copy()
    with other.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_lock(%s)", [INDEX_LOCK])
        call_command("vector_index", "build", "--force")
    other.close()
    assert "Another process is at it" in capsys.readouterr().out


def test_the_command_says_why_there_can_be_no_index(add_vectors, settings, capsys):
    settings.VECTOR_INDEX = "none"
    add_vectors(50)

    call_command("vector_index", "build")

    assert "KNOWLEX_VECTOR_INDEX is none." in capsys.readouterr().err
