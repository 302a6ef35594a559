"""The OpenAI embedder against a server that misbehaves; waits are shortened, their number is not."""

import time

import numpy as np
import pytest

from embeddings.embedders.openai import OpenAIEmbedder
from knowlex.common.errors import EmbedderRejected, EmbedderUnavailable, TextRejected
from knowlex.common.retry import Retry, retry_after_seconds
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


@pytest.mark.parametrize(
    "fault",
    [
        "reset",
        "close",
        "half",
        "cut",
        "html",
        "empty",
        "null",
        "list",
        "bad_utf8",
        "huge",
        "hang",
        "fewer",
        "more",
        "missing_data",
        "null_vector",
        "duplicate_index",
        "missing_index",
        "wrong_length",
        "mixed_length",
        "nan",
        "infinity",
        "zero",
    ],
)
def test_a_try_without_usable_answer_is_followed_by_another(provider, fault):
    provider.rule(fault, times=1, on="embeddings")
    vectors = embedder(provider).embed(TEXTS)
    assert len(provider.calls("embeddings")) == 2
    assert np.array_equal(vectors[2], vector_of(TEXTS[2]))


@pytest.mark.parametrize("fault", ["reset", "cut", "null", "huge", "zero", "fewer"])
async def test_a_question_is_tried_again_too(provider, fault):
    provider.rule(fault, times=3, on="embeddings")
    assert np.array_equal(await ask(embedder(provider), TEXTS[0]), vector_of(TEXTS[0]))


@pytest.mark.parametrize("status", [408, 429, 500, 503])
def test_after_four_tries_it_is_unavailable(provider, status):
    provider.rule("status", status=status, on="embeddings")
    with pytest.raises(EmbedderUnavailable):
        embedder(provider).embed(TEXTS)
    assert len(provider.calls("embeddings")) == 4


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


def test_a_server_that_asks_for_time_gets_it(provider):
    provider.rule("status", status=429, retry_after_s=1, times=1, on="embeddings")
    embedder(provider).embed(TEXTS)
    first, second = provider.calls("embeddings")
    assert second.at - first.at >= 1


def test_a_server_that_asks_for_too_much_time_is_given_up(provider):
    provider.rule("status", status=429, retry_after_s=3600, on="embeddings")
    with pytest.raises(EmbedderUnavailable):
        embedder(provider).embed(TEXTS)
    assert len(provider.calls("embeddings")) == 1


def test_retry_after_may_be_seconds_or_a_date():
    assert retry_after_seconds("2.5") == 2.5
    assert retry_after_seconds("-3") == 0
    assert retry_after_seconds("Wed, 21 Oct 2015 07:28:00 GMT") == 0
    assert (retry_after_seconds("Wed, 21 Oct 2093 07:28:00 GMT") or 0) > 0
    assert [retry_after_seconds(text) for text in ("", "soon", "nan", "inf")] == [None] * 4


def test_the_client_gives_up_after_its_timeout(provider):
    provider.rule("hang", on="embeddings")
    started = time.monotonic()
    with pytest.raises(EmbedderUnavailable, match="in time"):
        embedder(provider, timeout_s=0.3, retry=Retry(0, 0.0)).embed(TEXTS)
    assert time.monotonic() - started < 2


def test_neither_key_nor_server_is_refused():
    with pytest.raises(ValueError, match="OPENAI_API_KEY"):
        OpenAIEmbedder(api_key="", base_url=None, model_name="m")
