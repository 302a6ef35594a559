"""What every Embedder promises, whoever it asks: the model in this process, OpenAI's API, Ollama's."""

from collections.abc import Callable

import numpy as np
import pytest
from django.conf import settings

from embeddings.embedders.choosing import local_embedder
from embeddings.embedders.ollama import OllamaEmbedder
from embeddings.embedders.openai import OpenAIEmbedder
from embeddings.protocols import Embedder
from knowlex.base.errors import EmbedderRejected, EmbedderUnavailable, TextRejected
from knowlex.base.retry import Retry
from tests.provider import Provider

TEXTS = ["The lamp burns whale oil.", "One hundred and twenty steps", "Ölbrenner, 灯台, 🗼"]
SHORT = Retry(retries=3, base_s=0.01)
BROKEN = ["reset", "close", "half", "cut", "html", "empty", "null", "list", "bad_utf8", "huge", "compressed"]
WRONG = [
    "fewer",
    "more",
    "missing_data",
    "null_vector",
    "wrong_length",
    "mixed_length",
    "nan",
    "infinity",
    "zero",
]
Make = Callable[..., Embedder]


def _openai(provider: Provider, **options: object) -> Embedder:
    return OpenAIEmbedder(
        api_key="sk-1", base_url=provider.openai_url, model_name="text-embedding-3-small", **options
    )


def _ollama(provider: Provider, **options: object) -> Embedder:
    return OllamaEmbedder(host=provider.url, model_name="nomic-embed-text", dimensions=768, **options)


def _local(provider: Provider, **_: object) -> Embedder:
    return local_embedder(models_dir=settings.MODELS_DIR)


SERVED = {"openai": _openai, "ollama": _ollama}
ALL = {"local": _local, **SERVED}


@pytest.fixture(params=list(ALL))
def embedder(request: pytest.FixtureRequest, provider: Provider) -> Embedder:
    return ALL[request.param](provider)


@pytest.fixture(params=list(SERVED))
def served(request: pytest.FixtureRequest, provider: Provider) -> Make:
    """`served(timeout_s=…)`: one that asks the provider, with short waits between its tries."""
    return lambda **options: SERVED[request.param](provider, **{"retry": SHORT, "timeout_s": 1.0} | options)


async def ask(subject: Embedder, text: str) -> np.ndarray:
    """A question, and the connections closed."""
    try:
        return await subject.aembed_query(text)
    finally:
        if close := getattr(subject, "aclose", None):
            await close()


def close_to(one: np.ndarray, other: np.ndarray) -> bool:
    return float(one @ other / np.linalg.norm(one) / np.linalg.norm(other)) > 0.999


async def test_every_text_has_one_vector_of_its_own_and_a_question_the_same(embedder: Embedder) -> None:
    vectors = embedder.embed(TEXTS)
    assert len(vectors) == len(TEXTS)
    assert {(v.dtype, v.shape) for v in vectors} == {(np.dtype(np.float32), (embedder.dimensions,))}
    assert all(np.isfinite(v).all() and v.any() for v in vectors)
    (alone,) = embedder.embed(TEXTS[1:2])
    assert close_to(vectors[1], alone)
    assert not close_to(vectors[0], vectors[1])
    assert close_to(await ask(embedder, TEXTS[2]), vectors[2])


@pytest.mark.parametrize("fault", [*BROKEN, *WRONG])
def test_a_try_without_usable_answer_is_followed_by_another(
    served: Make, provider: Provider, fault: str
) -> None:
    subject = served()
    expected = subject.embed(TEXTS)
    provider.forget_log()
    provider.rule(fault, times=1, on="embeddings")
    assert np.array_equal(subject.embed(TEXTS), expected)
    assert [len(call.texts) for call in provider.calls("embeddings")] == [3, 3]


@pytest.mark.parametrize("fault", ["reset", "cut", "null", "huge", "zero", "fewer", "compressed"])
async def test_a_question_is_tried_again_too(served: Make, provider: Provider, fault: str) -> None:
    provider.rule(fault, times=3, on="embeddings")
    assert (await ask(served(), TEXTS[0])).any()
    assert len(provider.calls("embeddings")) == 4


@pytest.mark.parametrize("status", [408, 429, 500, 503])
async def test_after_four_tries_it_is_unavailable(served: Make, provider: Provider, status: int) -> None:
    provider.rule("status", status=status, on="embeddings")
    with pytest.raises(EmbedderUnavailable):
        served().embed(TEXTS)
    with pytest.raises(EmbedderUnavailable):
        await ask(served(), TEXTS[0])
    assert len(provider.calls("embeddings")) == 8


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
async def test_what_cannot_be_helped_is_tried_once(
    served: Make, provider: Provider, status: int, error: type[Exception]
) -> None:
    provider.rule("status", status=status, message="no\x00\ud800 more", on="embeddings")
    with pytest.raises(error) as in_worker:
        served().embed(TEXTS)
    with pytest.raises(error) as in_request:
        await ask(served(), TEXTS[0])
    assert len(provider.calls("embeddings")) == 2
    assert all(caught.value.message.isprintable() for caught in (in_worker, in_request))


def test_a_server_that_asks_for_time_gets_it(served: Make, provider: Provider) -> None:
    provider.rule("status", status=429, retry_after_s=1, times=1, on="embeddings")
    served().embed(TEXTS)
    first, second = provider.calls("embeddings")
    assert second.at - first.at >= 1


def test_one_that_asks_for_too_much_time_is_given_up(served: Make, provider: Provider) -> None:
    provider.rule("status", status=429, retry_after_s=3600, on="embeddings")
    with pytest.raises(EmbedderUnavailable):
        served().embed(TEXTS)
    assert len(provider.calls("embeddings")) == 1


async def test_one_that_hangs_is_given_up_after_its_timeout(served: Make, provider: Provider) -> None:
    provider.rule("hang", on="embeddings")
    once = Retry(retries=0, base_s=0.0)
    with pytest.raises(EmbedderUnavailable, match="in time"):
        served(timeout_s=0.2, retry=once).embed(TEXTS)
    with pytest.raises(EmbedderUnavailable, match="in time"):
        await ask(served(timeout_s=0.2, retry=once), TEXTS[0])


@pytest.mark.parametrize("kind", [OpenAIEmbedder, OllamaEmbedder])
async def test_where_nobody_listens_it_is_unavailable(kind: type) -> None:
    where = (
        {"host": "127.0.0.1:9"}
        if kind is OllamaEmbedder
        else {"base_url": "http://127.0.0.1:9", "api_key": ""}
    )
    subject = kind(model_name="m", retry=Retry(retries=1, base_s=0.01), **where)
    with pytest.raises(EmbedderUnavailable):
        subject.embed(TEXTS)
    with pytest.raises(EmbedderUnavailable):
        await ask(subject, TEXTS[0])
