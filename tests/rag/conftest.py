"""A small library in the test database, embedded by the fake provider."""

from collections.abc import AsyncIterator, Callable
from itertools import count
from typing import Any

import pytest

from documents.access import FULL
from documents.models import Chunk, Collection, Document
from embeddings import services as embedding
from knowlex.db.pool import close_pool
from tests.provider import Provider

AddDocument = Callable[..., Document]


@pytest.fixture
def embedder(settings: Any, provider: Provider) -> Provider:
    """The configured embedder is the provider; returned for its log."""
    options = {"api_key": "sk-test", "base_url": provider.openai_url, "model_name": "text-embedding-3-small"}
    part = {"class": "embeddings.embedders.openai.OpenAIEmbedder", "options": options}
    settings.KNOWLEX = {**settings.KNOWLEX, "EMBEDDER": part}
    return provider


@pytest.fixture
def add_document(transactional_db: None, embedder: Provider) -> AddDocument:
    """`add_document("chunk one", "chunk two", collection="…", embed=True)`."""
    numbers = count()

    def add(*contents: str, collection: str = "default", embed: bool = True, **fields: Any) -> Document:
        owner, _ = Collection.objects.get_or_create(name=collection)
        number = next(numbers)
        document = Document.objects.create(
            collection=owner,
            source="PDF",
            original_filename=f"file{number}.pdf",
            checksum=f"{number:064x}",
            size_bytes=1,
            page_count=1,
            chunk_count=len(contents),
            **fields,
        )
        Chunk.objects.bulk_create(_chunk(document, n, content) for n, content in enumerate(contents))
        if embed:
            for batch in embedding.request_embeddings(document.id, access=FULL).batches:
                embedding.embed_batch(batch)
        return document

    return add


def _chunk(document: Document, number: int, content: str) -> Chunk:
    return Chunk(
        document=document,
        chunk_index=number,
        content=content,
        start_char=0,
        end_char=len(content),
        token_count=len(content.split()),
        page_number=1,
        last_page=1,
    )


@pytest.fixture
async def pool() -> AsyncIterator[None]:
    """For async tests: this loop's connections are closed when the test ends."""
    yield
    await close_pool()
