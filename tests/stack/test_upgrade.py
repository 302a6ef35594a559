"""Installations of earlier commits go on with all that they held.

a22e867 had migrations that were not squashed yet; 43bd032 is the last before accounts and permissions. Each
folder installation_of_COMMIT is one: that code took the documents and the questions over its own API, and
pg_dump wrote its database down.
"""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from knowlex.embedded import bootstrap
from knowlex.embedded.data_folder import StackError
from tests.platform.talk import stored, text
from tests.support import environment
from tests.support.api import ask
from tests.support.postgres import Postgres
from tests.support.stack import Stack

# Of each commit: a key that may write, and one that reads the collection `default` alone.
KEYS = {
    "a22e867": (
        "kx_5qzu5nr2_sk40DUhr_GAJ3VPnSdCcN0JHdgWFwghnG3uYkjldWJ4",
        "kx_mnip27vg_oMSbPB62lyjqbTVhmPupK_pmiPohEWtTn3EMAgmoy9M",
    ),
    "43bd032": (
        "kx_4pb58hyr_dYcwqzWTQw_FnFuxKlsBY8gUcqGEdZtgK9hTB0fOsow",
        "kx_rvrn2n7w_Nu0kQAT9y8Ak3sgdAoPlxyyoKPJxmLziGLJIOoFp_cs",
    ),
}
TEA = "Green tea is steeped at eighty degrees for two minutes"
LOAF = "A loaf bakes for forty minutes at 230 degrees"


@pytest.fixture(scope="module", params=KEYS)
def upgraded(request: pytest.FixtureRequest, postgres: Postgres) -> Iterator[Stack]:
    env = {"KNOWLEX_REQUIRE_API_KEY": "true"}
    stack = Stack(postgres, environment.FOLDER / f"upgraded_{request.param}", workers=1, env=env)
    installation = Path(__file__).with_name(f"installation_of_{request.param}")
    stack.postgres.create_database(stack.database)
    try:
        postgres.execute((installation / "database.sql").read_text(encoding="utf-8"), database=stack.database)
        shutil.copytree(installation / "files", stack.folder / "files")
        stack.start_broker()
        stack.manage("prepare")
        writing, stack.env["READING_KEY"] = KEYS[request.param]
        stack.client.headers["Authorization"] = f"Bearer {writing}"
        stack.ensure_running()
        yield stack
    finally:
        stack.__exit__()


def got(client: httpx.Client, path: str, **headers: str) -> Any:
    reply = client.get(path, headers=headers)
    assert reply.status_code == 200, reply.text
    return reply.json()


def test_documents_jobs_keys_and_past_questions_are_listed(upgraded: Stack):
    client = upgraded.client
    collections = {one["name"]: one["id"] for one in got(client, "/v1/collections")["collections"]}
    documents = {one["filename"]: one for one in got(client, "/v1/documents")["documents"]}
    job = got(client, f"/v1/ingest/{documents['tea.md']['job_id']}")
    queries = {one["query"]: one for one in got(client, "/v1/queries")["queries"]}
    tea, loaf = queries["How long is green tea steeped?"], queries["At how many degrees does a loaf bake?"]

    assert set(collections) == {"default", "Kitchen"}
    assert {name: one["processing"]["status"] for name, one in documents.items()} == {
        "bread.pdf": "completed", "tea.md": "completed", "house.txt": "completed", "x.bin": "failed",
    }  # fmt: skip
    assert documents["tea.md"]["collection_id"] == collections["Kitchen"]
    assert [one["status"] for one in job["documents"]] == ["completed", "completed", "failed"]
    assert [tea["answer"], loaf["answer"]] == [f"{TEA} [1].", f"{LOAF} [1]."]
    assert tea["ratings"] == {"thumbs_up": 1, "thumbs_down": 0}
    assert tea["faithfulness_score"] is None  # it was 1: an extractive answer has none any more
    candidates = got(client, f"/v1/queries/{tea['query_id']}")["retrieval"]["chunks"]
    assert documents["tea.md"]["id"] in {one["document_id"] for one in candidates}
    assert "All is well" in upgraded.manage("sanity", "--deep")
    reader = {"Authorization": f"Bearer {upgraded.env['READING_KEY']}"}
    assert [one["name"] for one in got(client, "/v1/collections", **reader)["collections"]] == ["default"]
    assert (
        client.get(
            "/v1/documents", headers={"Authorization": client.headers["Authorization"] + "x"}
        ).status_code
        == 401
    )


def test_what_it_held_is_found_and_cited_beside_what_is_new(upgraded: Stack):
    client = upgraded.client
    stored(client, text("The kettle of the office holds three litres.", "kettle.txt"))

    for question, answer, collection in (
        ("How long is green tea steeped?", TEA, "Kitchen"),
        ("At how many degrees does a loaf bake?", LOAF, "default"),
        ("How many litres does the kettle of the office hold?", "three litres", "default"),
    ):
        body = ask(client, question, collection=collection).json()
        assert answer in body["answer"], body
        assert body["sourceChunks"], body


def test_what_a_deleted_document_said_goes_from_answers_given_before(upgraded: Stack):
    client = upgraded.client
    (bread,) = [one for one in got(client, "/v1/documents")["documents"] if one["filename"] == "bread.pdf"]

    assert client.delete(f"/v1/documents/{bread['id']}").status_code == 200

    first = [one for one in got(client, "/v1/queries")["queries"] if "loaf" in one["query"]][-1]
    assert first["answer_gone"] is True
    assert LOAF not in str(first)


OLDER = [
    ("app = 'rag' AND name > '0005'", "rag.0004_rewritten_follow_ups"),
    ("app = 'rag' AND name LIKE '0010%'", "rag.0009_verification"),
    ("app IN ('documents', 'embeddings', 'rag') AND name <> '0001_initial'", "documents.0001_initial"),
]


@pytest.mark.django_db
@pytest.mark.parametrize(("without", "last"), OLDER)
def test_an_installation_that_is_older_is_told_what_to_do(without: str, last: str):
    with connection.cursor() as cursor:
        cursor.execute(f"DELETE FROM django_migrations WHERE {without}")

    with pytest.raises(CommandError, match=f"{last}.*Nothing has been changed"):
        call_command("migrate", verbosity=0)
    with pytest.raises(StackError, match=last):
        bootstrap.prepare(print)


@pytest.mark.django_db
def test_the_models_are_as_the_migrations_make_them():
    call_command("makemigrations", check_changes=True, dry_run=True, verbosity=0)
