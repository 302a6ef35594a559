"""One model is active, and its vectors are never mixed with another's."""

from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured

from documents.access import FULL
from embeddings import migrations, services
from embeddings.active_model import describe_former_model
from embeddings.models import Embedding, EmbeddingModel, EmbeddingRequest
from embeddings.search.dense import search_chunks
from knowlex.base.ids import new_id
from knowlex.db import pool
from knowlex.db.threads import execute
from knowlex.embedded.chat_model import check_embedder
from tests.embeddings.conftest import in_thread

pytestmark = pytest.mark.usefixtures("configure", "transactional_db")


def test_the_configured_model_is_active_from_its_first_use():
    model = services.active_model()
    assert (model.name, model.provider, model.dimensions) == ("text-embedding-3-small", "openai", 32)
    assert services.active_model() == model
    assert EmbeddingModel.objects.count() == 1


@pytest.fixture
def embedded(add_document, configure):
    """One chunk with a vector of the usual model."""
    add_document(["one text"])
    services.request_embeddings(access=FULL)
    assert services.embed_batch(new_id()) == 1


@pytest.mark.parametrize("change", [{"model_name": "another"}, {"dimensions": 64}])
def test_settings_that_name_another_model_are_refused_at_the_start_with_what_to_type(
    embedded, configure, change
):
    configure(**change)
    with pytest.raises(ImproperlyConfigured) as refused:
        services.ensure_model_matches()
    told = str(refused.value)
    assert "text-embedding-3-small (openai, 32 dimensions)" in told
    assert f"embedding_model add {change.get('model_name', 'text-embedding-3-small')}" in told
    assert "KNOWLEX_EMBEDDING_MODEL=text-embedding-3-small" in told
    found = check_embedder()  # for doctor
    assert (found.ok, found.says) == (False, told)
    configure()
    services.ensure_model_matches()


def test_settings_that_name_no_model_follow_the_active_one(embedded, configure, settings):
    configure(model_name="another")
    settings.EMBEDDER_CHOSEN = False
    services.ensure_model_matches()
    assert services.active_model().name == "text-embedding-3-small"
    assert check_embedder().configured.startswith("openai text-embedding-3-small at ")


def test_the_active_model_stays_though_another_row_is_of_the_same_one(embedded, configure):
    EmbeddingModel.objects.create(
        id=-1, name="alias", provider="openai", dimensions=32, options={"model": "text-embedding-3-small"}
    )

    services.ensure_model_matches()

    assert services.active_model().name == "text-embedding-3-small"


def test_an_active_model_that_cannot_be_used_is_refused_by_the_name_of_what_is_missing(embedded, settings):
    local = settings.EMBEDDERS["local"]
    settings.KNOWLEX = settings.KNOWLEX | {"EMBEDDER": local}
    settings.EMBEDDER_CHOSEN = False
    with pytest.raises(ImproperlyConfigured, match=r"text-embedding-3-small.*OPENAI_API_KEY"):
        services.ensure_model_matches()


def test_a_process_that_runs_goes_on_with_the_active_model(embedded, add_document, configure):
    add_document(["another text"])
    configure(model_name="another", dimensions=64)
    assert services.request_embeddings(access=FULL).requested == 1
    assert services.embed_batch(new_id()) == 1
    assert {len(row.vector) for row in Embedding.objects.all()} == {32}


def test_without_vectors_the_model_may_change_and_what_was_asked_of_the_old_goes(add_document, configure):
    add_document(["one text"])
    services.request_embeddings(access=FULL)
    configure(model_name="another")
    services.ensure_model_matches()
    assert services.active_model().name == "another"
    assert EmbeddingRequest.objects.count() == 0
    assert services.request_embeddings(access=FULL).requested == 1


async def test_a_question_is_embedded_by_the_model_that_it_searches(add_document, configure, provider):
    """Whatever the settings of this process name: the database says which vectors there are."""
    await in_thread(add_document, ["one text"])
    await in_thread(services.request_embeddings, access=FULL)
    await in_thread(services.embed_batch, new_id())
    configure(model_name="another", dimensions=64)
    try:
        (hit,) = await search_chunks("one text", access=FULL, collection=None, limit=5)
    finally:
        await pool.close_pool()
    assert hit.distance == 0


def test_stored_vectors_of_the_former_multilingual_model_go_on_under_a_name_of_their_own(embedded):
    active = EmbeddingModel.objects.get()
    EmbeddingModel.objects.update(name="multilingual-e5-small", provider="local", dimensions=384)

    execute((Path(migrations.__path__[0]) / "sql" / "former_e5.sql").read_text())

    active.refresh_from_db()
    assert active.name == "multilingual-e5-small-mean"
    assert active.calibration["intercept"] == -12.6
    assert "`manage.py embedding_model build multilingual-e5-small`" in describe_former_model()


def test_a_multilingual_model_without_vectors_keeps_its_name():
    EmbeddingModel.objects.create(
        name="multilingual-e5-small", provider="local", dimensions=384, active=True, wanted=True
    )

    execute((Path(migrations.__path__[0]) / "sql" / "former_e5.sql").read_text())

    assert EmbeddingModel.objects.get().name == "multilingual-e5-small"
    assert describe_former_model() == ""
