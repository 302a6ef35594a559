"""What a passage knows of its sentences: where they stand and how similar each is to the question."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from django.conf import settings as django_settings

from documents.text.sentences import sentence_spans
from embeddings.embedders.local import LocalEmbedder
from embeddings.lexical.sentences import describe_sentences
from embeddings.models import ChunkAnalysis, SentenceVectors
from knowlex.runtime.components import forget_components
from rag.ranking.order import strength
from rag.ranking.sentences import question_terms, score_passage
from rag.types.sentences import Scale
from tests.provider import Provider
from tests.rag.conftest import AddDocument
from tests.rag.factory import passage
from tests.rag.test_hybrid import retrieve

TEXT = "Bread bakes for forty minutes. Green tea steeps for two minutes.\n\nThe nodes stand on a ring."
QUESTION = "How long does green tea steep?"


@pytest.fixture
def local(embedder: Provider, settings: Any) -> Iterator[LocalEmbedder]:
    """The local model in the provider's place."""
    options = {"models_dir": django_settings.MODELS_DIR}
    part = {"class": f"{LocalEmbedder.__module__}.LocalEmbedder", "options": options}
    settings.KNOWLEX = settings.KNOWLEX | {"EMBEDDER": part}
    yield LocalEmbedder(**options)
    forget_components()


def test_a_passage_brings_the_similarity_of_each_sentence(local: LocalEmbedder, add_document: AddDocument):
    add_document(TEXT, "Something else.")
    passages = {passage.content: passage for passage in retrieve(QUESTION).passages}
    found, spans = passages[TEXT], sentence_spans(TEXT)
    (own,) = local.embed_with_sentences([TEXT], [spans])
    (question,) = local.embed([QUESTION])
    assert found.bounds == tuple(spans)
    assert found.similarities == pytest.approx((own.sentences @ question).tolist(), abs=2e-3)
    assert int(np.argmax(found.similarities)) == 1


def test_a_chunk_without_stored_sentences_is_found_all_the_same(
    local: LocalEmbedder, add_document: AddDocument
):
    add_document(TEXT)
    SentenceVectors.objects.all().delete()
    (found,) = retrieve(QUESTION).passages
    assert (found.bounds, found.similarities) == ((), ())


def test_the_stored_analysis_scores_as_the_text_itself_does(
    local: LocalEmbedder, add_document: AddDocument
) -> None:
    add_document(TEXT, "How long? Green tea.")
    passages = retrieve(QUESTION).passages
    ChunkAnalysis.objects.all().delete()
    without = retrieve(QUESTION).passages

    assert [passage.analysis for passage in passages] == [
        describe_sentences(passage.content, passage.language) for passage in passages
    ]
    assert [passage.analysis for passage in without] == ["", ""]
    terms, scale = question_terms(QUESTION, {"green": 2.0, "tea": 3.0}), Scale(0.14, 0.1)
    scores = [[score_passage(one, terms) for one in found] for found in (passages, without)]
    assert scores[0] == scores[1]
    assert [strength(*pair, terms, scale) for pair in zip(passages, scores[0], strict=True)] == [
        strength(*pair, terms, scale) for pair in zip(without, scores[1], strict=True)
    ]


def test_a_sentence_is_scored_with_its_similarity_where_there_is_one():
    terms = question_terms(QUESTION, {"green": 2.0, "tea": 3.0})
    spans = sentence_spans(TEXT)
    plain = score_passage(passage(1, TEXT), terms)
    scored = score_passage(
        passage(1, TEXT, bounds=tuple(spans[1:]), similarities=(0.75, 0.25)),
        terms,
    )
    assert [s.similarity for s in plain] == [None, None, None]
    assert [s.similarity for s in scored] == [None, 0.75, 0.25]
    assert [s[:4] for s in scored] == [s[:4] for s in plain]


def test_a_copy_of_a_passage_differs_in_what_is_given():
    one = passage(1, TEXT, bounds=((0, 30),), similarities=(0.5,))

    assert one._replace(score=2.0, relevance=0.7) == one._replace(score=2.0, relevance=0.7)
    assert one.score != 2.0
