"""A text that lies in many documents takes one place; others are looked for until there are enough."""

from typing import get_args

import pytest

from documents.access import FULL
from rag.answering import services
from rag.types.question import Mode, Question
from tests.rag.conftest import AddDocument
from tests.rag.test_hybrid import run

pytestmark = pytest.mark.django_db(transaction=True)

SAME = "Bread bakes for forty minutes."
OTHERS = [f"Bread number {n} bakes for a while in oven{n}." for n in range(6)]


@pytest.fixture
def library(add_document: AddDocument) -> None:
    for _ in range(60):
        add_document(SAME)
    add_document(*OTHERS)


def search(text: str, mode: Mode) -> list[str]:
    async def found() -> list[str]:
        ids = await services.resolve_collections(("default",), access=FULL)
        result = await services.search(Question(text, ids, top_k=8, mode=mode))
        return [passage.content for passage in result.passages]

    return run(found())


def test_it_takes_one_place(library: None):
    for mode in get_args(Mode):
        found = search("bread" if mode == "exact" else "bread bakes", mode)
        assert found.count(SAME) == 1, mode
        assert set(found) == {SAME, *OTHERS}, mode
