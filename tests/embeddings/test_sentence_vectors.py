"""Sentences' vectors out of the text's own forward pass."""

import json
from collections.abc import Callable, Iterator
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.conf import settings
from django.core.management import call_command

from documents.access import FULL
from documents.library.collections import create_collection
from documents.models import Chunk, Collection, Document
from documents.text.sentences import sentence_spans
from embeddings import services
from embeddings.embedders.local import LocalEmbedder
from embeddings.embedders.on_cpu import sentence_vectors
from embeddings.models import Embedding, EmbeddingRequest, SentenceVectors
from embeddings.protocols import SentenceAware
from embeddings.sanity import check_sanity
from embeddings.vectors.rows import vector_bytes
from embeddings.vectors.sentences import MAX_SENTENCES
from knowlex.base.errors import InvalidInput
from knowlex.base.ids import new_id
from knowlex.db.threads import execute
from knowlex.runtime.components import forget_components
from tests.embeddings.test_transfer import add, exported, members, packed, taken
from tests.platform.talk import ended
from tests.platform.talk import stored as stored_document
from tests.platform.talk import text as text_source
from tests.support.commands import manage
from tests.support.stack import Stack
from tests.support.texts import facts_pdf

MODELS_DIR = settings.MODELS_DIR
STORED = """
    SELECT c.content, s.bounds, (SELECT array_agg(v::float4[]) FROM unnest(s.vectors) v)
    FROM embeddings_sentencevectors s JOIN documents_chunk c ON c.id = s.chunk_id
"""

TEXT = (
    "A load balancer spreads incoming requests over several servers. When one fails, the others go on.\n\n"
    "Boil the pasta in salted water for nine minutes. 北京是中国的首都。 Naïve façades, ﬁne ones, cost €3.50!"
)


@pytest.fixture(scope="module")
def embedder() -> LocalEmbedder:
    return LocalEmbedder(models_dir=MODELS_DIR)


@pytest.mark.parametrize("text", [TEXT, " ", "word", "pasta " * 600])
def test_the_texts_own_vector_is_the_one_that_embed_gives(embedder, text):
    assert isinstance(embedder, SentenceAware)
    (whole,) = embedder.embed_with_sentences([text], [sentence_spans(text)])
    assert np.array_equal(whole.vector, embedder.embed([text])[0])


def test_a_sentences_vector_is_the_mean_of_its_own_tokens(embedder):
    spans = sentence_spans(TEXT)
    (found,) = embedder.embed_with_sentences([TEXT], [spans])
    model = embedder._load_once()
    tokens = model.token_vectors(TEXT)[1:-1]
    whole = list(zip(model._tokenizer.starts(TEXT), model._tokenizer.ends(TEXT, 512), strict=True))
    assert found.sentences.shape == (len(spans), 384)
    for (start, end), vector in zip(spans, found.sentences, strict=True):
        mean = tokens[[n for n, (first, last) in enumerate(whole) if start <= first and last <= end]].mean(
            axis=0
        )
        assert np.allclose(vector, mean / np.linalg.norm(mean), atol=1e-6)


def test_a_sentence_in_its_context_stays_near_the_sentence_alone(embedder):
    spans = sentence_spans(TEXT)
    (found,) = embedder.embed_with_sentences([TEXT], [spans])
    alone = np.array(embedder.embed([TEXT[start:end] for start, end in spans]))
    cosines = found.sentences @ alone.T
    assert cosines[0].argmax() == 0
    assert cosines[2].argmax() == 2
    assert cosines.diagonal().min() > 0.4  # .48 to .56, by what the processor makes of 8 bits


def test_spans_without_a_token_or_beyond_the_model_have_no_direction(embedder):
    text = "water " * 510 + "pasta " * 100
    spans = [(0, 5), (5, 6), (len(text) - 50, len(text))]
    (found,) = embedder.embed_with_sentences([text], [spans])
    assert np.linalg.norm(found.sentences, axis=1) == pytest.approx([1, 0, 0], abs=1e-5)
    (none,) = embedder.embed_with_sentences([TEXT], [[]])
    assert none.sentences.shape == (0, 384)


def test_a_token_that_begins_with_its_space_is_of_the_sentence_in_which_it_ends():
    """As SentencePiece counts: "One. Two." is [0, 3), [3, 4), [4, 8), [8, 9)."""
    tokens = np.eye(4, dtype=np.float32)
    found = sentence_vectors(tokens, [3, 4, 8, 9], [(0, 4), (5, 9)])
    assert (found > 0).tolist() == [[True, True, False, False], [False, False, True, True]]


@pytest.fixture
def local(transactional_db: None, settings: Any) -> Iterator[None]:
    """An in-process Knowlex with the local model."""
    part = {"class": f"{LocalEmbedder.__module__}.LocalEmbedder", "options": {"models_dir": MODELS_DIR}}
    settings.KNOWLEX = settings.KNOWLEX | {"EMBEDDER": part}
    yield
    forget_components()


def embed_all() -> None:
    services.request_embeddings(access=FULL)
    while EmbeddingRequest.objects.exists():
        services.embed_batch(new_id())


@pytest.mark.usefixtures("local")
def test_sentences_are_stored_with_the_chunk_and_gone_with_it(add_document, embedder):
    document_id = add_document([TEXT, "One sentence.", "..."])
    embed_all()
    rows = {text: (bounds, vectors) for text, bounds, vectors in execute(STORED)}
    spans = sentence_spans(TEXT)
    (expected,) = embedder.embed_with_sentences([TEXT], [spans])
    bounds, vectors = rows[TEXT]
    assert bounds == [place for span in spans for place in span]
    assert np.allclose(np.array(vectors), expected.sentences, atol=1e-3)
    assert rows["One sentence."][0] == [0, 13]

    Chunk.objects.filter(document_id=document_id, content=TEXT).delete()
    assert set(SentenceVectors.objects.values_list("chunk__content", flat=True)) == set(rows) - {TEXT}


@pytest.mark.usefixtures("local")
def test_only_so_many_sentences_of_a_chunk_and_only_what_the_model_reads(add_document):
    add_document(["Go on. " * 200, "word " * 520 + ". Then it ends. So."])
    embed_all()
    bounds = dict(SentenceVectors.objects.values_list("chunk__chunk_index", "bounds"))
    assert len(bounds[0]) == 2 * MAX_SENTENCES
    assert bounds[1] == [0, 2601]


@pytest.mark.usefixtures("configure")
def test_a_model_without_token_vectors_stores_none(add_document):
    add_document([TEXT])
    embed_all()
    assert Embedding.objects.count() == 1
    assert SentenceVectors.objects.count() == 0


@pytest.fixture
def library(local: None, settings: Any, tmp_path: Path) -> Collection:
    """A document of two chunks and more in a collection of its own, embedded."""
    settings.MEDIA_ROOT = tmp_path
    library = create_collection(access=FULL, name="library", settings={"chunk_size": 64, "chunk_overlap": 0})
    add(library, "book.pdf", facts_pdf(12))
    embed_all()
    return library


def stored(collection: Collection) -> list[tuple[Any, ...]]:
    where = " WHERE c.document_id = (SELECT id FROM documents_document WHERE collection_id = %s) ORDER BY 1"
    return execute(STORED + where, [collection.id])


def test_sentences_are_exported_and_come_back(library: Collection):
    archive = exported(library)
    assert [name for name, _ in members(archive)][2:4] == [
        "documents/000001/vectors-0.f32",
        "documents/000001/sentences-0.f16",
    ]
    taken(archive)
    copy = Collection.objects.get(name="copy")
    assert len(stored(library)) > 1
    assert stored(copy) == stored(library)
    assert {finding.name for finding in check_sanity() if finding.broken} <= {"default_collection"}


def test_an_export_of_an_earlier_release_has_no_sentences(library: Collection):
    def before(name: str, data: bytes) -> bytes:
        found = json.loads(data) if name.endswith(".json") else {}
        if name == "manifest.json":
            return json.dumps({**found, "version": 1}).encode()
        for vectors in found.get("vectors", []):
            del vectors["sentences"]
        return json.dumps(found).encode() if found else data

    content = members(exported(library))
    older = [(name, before(name, data)) for name, data in content if not name.endswith(".f16")]
    done = taken(packed(older))
    assert (done.vectors, done.to_embed) == (Embedding.objects.count() // 2, [])
    assert stored(Collection.objects.get(name="copy")) == []


SPOILT: dict[str, Callable[[list[list[int]]], Any]] = {
    "beyond the text": lambda bounds: [[0, 10**6], *bounds[1:]],
    "backwards": lambda bounds: [bounds[0][::-1], *bounds[1:]],
    "an odd number": lambda bounds: [bounds[0][:-1], *bounds[1:]],
    "of fewer chunks": lambda bounds: bounds[1:],
    "more than there are": lambda bounds: [bounds[0][:2], *bounds[1:]],
}


def test_sentences_that_lie_are_refused(library: Collection):
    content = members(exported(library))
    described = json.loads(content[1][1])
    for kind, spoil in SPOILT.items():
        vectors = [{**one, "sentences": spoil(one["sentences"])} for one in described["vectors"]]
        spoilt = json.dumps({**described, "vectors": vectors}).encode()
        with pytest.raises(InvalidInput):
            taken(packed([content[0], (content[1][0], spoilt), *content[2:]]))
        assert not Document.objects.filter(collection__name="copy").exists(), kind
    for number in (b"\0\0", b"\0\x7c"):  # zero, infinite
        data = [(n, number * (len(d) // 2) if n.endswith(".f16") else d) for n, d in content]
        with pytest.raises(InvalidInput, match="zero or not finite"):
            taken(packed(data))


def test_the_room_that_sentences_take_is_counted(library: Collection):
    chunks = Chunk.objects.count()
    before = vector_bytes(library.id, chunks=chunks, access=FULL)
    assert SentenceVectors.objects.all().delete()[0] > 0
    assert before - vector_bytes(library.id, chunks=chunks, access=FULL) > 768


def test_chunks_of_an_earlier_release_get_theirs_later(library: Collection):
    expected = stored(library)
    vectors = execute("SELECT chunk_id, vector::text FROM embeddings_embedding ORDER BY 1")
    SentenceVectors.objects.filter(chunk__chunk_index__gt=0).delete()
    out = StringIO()
    call_command("embed_sentences", stdout=out)
    assert f"{Embedding.objects.count() - 1} chunks" in out.getvalue()
    assert stored(library) == expected
    assert execute("SELECT chunk_id, vector::text FROM embeddings_embedding ORDER BY 1") == vectors
    call_command("embed_sentences", stdout=out)
    assert "\n0 chunks" in out.getvalue()


@pytest.mark.usefixtures("configure")
def test_a_model_without_token_vectors_is_not_asked_for_them(add_document):
    add_document([TEXT])
    embed_all()
    call_command("embed_sentences", stdout=(out := StringIO()))
    assert out.getvalue().startswith("0 chunks")


@pytest.mark.slow
def test_sentences_follow_their_document_through_replacement_and_deletion(server: Stack):
    document = stored_document(server.client, text_source(TEXT, "a.txt"))
    other = TEXT.replace("pasta", "rice")
    job = server.client.put(f"/v1/documents/{document}", json=text_source(other, "a.txt")).json()["job_id"]
    ended(server.client, job)
    (row,) = server.sql(
        "SELECT c.document_id::text AS document, c.content, s.bounds FROM embeddings_sentencevectors s "
        "JOIN documents_chunk c ON c.id = s.chunk_id"
    )
    assert row["document"] == document
    assert "Boil the rice" in row["content"]
    assert row["bounds"] == [place for span in sentence_spans(row["content"]) for place in span]
    assert "All is well" in manage(server, "sanity")
    server.client.delete(f"/v1/documents/{document}")
    assert server.count("embeddings_sentencevectors") == 0
