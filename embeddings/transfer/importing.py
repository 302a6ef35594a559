"""A file into a collection: a document at a time, each in one transaction, so that it can be run again."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import IO
from uuid import UUID

from django.conf import settings
from django.db import IntegrityError, transaction

from documents import storage
from documents.access import FULL
from documents.collections import create_collection, named_collection
from documents.models import Chunk, Collection, Document, IngestItem, Page
from documents.storage import StagedUpload, Staging
from embeddings import store
from embeddings.active import active_model
from embeddings.models import Embedding, EmbeddingModel
from embeddings.transfer import shapes
from embeddings.transfer.archive import ArchiveReader
from embeddings.types import HeldChunk, Vector
from knowlex.common.database import with_retries
from knowlex.common.errors import NotFound
from knowlex.common.ids import new_id

ROWS_PER_INSERT = 500


@dataclass(slots=True)
class Imported:
    """known: documents whose bytes the collection has already. to_embed: those that lack vectors.

    notes: what is not as it was where the file comes from, for a reader.
    """

    collection: Collection
    documents: int = 0
    known: int = 0
    chunks: int = 0
    vectors: int = 0
    to_embed: list[UUID] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def import_collection(file: IO[bytes], *, name: str | None = None) -> Imported:
    """Read an export into the collection `name` (else the one it is of), which is made if it is not there.

    What came before a failure stays. Ids are kept where they are free. Raises InvalidInput for what is no
    sound export, StorageUnavailable, DatabaseUnavailable, ModelMismatch.
    """
    archive = ArchiveReader(file)
    manifest: shapes.Manifest = _json(archive, "manifest.json", shapes.Manifest)
    model = active_model()
    result = Imported(*_collection(manifest.collection, name))
    place = _usable(manifest, model, result)
    number = 0
    while True:
        folder = f"documents/{number + 1:06d}"
        found, size = archive.next(f"{folder}/document.json", "end.json")
        content = archive.content(found, size, limit=shapes.MAX_JSON)
        if found == "end.json":
            break
        _one(
            archive,
            folder,
            shapes.parsed(content, shapes.DocumentShape, found),
            manifest,
            place,
            model,
            result,
        )
        number += 1
    if shapes.parsed(content, shapes.End, "end.json").documents != number:
        raise shapes.unsound("end.json", f"it counts other documents than the {number} that came")
    return result


def _json(archive: ArchiveReader, name: str, shape: type[shapes.Manifest]) -> shapes.Manifest:
    found, size = archive.next(name)
    manifest: shapes.Manifest = shapes.parsed(
        archive.content(found, size, limit=shapes.MAX_JSON), shape, name
    )
    return manifest


def _collection(described: shapes.CollectionShape, name: str | None) -> tuple[Collection]:
    """The settings of one that is there stay as they are."""
    wanted = name or described.name
    try:
        return (named_collection(wanted, access=FULL),)
    except NotFound:
        own = {key: value for key, value in described.settings.items() if key != "embedding_model"}
        made = create_collection(access=FULL, name=wanted, description=described.description, settings=own)
        return (made,)


def _usable(manifest: shapes.Manifest, model: EmbeddingModel, result: Imported) -> int | None:
    """The place in the manifest of the model whose vectors can be taken; None if there is none."""
    for place, one in enumerate(manifest.models):
        if one.name == model.name and model.dimensions in (0, one.dimensions):
            _take_calibration(one, model, result)
            return place
    if manifest.models:
        names = ", ".join(f"{one.name} ({one.dimensions})" for one in manifest.models)
        result.notes.append(
            f"The vectors in the file are of {names}, not of {model.name}: all is embedded anew."
        )
    return None


def _take_calibration(one: shapes.ModelShape, model: EmbeddingModel, result: Imported) -> None:
    """Relevance is judged by weights of the model; those of a server that has answers of its own stay."""
    if one.calibration == model.calibration:
        return
    if model.calibration is None and not Embedding.objects.filter(model_id=model.pk).exists():
        EmbeddingModel.objects.filter(pk=model.pk).update(calibration=one.calibration)
    else:
        result.notes.append("This server's relevance weights differ from those where the file comes from.")


def _one(
    archive: ArchiveReader,
    folder: str,
    described: shapes.DocumentShape,
    manifest: shapes.Manifest,
    place: int | None,
    model: EmbeddingModel,
    result: Imported,
) -> None:
    name = f"{folder}/document.json"
    try:
        described.check()
    except ValueError as exc:
        raise shapes.unsound(name, str(exc)) from None
    vectors: dict[int, Vector] = {}
    for listed in described.vectors:
        if listed.model >= len(manifest.models):
            raise shapes.unsound(name, "its vectors are of a model that the manifest does not name")
        found = _vectors(archive, f"{folder}/vectors-{listed.model}.f32", listed, manifest)
        if listed.model == place:
            vectors = found
    with Staging(max_bytes=settings.MAX_UPLOAD_BYTES) as staging:
        upload = _original(archive, f"{folder}/original", described, staging)
        _keep(described, upload, vectors, model, result)


def _vectors(
    archive: ArchiveReader, name: str, listed: shapes.VectorsShape, manifest: shapes.Manifest
) -> dict[int, Vector]:
    """By chunk index."""
    dimensions = manifest.models[listed.model].dimensions
    found, size = archive.next(name)
    content = archive.content(found, size, limit=len(listed.chunks) * dimensions * 4)
    return dict(zip(listed.chunks, shapes.matrix(content, len(listed.chunks), dimensions, name), strict=True))


def _original(
    archive: ArchiveReader, name: str, described: shapes.DocumentShape, staging: Staging
) -> StagedUpload:
    found, size = archive.next(name)
    if size != described.size_bytes:
        raise shapes.unsound(name, f"it has {size} bytes, not {described.size_bytes}")
    for piece in archive.pieces(found, size, limit=settings.MAX_UPLOAD_BYTES):
        staging.write(piece)
    upload = staging.finish()
    if upload.checksum != described.checksum:
        raise shapes.unsound(name, "its checksum is another one")
    return upload


def _keep(
    described: shapes.DocumentShape,
    upload: StagedUpload,
    vectors: dict[int, Vector],
    model: EmbeddingModel,
    result: Imported,
) -> None:
    rows = Document.objects.current().with_checksum(result.collection.id, described.checksum)
    if with_retries(rows.exists):
        result.known += 1
        return
    document = _row(described, result.collection, complete=len(vectors) == len(described.chunks))
    ids = [chunk.id for chunk in described.chunks]
    if not with_retries(lambda: _free(document.id, ids)):
        document.id, ids = new_id(), [new_id() for _ in ids]
    storage.keep(document, upload)
    try:
        with_retries(lambda: _write(document, described, ids, vectors, model))
    except IntegrityError:  # somebody uploaded the same bytes meanwhile
        storage.remove(str(document.file.name))
        result.known += 1
        return
    except Exception:
        storage.remove(str(document.file.name))
        raise
    result.documents += 1
    result.chunks += len(ids)
    result.vectors += len(vectors)
    if len(vectors) < len(ids):
        result.to_embed.append(document.id)


def _row(described: shapes.DocumentShape, collection: Collection, *, complete: bool) -> Document:
    values = described.model_dump(exclude={"pages", "chunks", "vectors", "created_at", "updated_at"})
    return Document(
        **values,
        collection=collection,
        page_count=len(described.pages),
        chunk_count=len(described.chunks),
        status=Document.Status.COMPLETED if complete else Document.Status.PENDING,
    )


def _free(document_id: UUID, chunk_ids: Sequence[UUID]) -> bool:
    """Neither the document's id nor a chunk's belongs to anything here, or ever did to a job's document."""
    taken = (
        Document.objects.filter(id=document_id).exists() or IngestItem.objects.filter(id=document_id).exists()
    )
    return not taken and not Chunk.objects.filter(id__in=chunk_ids).exists()


@transaction.atomic
def _write(
    document: Document,
    described: shapes.DocumentShape,
    ids: Sequence[UUID],
    vectors: dict[int, Vector],
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
        store.insert(model_id=model.pk, chunks=held, vectors=[vectors[place] for place in some])
    if vectors:
        EmbeddingModel.objects.filter(pk=model.pk, dimensions=0).update(
            dimensions=len(next(iter(vectors.values())))
        )
