"""The rows of an imported document: whether its ids are free, and all of them in one transaction."""

from collections.abc import Sequence
from uuid import UUID

from django.db import transaction

from documents.languages import language_of
from documents.models import Chunk, Collection, Document, IngestItem, Page
from documents.uploads import clean_filename
from embeddings import vector_rows
from embeddings.models import EmbeddingModel, OutsideStore
from embeddings.transfer.shapes import DocumentShape
from embeddings.types import Embedded, HeldChunk

ROWS_PER_INSERT = 500


def new_row(described: DocumentShape, collection: Collection, *, complete: bool) -> Document:
    """Its name as that of an upload: a file that somebody else wrote may call it as it likes.

    complete: it has all its vectors; with a vector store outside it is under way until that has them, too.
    """
    values = described.model_dump(exclude={"pages", "chunks", "vectors", "created_at", "updated_at"})
    if described.language is None:
        values["language"] = language_of("\n".join(page.text for page in described.pages))
    values["original_filename"] = clean_filename(described.original_filename)
    return Document(
        **values,
        collection=collection,
        page_count=len(described.pages),
        chunk_count=len(described.chunks),
        status=_status(complete),
    )


def _status(complete: bool) -> str:
    if not complete:
        return Document.Status.PENDING
    return Document.Status.PROCESSING if OutsideStore.objects.exists() else Document.Status.COMPLETED


def are_free(document_id: UUID, chunk_ids: Sequence[UUID]) -> bool:
    """Neither the document's id nor a chunk's belongs to anything here, or ever did to a job's document."""
    taken = (
        Document.objects.filter(id=document_id).exists() or IngestItem.objects.filter(id=document_id).exists()
    )
    return not taken and not Chunk.objects.filter(id__in=chunk_ids).exists()


@transaction.atomic
def write(
    document: Document,
    described: DocumentShape,
    ids: Sequence[UUID],
    vectors: dict[int, Embedded],
    model: EmbeddingModel,
) -> None:
    document.save(force_insert=True)
    moments = {"created_at": described.created_at, "updated_at": described.updated_at}
    Document.objects.filter(id=document.id).update(**moments)  # saving sets both to now
    pages = (Page(document=document, **page.model_dump()) for page in described.pages)
    Page.objects.bulk_create(pages, batch_size=ROWS_PER_INSERT)
    chunks = (
        Chunk(id=id_, document=document, **chunk.model_dump(exclude={"id"}))
        for id_, chunk in zip(ids, described.chunks, strict=True)
    )
    Chunk.objects.bulk_create(chunks, batch_size=ROWS_PER_INSERT)
    for start in range(0, len(ids), ROWS_PER_INSERT):
        some = [place for place in range(start, min(start + ROWS_PER_INSERT, len(ids))) if place in vectors]
        held = [HeldChunk(ids[place], described.chunks[place].content) for place in some]
        vector_rows.insert(model_id=model.pk, chunks=held, found=[vectors[place] for place in some])
    if vectors:
        EmbeddingModel.objects.filter(pk=model.pk, dimensions=0).update(
            dimensions=len(next(iter(vectors.values())).vector)
        )
