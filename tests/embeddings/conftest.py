"""An in-process Knowlex whose embedder is the provider on loopback, and documents made of known texts."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar
from uuid import UUID

import pytest
from asgiref.sync import sync_to_async
from django.db import connection

from documents.models import Chunk, Collection, Document
from knowlex.base.retry import Retry
from knowlex.runtime.components import forget_components
from tests.provider import Provider

T = TypeVar("T")
Configure = Callable[..., None]
AddDocument = Callable[..., UUID]


@pytest.fixture
def configure(settings: Any, provider: Provider) -> Iterator[Configure]:
    """`configure(model_name="…", dimensions=…)`: the embedder from now on; already called once."""

    def choose(**options: Any) -> None:
        usual = {"model_name": "text-embedding-3-small", "dimensions": 32, "retry": Retry(1, 0.01)}
        wire = {"api_key": "sk-test", "base_url": provider.openai_url, "timeout_s": 5.0}
        part = {"class": "embeddings.embedders.openai.OpenAIEmbedder", "options": usual | wire | options}
        settings.KNOWLEX = settings.KNOWLEX | {"EMBEDDER": part}
        settings.EMBEDDER_CHOSEN = True

    choose()
    yield choose
    forget_components()


@pytest.fixture
def add_document(transactional_db: None) -> AddDocument:
    """`add_document(["text", …])`: a document with one chunk for each text; its id."""

    def add(texts: Sequence[str], *, collection: str = "default") -> UUID:
        into, _ = Collection.objects.get_or_create(name=collection)
        document = Document(
            collection=into,
            source=Document.Source.PDF,
            original_filename="stored.pdf",
            size_bytes=1,
            file="none",
            page_count=1,
            chunk_count=len(texts),
        )
        document.checksum = document.id.hex * 2
        document.save()
        Chunk.objects.bulk_create(
            Chunk(document=document, chunk_index=n, content=text, start_char=0, end_char=1, token_count=1)
            for n, text in enumerate(texts)
        )
        return document.id

    return add


async def in_thread(work: Callable[..., T], *args: Any, **options: Any) -> T:
    """Run what uses Django's connection beside the event loop, and close that connection after it."""

    def run() -> T:
        try:
            return work(*args, **options)
        finally:
            connection.close()

    return await sync_to_async(run)()
