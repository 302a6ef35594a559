"""What is the OpenAI embedder's own, for the rest is in tests/parts; waits are shortened."""

import numpy as np
import pytest

from embeddings.embedders.openai import OpenAIEmbedder
from knowlex.base.errors import EmbedderRejected, TextRejected
from knowlex.base.retry import Retry, retry_after_seconds
from tests.provider import Provider, vector_of

KEY = "sk-test-5e1f"
TEXTS = ["the first text", "a second one", "and a third"]
SHORT = Retry(retries=3, base_s=0.01)


def embedder(provider: Provider, **options) -> OpenAIEmbedder:
    settings = {"model_name": "text-embedding-3-small", "timeout_s": 1.0, "retry": SHORT} | options
    return OpenAIEmbedder(api_key=KEY, base_url=provider.openai_url, **settings)


async def ask(subject: OpenAIEmbedder, text: str):
    try:
        return await subject.aembed_query(text)
    finally:
        await subject.aclose()


def test_each_text_gets_its_own_vector(provider):
    vectors = embedder(provider).embed(TEXTS)
    assert all(np.array_equal(v, vector_of(t)) for v, t in zip(vectors, TEXTS, strict=True))


async def test_a_question_gets_the_vector_of_its_text(provider):
    assert np.array_equal(await ask(embedder(provider), TEXTS[0]), vector_of(TEXTS[0]))


@pytest.mark.parametrize(
    ("model", "asked", "sent"),
    [
        ("text-embedding-3-small", None, None),
        ("text-embedding-3-small", 64, 64),
        ("text-embedding-ada-002", 1536, None),
    ],
)
def test_dimensions_are_sent_only_if_set_and_understood(provider, model, asked, sent):
    subject = embedder(provider, model_name=model, dimensions=asked)
    (vector,) = subject.embed(["text"])
    assert provider.calls("embeddings")[0].body.get("dimensions") == sent
    assert len(vector) == subject.dimensions == (sent or 1536)


@pytest.mark.parametrize("fault", ["hang", "duplicate_index", "missing_index"])
def test_a_try_without_usable_answer_is_followed_by_another(provider, fault):
    provider.rule(fault, times=1, on="embeddings")
    vectors = embedder(provider).embed(TEXTS)
    assert len(provider.calls("embeddings")) == 2
    assert np.array_equal(vectors[2], vector_of(TEXTS[2]))


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (401, EmbedderRejected),
        (403, EmbedderRejected),
        (404, EmbedderRejected),
        (302, EmbedderRejected),
        (400, TextRejected),
        (413, TextRejected),
        (422, TextRejected),
    ],
)
async def test_what_cannot_be_helped_is_tried_once_and_the_key_is_not_told(provider, status, error):
    provider.rule("status", status=status, message=f"wrong: {KEY}\x00\ud800", on="embeddings")
    with pytest.raises(error) as in_worker:
        embedder(provider).embed(TEXTS)
    with pytest.raises(error) as in_request:
        await ask(embedder(provider), TEXTS[0])
    assert len(provider.calls("embeddings")) == 2
    for caught in (in_worker, in_request):
        assert KEY not in caught.value.message
        assert caught.value.message.isprintable()


def test_retry_after_may_be_seconds_or_a_date():
    assert retry_after_seconds("2.5") == 2.5
    assert retry_after_seconds("-3") == 0
    assert retry_after_seconds("Wed, 21 Oct 2015 07:28:00 GMT") == 0
    assert (retry_after_seconds("Wed, 21 Oct 2093 07:28:00 GMT") or 0) > 0
    assert [retry_after_seconds(text) for text in ("", "soon", "nan", "inf")] == [None] * 4


def test_neither_key_nor_server_is_refused():
    with pytest.raises(ValueError, match="OPENAI_API_KEY"):
        OpenAIEmbedder(api_key="", base_url=None, model_name="m")
