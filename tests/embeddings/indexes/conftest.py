"""Chunks with vectors in clusters, as texts have them, put straight into the tables."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

import numpy as np
import pytest
from django.db import connection

from documents.models import Collection, Document
from embeddings import services
from embeddings.indexing import building, measuring
from embeddings.indexing.kinds import PREFIX
from embeddings.models import EmbeddingModel, VectorIndex
from embeddings.vectors.rows import vector_text
from knowlex.db.threads import execute

SIZE = 32
AddVectors = Callable[..., None]
_INSERT = """
    WITH numbered AS (SELECT gen_random_uuid() AS id, n, vector FROM unnest(%s::text[])
                      WITH ORDINALITY AS given (vector, n)),
    chunk AS (INSERT INTO documents_chunk (id, document_id, chunk_index, content, start_char, end_char,
                  token_count, chapter, section, created_at)
              SELECT id, %s, n, 'text', 0, 4, 1, '', '', now() FROM numbered)
    INSERT INTO embeddings_embedding (chunk_id, model_id, collection_id, vector, created_at)
    SELECT id, %s, %s, vector::vector, clock_timestamp() FROM numbered
"""


@pytest.fixture(autouse=True)
def _no_index_is_left(transactional_db):
    yield
    for name in relations():
        execute(f"DROP INDEX {connection.ops.quote_name(name)}")


@pytest.fixture(autouse=True)
def _few_questions(monkeypatch):
    """For each look at an index: what the usual five hundred take is most of what these tests take."""
    monkeypatch.setattr(measuring, "SAMPLE", 100)


@pytest.fixture
def model(configure: Any, settings: Any) -> EmbeddingModel:
    settings.VECTOR_INDEX, settings.VECTOR_INDEX_STORAGE = "ivfflat", "vector"
    return services.active_model()


@pytest.fixture
def add_vectors(model: EmbeddingModel) -> AddVectors:
    """`add_vectors(500, collection="c", clusters=20)`: a document with so many chunks and their vectors."""
    random = np.random.default_rng(7)

    def add(count: int, *, collection: str = "default", clusters: int = 40) -> UUID:
        into, _ = Collection.objects.get_or_create(name=collection)
        document = Document(
            collection=into, source="pdf", original_filename="a.pdf", size_bytes=1, file="none",
            page_count=1, chunk_count=count,
        )  # fmt: skip
        document.checksum = document.id.hex * 2
        document.save()
        centres = random.standard_normal((clusters, SIZE))
        vectors = centres[random.integers(clusters, size=count)] + random.standard_normal((count, SIZE))
        texts = [vector_text(vector) for vector in vectors.astype(np.float32)]
        execute(_INSERT, [texts, document.id, model.pk, into.id])
        return document.id

    return add


def relations() -> set[str]:
    return {name for name, _ in execute(building._RELATIONS, [PREFIX])}


def state() -> VectorIndex:
    return VectorIndex.objects.get()
