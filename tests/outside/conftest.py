"""A small library whose vectors are searched in a store outside PostgreSQL."""

import hashlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from embeddings.models import Embedding
from embeddings.types import Point
from knowlex.runtime.components import component
from tests.outside.spying import SpyingStore
from tests.provider import Provider
from tests.rag.conftest import add_document, embedder, pool
from tests.stores.conftest import STORES, servers
from tests.support.servers import ServerProcess

__all__ = ["add_document", "embedder", "pool", "servers"]


@pytest.fixture
def spy(settings: Any, embedder: Provider) -> SpyingStore:
    """The configured store, empty: `fill(spy)` has it hold what PostgreSQL does."""
    part = {"class": "tests.outside.spying.SpyingStore"}
    settings.KNOWLEX = {**settings.KNOWLEX, "VECTOR_STORE": part}
    return component("VECTOR_STORE", SpyingStore)


@pytest.fixture
def choose(settings: Any, servers: Callable[[str], ServerProcess]) -> Callable[[str], None]:
    """`choose("chroma")`: a running one is the configured store; nothing is put into it."""

    def configure(kind: str) -> None:
        part = dict(settings.VECTOR_STORES[kind])
        if kind in STORES:
            part["options"] = {**part["options"], "url": servers(kind).url, "timeout_s": 20.0}
        settings.KNOWLEX = {**settings.KNOWLEX, "VECTOR_STORE": part}

    return configure


def fill(store: SpyingStore) -> None:
    store.points = {point.chunk_id: point for point in stored_points()}


def stored_points() -> list[Point]:
    """Of all vectors in PostgreSQL."""
    rows = Embedding.objects.select_related("chunk__document").order_by("chunk_id")
    return [
        Point(
            chunk_id=row.chunk_id,
            vector=np.asarray(row.vector, dtype=np.float32),
            collection_id=row.collection_id,
            document_id=row.chunk.document_id,
            chunk_hash=hashlib.sha256(row.chunk.content.encode()).hexdigest(),
            chunk_index=row.chunk.chunk_index,
            book_id=str(row.collection_id),
            source_file=row.chunk.document.original_filename,
            page_number=row.chunk.page_number,
        )
        for row in rows
    ]
