"""Sentence vectors are the configured embedder's, asked for in modest batches."""

from collections.abc import Sequence

import numpy as np
import pytest
from django.conf import LazySettings

from embeddings.search.sentence_embedder import ActiveModelEmbedder
from knowlex.base.errors import EmbedderUnavailable, TextRejected
from knowlex.runtime.components import component

REFUSED = "refused"

pytestmark = pytest.mark.django_db


class LengthEmbedder:
    """Stands in for a provider: two numbers for a text, and a mind of its own about some."""

    model_name, dimensions = "lengths", 2

    def __init__(self) -> None:
        self.batches: list[list[str]] = []
        self.down = False

    def embed(self, texts: Sequence[str]) -> list[np.ndarray]:
        self.batches.append(list(texts))
        if self.down:
            raise EmbedderUnavailable("down")
        if REFUSED in texts:
            raise TextRejected("no")
        return [np.array([len(text), 1], dtype=np.float32) for text in texts]


@pytest.fixture
def provider(settings: LazySettings) -> LengthEmbedder:
    spec = {"class": f"{__name__}.LengthEmbedder"}
    settings.KNOWLEX = settings.KNOWLEX | {"EMBEDDER": spec}
    return component("EMBEDDER", LengthEmbedder)


def test_each_text_has_its_vector_of_length_one(provider: LengthEmbedder) -> None:
    texts = ["four", "a", "four", "three"]
    vectors = ActiveModelEmbedder().embed(texts)
    assert [round(float(vector[0] / vector[1])) for vector in vectors] == [4, 1, 4, 5]
    assert all(np.linalg.norm(vector) == pytest.approx(1) for vector in vectors)
    assert ActiveModelEmbedder().embed([]) == []


def test_batches_are_short_of_one_length_and_without_repetition(provider: LengthEmbedder) -> None:
    ActiveModelEmbedder().embed([f"{'x' * (n % 50)}{n}" for n in range(50)] * 3)
    assert [len(batch) for batch in provider.batches] == [20, 20, 10]
    lengths = [len(text) for batch in provider.batches for text in batch]
    assert lengths == sorted(lengths)


def test_a_refused_sentence_is_like_no_other(provider: LengthEmbedder) -> None:
    one, refused, two = ActiveModelEmbedder().embed(["one", REFUSED, "three"])
    assert float(np.vdot(one, refused)) == float(np.vdot(refused, two)) == 0
    assert float(np.vdot(one, two)) > 0.9


def test_an_embedder_that_fails_or_takes_nothing_says_so(provider: LengthEmbedder) -> None:
    with pytest.raises(TextRejected):
        ActiveModelEmbedder().embed([REFUSED])
    provider.down = True
    with pytest.raises(EmbedderUnavailable):
        ActiveModelEmbedder().embed(["one"])
