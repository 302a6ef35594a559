"""Importing a collection: a document at a time, each in one transaction, so that it can be run again."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import IO
from uuid import UUID

from django.conf import settings
from django.db import IntegrityError, transaction

from documents.access import FULL
from documents.library import storage
from documents.library.collections import create_collection, find_collection
from documents.library.storage import StagedUpload, Staging
from documents.models import Chunk, Collection, Document, IngestItem, Page
from documents.text.characters import clean_filename
from documents.text.languages import detect_language
from embeddings.active_model import active_model
from embeddings.external import delivery
from embeddings.models import Embedding, EmbeddingModel, OutsideStore
from embeddings.transfer import archive as sentences
from embeddings.transfer import shapes
from embeddings.transfer.archive import ArchiveReader
from embeddings.transfer.shapes import DocumentShape
from embeddings.types import ClaimedChunk, EmbeddedText
from embeddings.vectors import rows
from knowlex.base.errors import NotFound
from knowlex.base.ids import new_id
from knowlex.db.threads import with_retries

ROWS_PER_INSERT = 500


def new_row(described: DocumentShape, collection: Collection, *, complete: bool) -> Document:
    """Its name as that of an upload: a file that somebody else wrote may call it as it likes.

    complete: it has all its vectors; with a vector store outside it is under way until that has them, too.
    """
    values = described.model_dump(exclude={"pages", "chunks", "vectors", "created_at", "updated_at"})
    if described.language is None:
        values["language"] = detect_language("\n".join(page.text for page in described.pages))
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
    """Return whether neither the document's id nor a chunk's belongs to anything here, or did to a job's
    document.
    """
    taken = (
        Document.objects.filter(id=document_id).exists() or IngestItem.objects.filter(id=document_id).exists()
    )
    return not taken and not Chunk.objects.filter(id__in=chunk_ids).exists()


@transaction.atomic
def insert_rows(
    document: Document,
    described: DocumentShape,
    ids: Sequence[UUID],
    vectors: dict[int, EmbeddedText],
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
        held = [ClaimedChunk(ids[place], described.chunks[place].content) for place in some]
        rows.insert_vectors(model_id=model.pk, chunks=held, found=[vectors[place] for place in some])
    if vectors:
        EmbeddingModel.objects.filter(pk=model.pk, dimensions=0).update(
            dimensions=len(next(iter(vectors.values())).vector)
        )


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
    sound export, StorageUnavailable, DatabaseUnavailable.
    """
    archive = ArchiveReader(file)
    found, size = archive.next("manifest.json")
    content = archive.content(found, size, limit=shapes.MAX_JSON)
    manifest = shapes.parse_line(content, shapes.Manifest, found)
    model = active_model()
    result = Imported(_collection(manifest.collection, name))
    others = with_retries(EmbeddingModel.objects.others_wanted().exists)
    _Import(archive, manifest, model, _find_usable(manifest, model, result), result, others).run()
    return result


def _collection(described: shapes.CollectionShape, name: str | None) -> Collection:
    """The settings of one that is there stay as they are."""
    wanted = described.name if name is None else name
    try:
        return find_collection(wanted, access=FULL)
    except NotFound:
        own = {key: value for key, value in described.settings.items() if key != "embedding_model"}
        return create_collection(access=FULL, name=wanted, description=described.description, settings=own)


def _find_usable(manifest: shapes.Manifest, model: EmbeddingModel, result: Imported) -> int | None:
    """Return the place in the manifest of the model whose vectors can be taken; None if there is none."""
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


@dataclass(frozen=True, slots=True)
class _Import:
    """model: the active one. place: of its vectors among the manifest's models; None if there are none.

    others: whether further models are kept up, which embed what is imported.
    """

    archive: ArchiveReader
    manifest: shapes.Manifest
    model: EmbeddingModel
    place: int | None
    result: Imported
    others: bool = False

    def run(self) -> None:
        number = 0
        while True:
            folder = f"documents/{number + 1:06d}"
            found, size = self.archive.next(f"{folder}/document.json", "end.json")
            content = self.archive.content(found, size, limit=shapes.MAX_JSON)
            if found == "end.json":
                break
            self._one(folder, shapes.parse_line(content, shapes.DocumentShape, found))
            number += 1
        if shapes.parse_line(content, shapes.EndShape, "end.json").documents != number:
            raise shapes.unsound_archive("end.json", f"it counts other documents than the {number} that came")

    def _one(self, folder: str, described: shapes.DocumentShape) -> None:
        name = f"{folder}/document.json"
        try:
            described.check()
        except ValueError as exc:
            raise shapes.unsound_archive(name, str(exc)) from None
        vectors: dict[int, EmbeddedText] = {}
        for listed in described.vectors:
            if listed.model >= len(self.manifest.models):
                raise shapes.unsound_archive(
                    name, "its vectors are of a model that the manifest does not name"
                )
            found = self._vectors(folder, listed)
            if listed.model == self.place:
                vectors = found
        with Staging(max_bytes=settings.MAX_UPLOAD_BYTES) as staging:
            self._keep(described, self._original(f"{folder}/original", described, staging), vectors)

    def _vectors(self, folder: str, listed: shapes.VectorsShape) -> dict[int, EmbeddedText]:
        """Return the vectors by chunk index."""
        count, dimensions = len(listed.chunks), self.manifest.models[listed.model].dimensions
        name = f"{folder}/vectors-{listed.model}.f32"
        content = self._numbers(name, count * dimensions * 4)
        vectors = shapes.matrix(content, count, dimensions, name)
        if not listed.sentences:
            return {index: EmbeddedText(vector) for index, vector in zip(listed.chunks, vectors, strict=True)}
        name = f"{folder}/sentences-{listed.model}.f16"
        content = self._numbers(
            name, min(sentences.count_bytes(listed.sentences, dimensions), sentences.MAX_BYTES)
        )
        found = sentences.join_sentences(vectors, listed.sentences, content, name)
        return dict(zip(listed.chunks, found, strict=True))

    def _numbers(self, name: str, size: int) -> bytes:
        found, given = self.archive.next(name)
        if given != size:
            raise shapes.unsound_archive(name, f"it has {given} bytes, not {size}")
        return self.archive.content(found, given, limit=size)

    def _original(self, name: str, described: shapes.DocumentShape, staging: Staging) -> StagedUpload:
        found, size = self.archive.next(name)
        if size != described.size_bytes:
            raise shapes.unsound_archive(name, f"it has {size} bytes, not {described.size_bytes}")
        for piece in self.archive.pieces(found, size, limit=settings.MAX_UPLOAD_BYTES):
            staging.write(piece)
        upload = staging.finish()
        if upload.checksum != described.checksum:
            raise shapes.unsound_archive(name, "its checksum is another one")
        return upload

    def _keep(
        self, described: shapes.DocumentShape, upload: StagedUpload, vectors: dict[int, EmbeddedText]
    ) -> None:
        result, ids = self.result, [chunk.id for chunk in described.chunks]
        same = Document.objects.current().with_checksum(result.collection.id, described.checksum)
        if with_retries(same.exists):
            result.known += 1
            return
        document = new_row(described, result.collection, complete=len(vectors) == len(ids))
        if not with_retries(lambda: are_free(document.id, ids)):
            document.id, ids = new_id(), [new_id() for _ in ids]
        storage.keep_upload(document, upload)
        try:
            with_retries(lambda: insert_rows(document, described, ids, vectors, self.model))
        except IntegrityError:  # somebody uploaded the same bytes meanwhile
            storage.remove_file(str(document.file.name))
            result.known += 1
            return
        except Exception:
            storage.remove_file(str(document.file.name))
            raise
        delivery.deliver_chunks(self.model.pk, [ids[place] for place in sorted(vectors)])
        result.documents += 1
        result.chunks += len(ids)
        result.vectors += len(vectors)
        if len(vectors) < len(ids) or self.others:
            result.to_embed.append(document.id)
