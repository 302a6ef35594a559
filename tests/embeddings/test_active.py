"""One model is active, and its vectors are never mixed with another's."""

import pytest
from django.core.exceptions import ImproperlyConfigured

from documents.access import FULL
from embeddings import services
from embeddings.models import EmbeddingModel, EmbeddingRequest
from embeddings.search import search
from knowlex.common import async_db
from knowlex.common.errors import EmbedderRejected, RetrievalFailed
from knowlex.common.ids import new_id
from tests.embeddings.conftest import in_thread

pytestmark = pytest.mark.usefixtures("configure", "transactional_db")


def test_the_configured_model_is_active_from_its_first_use():
    model = services.active_model()
    assert (model.name, model.provider, model.dimensions) == ("text-embedding-3-small", "openai", 32)
    assert services.active_model() == model
    assert EmbeddingModel.objects.count() == 1


@pytest.mark.parametrize("change", [{"model_name": "another"}, {"dimensions": 64}])
def test_another_model_or_size_is_refused_once_there_are_vectors(add_document, configure, change):
    add_document(["one text"])
    services.request_embeddings(access=FULL)
    services.embed_batch(new_id())
    configure(**change)
    with pytest.raises(ImproperlyConfigured, match="text-embedding-3-small"):
        services.ensure_model_matches()
    with pytest.raises(EmbedderRejected, match="KNOWLEX_EMBEDDING_MODEL"):
        services.request_embeddings(access=FULL)
    configure()
    services.ensure_model_matches()


def test_without_vectors_the_model_may_change_and_what_was_asked_of_the_old_goes(add_document, configure):
    add_document(["one text"])
    services.request_embeddings(access=FULL)
    configure(model_name="another")
    assert services.active_model().name == "another"
    assert EmbeddingRequest.objects.count() == 0
    assert services.request_embeddings(access=FULL).requested == 1


async def test_a_search_with_another_model_than_the_stored_one_is_refused(transactional_db, configure):

    await in_thread(services.active_model)
    configure(model_name="another")
    try:
        with pytest.raises(RetrievalFailed, match="another embedding model"):
            await search("a question", access=FULL, collection=None, limit=5)
    finally:
        await async_db.close_pool()
