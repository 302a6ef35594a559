"""Exporting a collection: one snapshot of the database, one document in memory at a time."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO
from uuid import UUID

import numpy as np
from django.db import transaction
from django.utils import timezone

from documents.library import storage
from documents.models import Chunk, Collection, Document, Page
from embeddings.models import EmbeddingModel
from embeddings.transfer import archive as sentences
from embeddings.transfer import shapes
from embeddings.transfer.archive import PIECE, ArchiveWriter
from knowlex.base.errors import StorageUnavailable
from knowlex.db.threads import execute

_PASSES = 5
_VECTORS = """
    SELECT c.chunk_index, vector_send(e.vector) FROM embeddings_embedding e
    JOIN documents_chunk c ON c.id = e.chunk_id
    WHERE c.document_id = %s AND e.model_id = %s ORDER BY c.chunk_index
"""
_MODELS = """
    SELECT id FROM embeddings_embeddingmodel m WHERE EXISTS
        (SELECT FROM embeddings_embedding e WHERE e.model_id = m.id AND e.collection_id = %s) ORDER BY id
"""
_HEADER = 4  # bytes before the numbers in pgvector's binary form: dimensions, unused


@dataclass(slots=True)
class Exported:
    """deleted: documents that were deleted while their turn came."""

    documents: int = 0
    chunks: int = 0
    vectors: int = 0
    deleted: int = 0


def export_collection(collection: Collection, file: IO[bytes]) -> Exported:
    """Write the collection as it is at one moment; what is not stored yet, or fails, is left out.

    A document that is replaced meanwhile is exported as it is then, at the end. Raises StorageUnavailable if
    a stored file is missing or damaged, OSError if `file` cannot be written.
    """
    archive, done = ArchiveWriter(file), Exported()
    left = _export_snapshot(collection, archive, done, None)
    for _ in range(_PASSES):
        if left:
            left = _export_snapshot(collection, archive, done, left)
    if left:
        raise StorageUnavailable(f"The stored file of document {left[0]} is missing; see manage.py sanity.")
    archive.add("end.json", shapes.as_json(shapes.EndShape(documents=done.documents)))
    archive.close()
    return done


def _export_snapshot(
    collection: Collection, archive: ArchiveWriter, done: Exported, only: list[UUID] | None
) -> list[UUID]:
    """Export all documents (or only these); return those whose file has gone since, for another look."""
    with transaction.atomic():
        execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        model_ids = [row[0] for row in execute(_MODELS, [collection.id])]
        models = list(EmbeddingModel.objects.filter(id__in=model_ids))
        rows = Document.objects.current().in_collection(collection.id).order_by("created_at", "id")
        if only is None:
            archive.add("manifest.json", shapes.as_json(_manifest(collection, models)))
        else:
            rows = rows.filter(id__in=only)
            done.deleted += len(only) - rows.count()
        return [
            document.id
            for document in rows.iterator(chunk_size=20)
            if not _export_document(document, models, archive, done)
        ]


def _manifest(collection: Collection, models: list[EmbeddingModel]) -> shapes.Manifest:
    names = ("name", "provider", "dimensions", "active", "calibration")
    described = Collection.objects.filter(id=collection.id).values("name", "description", "settings").get()
    return shapes.Manifest(
        exported_at=timezone.now(),
        collection=shapes.CollectionShape(**described),
        models=[
            shapes.ModelShape(
                **{name: getattr(model, name) for name in names}, edition=shapes.EDITIONS.get(model.name, 1)
            )
            for model in models
        ],
    )


def _export_document(
    document: Document, models: list[EmbeddingModel], archive: ArchiveWriter, done: Exported
) -> bool:
    """Return False if its file is gone: the document was deleted or replaced after the snapshot."""
    try:
        original = storage.open_file(str(document.file.name))
    except FileNotFoundError:
        return False
    with original:
        done.documents += 1
        folder = f"documents/{done.documents:06d}"
        described, members = _describe(document), []
        for index, model in enumerate(models):
            rows = execute(_VECTORS, [document.id, model.pk])
            if rows:
                chunks = [row[0] for row in rows]
                bounds = sentences.fetch_bounds(document.id, model.pk, chunks, model.dimensions)
                described.vectors.append(shapes.VectorsShape(model=index, chunks=chunks, sentences=bounds))
                members.append([np.frombuffer(row[1], ">f4", offset=_HEADER).astype("<f4") for row in rows])
        archive.add(f"{folder}/document.json", shapes.as_json(described))
        for listed, vectors in zip(described.vectors, members, strict=True):
            model = models[listed.model]
            archive.add(f"{folder}/vectors-{listed.model}.f32", b"".join(map(np.ndarray.tobytes, vectors)))
            if listed.sentences:
                size = sentences.count_bytes(listed.sentences, model.dimensions)
                pieces = sentences.read_pieces(document.id, model.pk, listed.chunks)
                archive.add_pieces(f"{folder}/sentences-{listed.model}.f16", size, pieces)
            done.vectors += len(listed.chunks)
        archive.add_pieces(f"{folder}/original", document.size_bytes, _read_checked(document, original))
        done.chunks += len(described.chunks)
    return True


def _describe(document: Document) -> shapes.DocumentShape:
    pages = Page.objects.filter(document=document).order_by("number")
    chunks = Chunk.objects.of_document(document.id)
    return shapes.describe_document(
        document,
        pages=[shapes.describe_page(row) for row in pages.values(*shapes.PageShape.model_fields)],
        chunks=[
            shapes.ChunkShape.model_construct(**row) for row in chunks.values(*shapes.ChunkShape.model_fields)
        ],
    )


def _read_checked(document: Document, original: IO[bytes]) -> Iterator[bytes]:
    """Yield the file's blocks. Raises StorageUnavailable if it is not what was uploaded."""
    left, digest = document.size_bytes, hashlib.sha256()
    while block := original.read(PIECE):
        left -= len(block)
        digest.update(block)
        if left < 0:
            break
        yield block
    if left or digest.hexdigest() != document.checksum:
        raise StorageUnavailable(
            f"The stored file of document {document.id} is damaged; see manage.py sanity."
        )
