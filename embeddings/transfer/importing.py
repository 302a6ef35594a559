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
from embeddings.active_model import active_model, learn_dimensions
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
    member, size = archive.next("manifest.json")
    content = archive.content(member, size, limit=shapes.MAX_JSON)
    manifest = shapes.parse_line(content, shapes.Manifest, member)
    importer = _Importer(archive, manifest, Imported(_find_or_create(manifest.collection, name)))
    importer.run()
    return importer.result


def _find_or_create(described: shapes.CollectionShape, name: str | None) -> Collection:
    """Return the collection; the settings of one that is there stay as they are."""
    wanted = described.name if name is None else name
    try:
        return find_collection(wanted, access=FULL)
    except NotFound:
        own = {key: value for key, value in described.settings.items() if key != "embedding_model"}
        return create_collection(access=FULL, name=wanted, description=described.description, settings=own)


class _Importer:
    """Reads an archive's documents one by one; only vectors of the active model are taken."""

    def __init__(self, archive: ArchiveReader, manifest: shapes.Manifest, result: Imported) -> None:
        self._archive, self._manifest, self.result = archive, manifest, result
        self._model = active_model()
        self._model_index = self._find_model()  # in the manifest's list; None if it is not there
        # Further models that are kept up embed what is imported.
        self._has_other_models = with_retries(EmbeddingModel.objects.others_wanted().exists)

    def run(self) -> None:
        count = 0
        while True:
            folder = f"documents/{count + 1:06d}"
            member, size = self._archive.next(f"{folder}/document.json", "end.json")
            content = self._archive.content(member, size, limit=shapes.MAX_JSON)
            if member == "end.json":
                break
            self._import_document(folder, shapes.parse_line(content, shapes.DocumentShape, member))
            count += 1
        if shapes.parse_line(content, shapes.EndShape, "end.json").documents != count:
            raise shapes.unsound_archive("end.json", f"it counts other documents than the {count} that came")

    def _find_model(self) -> int | None:
        model = self._model
        for index, described in enumerate(self._manifest.models):
            is_same = (described.name, described.edition) == (model.name, shapes.EDITIONS.get(model.name, 1))
            if is_same and model.dimensions in (0, described.dimensions):
                self._take_calibration(described)
                return index
        if self._manifest.models:
            names = ", ".join(f"{other.name} ({other.dimensions})" for other in self._manifest.models)
            note = f"The vectors in the file are of {names}, not of {model.name}: all is embedded anew."
            self.result.notes.append(note)
        return None

    def _take_calibration(self, described: shapes.ModelShape) -> None:
        """Relevance is judged by weights of the model; those of a server that has answers of its own stay."""
        model = self._model
        if described.calibration == model.calibration:
            return
        if model.calibration is None and not Embedding.objects.filter(model_id=model.pk).exists():
            EmbeddingModel.objects.filter(pk=model.pk).update(calibration=described.calibration)
        else:
            note = "This server's relevance weights differ from those where the file comes from."
            self.result.notes.append(note)

    def _import_document(self, folder: str, described: DocumentShape) -> None:
        name = f"{folder}/document.json"
        try:
            described.check()
        except ValueError as exc:
            raise shapes.unsound_archive(name, str(exc)) from None
        usable: dict[int, EmbeddedText] = {}
        for listed in described.vectors:
            if listed.model >= len(self._manifest.models):
                why = "its vectors are of a model that the manifest does not name"
                raise shapes.unsound_archive(name, why)
            vectors = self._read_vectors(folder, listed)
            if listed.model == self._model_index:
                usable = vectors
        with Staging(max_bytes=settings.MAX_UPLOAD_BYTES) as staging:
            self._store(described, self._read_original(f"{folder}/original", described, staging), usable)

    def _read_vectors(self, folder: str, listed: shapes.VectorsShape) -> dict[int, EmbeddedText]:
        """Return the vectors by chunk index."""
        dimensions = self._manifest.models[listed.model].dimensions
        name = f"{folder}/vectors-{listed.model}.f32"
        content = self._read_member(name, len(listed.chunks) * dimensions * 4)
        vectors = list(shapes.read_matrix(content, "<f4", dimensions, name))
        if not listed.sentences:
            return {index: EmbeddedText(vector) for index, vector in zip(listed.chunks, vectors, strict=True)}
        name = f"{folder}/sentences-{listed.model}.f16"
        size = min(sentences.count_bytes(listed.sentences, dimensions), sentences.MAX_BYTES)
        texts = sentences.join_sentences(vectors, listed.sentences, self._read_member(name, size), name)
        return dict(zip(listed.chunks, texts, strict=True))

    def _read_member(self, name: str, expected_size: int) -> bytes:
        self._require_size(name, expected_size)
        return self._archive.content(name, expected_size, limit=expected_size)

    def _read_original(self, name: str, described: DocumentShape, staging: Staging) -> StagedUpload:
        self._require_size(name, described.size_bytes)
        for piece in self._archive.pieces(name, described.size_bytes, limit=settings.MAX_UPLOAD_BYTES):
            staging.write(piece)
        upload = staging.finish()
        if upload.checksum != described.checksum:
            raise shapes.unsound_archive(name, "its checksum is another one")
        return upload

    def _require_size(self, name: str, expected: int) -> None:
        _, size = self._archive.next(name)
        if size != expected:
            raise shapes.unsound_archive(name, f"it has {size} bytes, not {expected}")

    def _store(
        self, described: DocumentShape, upload: StagedUpload, vectors: dict[int, EmbeddedText]
    ) -> None:
        result, ids = self.result, [chunk.id for chunk in described.chunks]
        same = Document.objects.current().with_checksum(result.collection.id, described.checksum)
        if with_retries(same.exists):
            result.known += 1
            return
        document = _new_row(described, result.collection, complete=len(vectors) == len(ids))
        if not with_retries(lambda: _are_free(document.id, ids)):
            document.id, ids = new_id(), [new_id() for _ in ids]
        storage.keep_upload(document, upload)
        try:
            with_retries(lambda: _insert_rows(document, described, ids, vectors, self._model))
        except IntegrityError:  # somebody uploaded the same bytes meanwhile
            storage.discard_file(str(document.file.name))
            result.known += 1
            return
        except Exception:
            storage.discard_file(str(document.file.name))
            raise
        delivery.deliver_chunks(self._model.pk, [ids[index] for index in sorted(vectors)])
        result.documents += 1
        result.chunks += len(ids)
        result.vectors += len(vectors)
        if len(vectors) < len(ids) or self._has_other_models:
            result.to_embed.append(document.id)


def _new_row(described: DocumentShape, collection: Collection, *, complete: bool) -> Document:
    """Return the row, its name cleaned as that of an upload: somebody else may have written the file.

    complete: it has all its vectors; with a vector store outside it is under way until that has them, too.
    """
    values = described.model_dump(exclude={"pages", "chunks", "vectors", "created_at", "updated_at"})
    if described.language is None:
        values["language"] = detect_language("\n".join(page.text for page in described.pages))
    values["original_filename"] = clean_filename(described.original_filename)
    status = Document.Status.PENDING
    if complete:
        is_external = OutsideStore.objects.exists()
        status = Document.Status.PROCESSING if is_external else Document.Status.COMPLETED
    return Document(
        **values,
        collection=collection,
        page_count=len(described.pages),
        chunk_count=len(described.chunks),
        status=status,
    )


def _are_free(document_id: UUID, chunk_ids: Sequence[UUID]) -> bool:
    """Return whether no document, chunk or job's document has one of these ids, or had it."""
    return not (
        Document.objects.filter(id=document_id).exists()
        or IngestItem.objects.filter(id=document_id).exists()
        or Chunk.objects.filter(id__in=chunk_ids).exists()
    )


@transaction.atomic
def _insert_rows(
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
    indexes = sorted(vectors)
    for start in range(0, len(indexes), ROWS_PER_INSERT):
        portion = indexes[start : start + ROWS_PER_INSERT]
        texts = [ClaimedChunk(ids[index], described.chunks[index].content) for index in portion]
        rows.insert_vectors(model_id=model.pk, chunks=texts, embedded=[vectors[index] for index in portion])
    if vectors:
        learn_dimensions(model, len(vectors[indexes[0]].vector))
