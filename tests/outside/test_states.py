"""An answer that was given while a chunk was on its way to the store is not given again afterwards."""

from collections.abc import Callable

import pytest

from documents.access import FULL
from embeddings.external import outbox
from embeddings.external.configuration import register_store
from embeddings.external.delivery import deliver_for_a_turn
from embeddings.external.outbox import Entry
from embeddings.models import Embedding
from rag.answering import services
from tests.rag.conftest import AddDocument
from tests.rag.test_hybrid import BREAD, run

pytestmark = pytest.mark.django_db(transaction=True)


def state() -> str:
    return run(services.read_named(("default",), access=FULL)).state


def test_the_state_is_another_one_once_the_store_has_the_chunk(
    choose: Callable[[str], None], add_document: AddDocument
):
    choose("chroma")
    register_store()
    add_document(BREAD)
    held = Embedding.objects.get()
    outbox.add([Entry(held.model_id, held.chunk_id, 0)])
    on_its_way = state()
    deliver_for_a_turn()
    arrived = state()
    assert arrived != on_its_way
    deliver_for_a_turn()
    assert state() == arrived
