"""Two models side by side, by `manage.py embedding_model`: added, built, switched to and back, removed."""

import io
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.utils import timezone

from documents.access import FULL
from documents.models import Document
from embeddings import services
from embeddings.models import Embedding, EmbeddingModel, EmbeddingRequest, EmbeddingRun
from embeddings.search.dense import search_chunks
from embeddings.work import document_status
from knowlex.base.ids import new_id
from knowlex.db import pool
from tests.embeddings.conftest import in_thread
from tests.provider import Provider

OLD, NEW = "text-embedding-3-small", "text-embedding-3-large"
TEXTS = [f"Chunk {n} is about subject{n} and nothing else." for n in range(45)]
Manage = Callable[..., str]

pytestmark = pytest.mark.usefixtures("configure", "transactional_db")


@pytest.fixture
def manage() -> Manage:
    """`manage("build", NAME)`: runs the command; what it printed."""

    def run(*words: str) -> str:
        out = io.StringIO()
        call_command("embedding_model", *words, stdout=out, stderr=io.StringIO())
        return out.getvalue()

    return run


@pytest.fixture
def library(add_document: Any) -> Document:
    """A completed document of 45 chunks with vectors of the usual model."""
    document_id = add_document(TEXTS)
    services.request_embeddings(access=FULL)
    work()
    return Document.objects.get(id=document_id)


def work() -> None:
    """As workers do, until nothing is left."""
    while services.work_once():
        pass
    services.sweep()


def vectors(name: str) -> int:
    return Embedding.objects.filter(model__name=name).count()


def status(document: Document) -> str:
    document.refresh_from_db()
    return str(document.status)


def test_a_model_is_added_built_activated_rolled_back_and_removed(library: Document, manage: Manage):
    assert f"Added {NEW} (openai, 64 dimensions)" in manage("add", NEW, "--dimensions", "64")
    assert "There already" in manage("add", NEW, "--dimensions", "64")
    assert f"{NEW} has 45 vectors of 45 chunks" in manage("build", NEW)
    assert "ready" in manage("list")

    told = manage("activate", NEW)
    assert f"Searches use {NEW} now instead of {OLD}" in told
    assert f"KNOWLEX_EMBEDDING_MODEL={NEW} KNOWLEX_EMBEDDING_DIMENSIONS=64" in told
    assert "would refuse to start" in told
    assert services.active_model().name == NEW
    assert "is active already" in manage("activate", NEW)
    assert "previous" in manage("list")

    assert f"Searches use {OLD} now" in manage("rollback")
    with pytest.raises(CommandError, match="no model to go back to"):
        manage("rollback")
    with pytest.raises(CommandError, match="active model cannot be removed"):
        manage("remove", OLD)

    EmbeddingModel.objects.update(deactivated_at=timezone.now() - timedelta(minutes=1))
    assert "with 45 vectors" in manage("remove", NEW)
    assert (vectors(OLD), vectors(NEW), EmbeddingModel.objects.count()) == (45, 0, 1)
    assert not EmbeddingRun.objects.filter(model=None).exists()
    assert status(library) == "completed"


def test_new_chunks_are_embedded_by_every_wanted_model(library: Document, manage: Manage, add_document: Any):
    manage("add", NEW, "--dimensions", "64")
    manage("build", NEW)
    later = Document.objects.get(id=add_document(["one more text"]))
    document_status.request_document(later.id)
    work()
    assert (vectors(OLD), vectors(NEW)) == (46, 46)
    assert status(later) == "completed"
    assert {len(row.vector) for row in Embedding.objects.filter(model__name=NEW)} == {64}


def test_what_the_active_model_has_to_do_goes_before_a_build(
    library: Document, manage: Manage, add_document: Any
):
    manage("add", NEW, "--dimensions", "64")
    manage("build", NEW, "--detach")
    document_status.request_document(add_document(["an upload meanwhile"]))
    claims = [services._claim(new_id(), ()) for _ in range(3)]
    assert [claimed[0].name for claimed in claims if claimed].count(OLD) == 1
    assert claims[0] is not None
    assert {model.name for model, _ in filter(None, claims)} == {OLD, NEW}


def test_a_model_that_fails_fails_no_document(
    library: Document, manage: Manage, provider: Provider, add_document: Any
):
    manage("add", NEW, "--dimensions", "64")
    provider.rule("status", status=400, on="embeddings", contains="poison", model=NEW)
    poisoned = Document.objects.get(id=add_document(["this is poison to one of them"]))
    document_status.request_document(poisoned.id)
    with pytest.raises(CommandError, match="1 chunks could not be embedded"):
        manage("build", NEW)
    assert status(poisoned) == "completed"
    with pytest.raises(CommandError, match=r"1 stored chunks have no vector .* could not be embedded"):
        manage("activate", NEW, "--wait")

    assert "1 chunks lack its vector" in manage("activate", NEW, "--force")
    work()
    assert (status(poisoned), status(library)) == ("failed", "completed")
    manage("rollback")
    assert (status(poisoned), status(library)) == ("completed", "completed")


def test_a_switch_is_refused_while_chunks_would_be_lost_and_says_what_to_type(
    library: Document, manage: Manage
):
    manage("add", NEW, "--dimensions", "64")
    manage("build", NEW, "--detach")
    assert services.work_once()
    with pytest.raises(CommandError, match=rf"25 stored chunks .* embedding_model build {NEW}"):
        manage("activate", NEW)
    assert "Searches use" in manage("activate", NEW, "--wait")
    assert vectors(NEW) == 45


def test_going_back_asks_for_what_the_model_before_lacks(library: Document, manage: Manage):
    manage("add", NEW, "--dimensions", "64")
    manage("build", NEW)
    manage("activate", NEW)
    Embedding.objects.filter(model__name=OLD).first().delete()
    assert "1 chunks lack its vector" in manage("rollback")
    assert status(library) == "processing"
    work()
    assert (status(library), vectors(OLD)) == ("completed", 45)


def test_models_before_the_last_one_are_kept_but_not_kept_up(
    library: Document, manage: Manage, add_document: Any
):
    for name in ("second", "third"):
        manage("add", name, "--provider", "openai", "--model", NEW, "--dimensions", "16")
        manage("build", name)
        manage("activate", name)
    document_status.request_document(add_document(["one more text"]))
    work()
    assert [vectors(name) for name in (OLD, "second", "third")] == [45, 46, 46]
    assert "idle" in manage("list")
    manage("rollback")
    assert services.active_model().name == "second"


async def test_a_search_goes_on_with_the_model_that_it_began_with(
    library: Document, manage: Manage, provider: Provider
):
    """The switch comes while the provider has the question in hand."""
    await in_thread(manage, "add", NEW, "--dimensions", "64")
    await in_thread(manage, "build", NEW)
    provider.forget_log()
    try:
        before = await search_chunks(TEXTS[7], access=FULL, collection=None, limit=3)
        await in_thread(manage, "activate", NEW)
        after = await search_chunks(TEXTS[7], access=FULL, collection=None, limit=3)
    finally:
        await pool.close_pool()
    assert [hit.content for hit in (before[0], after[0])] == [TEXTS[7]] * 2
    assert [hit.distance for hit in (before[0], after[0])] == [0, 0]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["add", "nowhere", "--path", "/nowhere/at/all"], "/nowhere/at/all"),
        (["add", "unheard-of"], "unheard-of"),
        (["add", NEW, "--path", "/tmp"], "--path is for local models"),
        (["add", OLD, "--dimensions", "64"], "another model of the name"),
        (["build", "unknown"], f"no model 'unknown'; there are: {OLD}"),
        (["activate", "unknown"], "no model 'unknown'"),
        (["rollback"], "no model to go back to"),
    ],
)
def test_what_cannot_be_done_is_told(library: Document, manage: Manage, words: list[str], says: str):
    with pytest.raises(CommandError) as refused:
        manage(*words)
    assert says in str(refused.value)
    assert EmbeddingModel.objects.count() == 1
    assert not EmbeddingRequest.objects.exists()
