"""What is Ollama's own: its words for failures, tags, and loading."""

import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from django.core.exceptions import ImproperlyConfigured

from embeddings import registry
from embeddings.embedders.ollama import OllamaEmbedder
from embeddings.model_lifecycle import catalog
from embeddings.types import ModelSpec
from knowlex.base.errors import EmbedderRejected, EmbedderUnavailable, TextRejected
from knowlex.base.retry import Retry
from knowlex.net.ollama import full_name, short_name
from tests.provider import Provider, vector_of

TEXTS = ["the first text", "a second one", "and a third"]
SHORT = Retry(retries=3, base_s=0.01)
WITHOUT_DJANGO = """
import sys
from typing import Any
from embeddings.embedders.ollama import OllamaEmbedder
assert not {"django", "openai", "celery"} & {name.partition(".")[0] for name in sys.modules}
"""


def embedder(provider: Provider, **options: object) -> OllamaEmbedder:
    given = {"host": provider.url, "model_name": "all-minilm", "timeout_s": 1.0, "retry": SHORT}
    return OllamaEmbedder(**given | options)


def test_a_batch_is_one_request_and_each_text_gets_its_own_vector(provider: Provider) -> None:
    subject = embedder(provider)
    assert subject.dimensions is None
    vectors = subject.embed(TEXTS)
    assert all(np.allclose(v, vector_of(t, 384), atol=1e-6) for v, t in zip(vectors, TEXTS, strict=True))
    assert subject.dimensions == 384
    (call,) = provider.calls("embeddings")
    assert (call.path, call.body) == (
        "/api/embed",
        {"model": "all-minilm", "input": TEXTS, "keep_alive": "30m"},
    )


def test_for_no_texts_nobody_is_asked(provider: Provider) -> None:
    assert embedder(provider).embed([]) == []
    assert provider.calls() == []


def test_many_texts_are_several_requests(provider: Provider) -> None:
    texts = [f"text {n}" for n in range(120)]
    vectors = embedder(provider).embed(texts)
    assert np.allclose(vectors[119], vector_of(texts[119], 384), atol=1e-6)
    assert [len(call.texts) for call in provider.calls("embeddings")] == [50, 50, 20]


def test_a_size_is_asked_for_and_held_to(provider: Provider) -> None:
    (vector,) = embedder(provider, dimensions=64).embed(TEXTS[:1])
    assert len(vector) == 64
    assert provider.calls("embeddings")[0].body["dimensions"] == 64


def test_a_model_that_changes_its_size_is_refused(provider: Provider) -> None:
    subject = embedder(provider)
    subject.embed(TEXTS)
    provider.rule("wrong_length", on="embeddings")
    with pytest.raises(EmbedderUnavailable, match="383 dimensions instead of 384"):
        subject.embed(TEXTS)


async def test_prefixes_stand_before_texts_of_their_kind(provider: Provider) -> None:
    subject = embedder(provider, query_prefix="search_query: ", passage_prefix="search_document: ")
    subject.embed(["a"])
    await subject.aembed_query("b")
    await subject.aembed_passage("c")
    await subject.aclose()
    sent = [call.body["input"] for call in provider.calls("embeddings")]
    assert sent == [["search_document: a"], ["search_query: b"], ["search_document: c"]]


async def test_a_model_that_is_not_there_is_to_be_pulled(provider: Provider) -> None:
    provider.has_pulled("llama3.2:1b")
    subject = embedder(provider)
    with pytest.raises(EmbedderRejected, match="pull it first: `ollama pull all-minilm`"):
        subject.embed(TEXTS)
    with pytest.raises(EmbedderRejected, match="pull it first"):
        await subject.aembed_query("a")
    await subject.aclose()
    assert len(provider.calls("embeddings")) == 2


@pytest.mark.parametrize(
    ("fault", "status", "message", "error", "tries"),
    [
        ("status", 500, "the input length exceeds the context length", TextRejected, 1),
        ("status", 500, "failed to encode response: json: unsupported value: NaN", TextRejected, 1),
        ("status", 400, "this model does not support embeddings", EmbedderRejected, 1),
        ("status", 404, 'model "all-minilm" not found, try pulling it first', EmbedderRejected, 1),
        ("status", 503, "server busy, please try again", EmbedderUnavailable, 4),
        ("error_200", 200, 'model "all-minilm" not found, try pulling it first', EmbedderRejected, 1),
        ("error_200", 200, "llama runner process has terminated", EmbedderUnavailable, 4),
    ],
)
def test_what_ollama_says_counts_more_than_its_status(
    provider: Provider, fault: str, status: int, message: str, error: type[Exception], tries: int
) -> None:
    provider.rule(fault, status=status, message=message, on="embeddings")
    with pytest.raises(error):
        embedder(provider).embed(TEXTS)
    assert len(provider.calls("embeddings")) == tries


def test_a_server_that_is_no_ollama_is_told(provider: Provider) -> None:
    provider.rule("no_route", on="embeddings")
    with pytest.raises(EmbedderRejected, match="OLLAMA_HOST"):
        embedder(provider).embed(TEXTS)


async def test_loading_a_model_embeds_nothing(provider: Provider) -> None:
    subject = embedder(provider, keep_alive="-1")
    await subject.warm_up(timeout_s=5)
    await subject.aclose()
    assert provider.loads == {"all-minilm:latest": 1}
    (call,) = provider.calls("load")
    assert call.body == {"model": "all-minilm", "input": [], "keep_alive": -1}
    assert provider.asked() == {}


def test_it_needs_no_django() -> None:
    done = subprocess.run([sys.executable, "-c", WITHOUT_DJANGO], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("given", "full", "short"),
    [
        ("all-minilm", "all-minilm:latest", "all-minilm"),
        ("all-minilm:latest", "all-minilm:latest", "all-minilm"),
        ("mistral:7b", "mistral:7b", "mistral:7b"),
        ("host:5000/me/model", "host:5000/me/model:latest", "host:5000/me/model"),
    ],
)
def test_a_name_with_and_without_the_usual_tag(given: str, full: str, short: str) -> None:
    assert (full_name(given), short_name(given)) == (full, short)


def spec(name: str, provider: str = "ollama", **options: str) -> ModelSpec:
    return ModelSpec(provider, name, options=tuple(sorted(options.items())))


def test_the_same_model_by_its_tag_is_no_other_one() -> None:
    assert registry.is_same_model(spec("all-minilm"), spec("all-minilm:latest"))
    assert registry.is_same_model(spec("mine", model="all-minilm"), spec("all-minilm:latest"))
    assert not registry.is_same_model(spec("all-minilm"), spec("all-minilm:33m"))
    assert not registry.is_same_model(spec("m", "openai"), spec("m:latest", "openai"))


def test_what_is_added_goes_by_its_short_name() -> None:
    added = catalog.parse_spec(
        "mine:latest", provider="ollama", options={"model": "all-minilm:latest", "query_prefix": "query: "}
    )
    assert added == spec("mine", model="all-minilm", query_prefix="query: ")


def test_settings_build_it_for_any_model_of_its_server(provider: Provider, settings: Any) -> None:
    options = settings.EMBEDDERS["ollama"]["options"] | {"host": provider.url}
    settings.EMBEDDERS = settings.EMBEDDERS | {"ollama": settings.EMBEDDERS["ollama"] | {"options": options}}
    added = spec("small", model="all-minilm", dimensions=32)
    assert registry.is_remote(added)
    (vector,) = registry.embedder_for(added).embed(["a"])
    assert (len(vector), provider.calls("embeddings")[0].body["model"]) == (32, "all-minilm")


def test_defaults_and_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    from knowlex.environment import read_environment

    monkeypatch.setenv("KNOWLEX_EMBEDDER", "ollama")
    assert read_environment().embedder == "ollama"
    monkeypatch.setenv("OLLAMA_KEEP_ALIVE", "soon")
    with pytest.raises(ImproperlyConfigured, match="OLLAMA_KEEP_ALIVE"):
        read_environment()
