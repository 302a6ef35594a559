"""The JSON members of an export, and checks that they fit together."""

import json
import re
from typing import Annotated, Any, Literal, Self
from uuid import UUID

import numpy as np
from numpy.typing import NDArray
from pydantic import AfterValidator, AwareDatetime, BaseModel, ConfigDict, Field, ValidationError

from documents.library.collection_settings import CollectionFields, check_settings
from documents.models import Document
from documents.types import MAX_PAGE_WORDS, PAGED_SOURCES, WORD_SCALE, ChunkType, ReadBy, Source
from embeddings.sanity.contents import do_chunks_match_pages, do_pages_follow
from knowlex.base.errors import InvalidInput

MAX_JSON = 128 * 2**20
_Count = Annotated[int, Field(ge=0, le=2**31 - 1)]
_Text = Annotated[str, Field(max_length=2**26)]
_Line = Annotated[str, Field(max_length=255)]
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


class _ArchiveShape(BaseModel):
    model_config = ConfigDict(extra="ignore")


# Of a model's vectors, where a release made them otherwise than those before.
EDITIONS = {"multilingual-e5-small": 2}


class ModelShape(_ArchiveShape):
    """dimensions: 0 where no vector has told yet. edition: of `EDITIONS`, else 1. calibration: weights of
    relevance, or None.
    """

    name: _Line
    edition: int = 1
    provider: _Line
    dimensions: Annotated[int, Field(ge=0, le=16000)]
    active: bool
    calibration: dict[str, float | str] | None = None


class CollectionShape(_ArchiveShape):
    name: _Line
    description: _Text = ""
    settings: dict[str, Any] = {}


class Manifest(_ArchiveShape):
    format: Literal["knowlex-collection"] = "knowlex-collection"
    version: Literal[1, 2] = 2
    exported_at: AwareDatetime
    collection: CollectionShape
    models: Annotated[list[ModelShape], Field(max_length=100)]


_Share = Annotated[int, Field(ge=0, le=WORD_SCALE)]
_PlacedWord = tuple[_Line, _Share, _Share, _Share, _Share]


class PageShape(_ArchiveShape):
    """words: with their boxes, of a page read by text recognition."""

    number: _Count
    start_char: _Count
    text: _Text
    read_by: ReadBy
    warnings: list[_Line] = []
    words: Annotated[list[_PlacedWord], Field(max_length=MAX_PAGE_WORDS)] | None = None
    head: _Text = ""
    foot: _Text = ""


class ChunkShape(_ArchiveShape):
    id: UUID
    chunk_index: _Count
    content: Annotated[str, Field(min_length=1, max_length=2**24)]
    start_char: _Count
    end_char: _Count
    token_count: _Count
    page_number: _Count | None
    last_page: _Count | None
    chapter: _Text = ""
    section: _Text = ""
    headers: list[_Text] = []
    chunk_type: ChunkType = "paragraph"
    table_head: list[_Text] = []


class VectorsShape(_ArchiveShape):
    """model: its place in the manifest's list. chunks: the indexes of those that have a vector, in order.

    sentences: for each of them where the sentences that have a vector start and end, one after the other; []
    if no chunk has any, as in version 1.
    """

    model: _Count
    chunks: list[_Count]
    sentences: list[list[_Count]] = []


def _check_permissions(given: dict[str, Any]) -> dict[str, Any]:
    """Return the permissions if they can be obeyed."""
    try:
        checked = check_settings({"default_permissions": given}, CollectionFields)
    except InvalidInput as exc:
        raise ValueError(exc.message.replace("settings.default_permissions", "permissions")) from None
    return dict(checked["default_permissions"])


class DocumentShape(_ArchiveShape):
    id: UUID
    source: Source
    source_url: _Text = ""
    original_filename: _Line
    title: Annotated[str, Field(max_length=512)] = ""
    language: Annotated[str, Field(max_length=8)] | None = None  # told from the text where it is not said
    checksum: Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
    size_bytes: Annotated[int, Field(ge=1)]
    metadata: dict[str, Any] = {}
    permissions: Annotated[dict[str, Any], AfterValidator(_check_permissions)] = {}
    warnings: list[_Text] = []
    created_at: AwareDatetime
    updated_at: AwareDatetime
    pages: list[PageShape]
    chunks: Annotated[list[ChunkShape], Field(min_length=1)]
    vectors: Annotated[list[VectorsShape], Field(max_length=100)] = []

    def check(self) -> Self:
        """Raises ValueError where pages, chunks and vectors contradict each other."""
        starts = [page.start_char for page in self.pages]
        texts = [page.text for page in self.pages]
        if not do_pages_follow(len(texts), [page.number for page in self.pages], starts, texts):
            raise ValueError("its pages do not follow each other")
        text = "\n".join(texts)
        for index, chunk in enumerate(self.chunks):
            if chunk.chunk_index != index or text[chunk.start_char : chunk.end_char] != chunk.content:
                raise ValueError(f"chunk {index} is not the text that its offsets name")
            span = (chunk.start_char, chunk.end_char, chunk.page_number, chunk.last_page)
            if not do_chunks_match_pages(self.source, starts, *span):
                why = (
                    "is on other pages than it says"
                    if self.source in PAGED_SOURCES
                    else "names pages of what has none"
                )
                raise ValueError(f"chunk {index} {why}")
        if len({chunk.id for chunk in self.chunks}) != len(self.chunks):
            raise ValueError("two of its chunks have the same id")
        for vectors in self.vectors:
            if vectors.chunks != sorted(set(vectors.chunks)) or max(vectors.chunks, default=0) >= len(
                self.chunks
            ):
                raise ValueError("its vectors are of chunks that it does not have")
            self._check_sentences(vectors)
        return self

    def _check_sentences(self, vectors: VectorsShape) -> None:
        if vectors.sentences and len(vectors.sentences) != len(vectors.chunks):
            raise ValueError("it does not name the sentences of each chunk")
        for chunk, bounds in zip(vectors.chunks, vectors.sentences, strict=False):
            spans = list(zip(bounds[::2], bounds[1::2], strict=False))
            sound = bounds == sorted(bounds) and all(start < end for start, end in spans)
            if len(bounds) % 2 or not sound or max(bounds, default=0) > len(self.chunks[chunk].content):
                raise ValueError(f"the sentences of chunk {chunk} are not in its text")


class EndShape(_ArchiveShape):
    documents: _Count


def as_json(shape: BaseModel) -> bytes:
    return shape.model_dump_json().encode()


def parse_line(content: bytes, shape: type[BaseModel], name: str) -> Any:
    """Raises InvalidInput naming the member and what is wrong with it."""
    try:
        values = json.loads(content, parse_constant=_refuse_constant)
        _check_storable(values)
        if shape is Manifest and not (isinstance(values, dict) and "format" in values):
            raise ValueError("it is of another format")
        return shape.model_validate(values)
    except ValidationError as exc:
        first = exc.errors(include_url=False, include_input=False)[0]
        raise unsound_archive(name, f"{'.'.join(map(str, first['loc']))}: {first['msg']}") from None
    except (ValueError, RecursionError) as exc:
        raise unsound_archive(
            name, "it cannot be read" if isinstance(exc, RecursionError) else str(exc)
        ) from None


def unsound_archive(name: str, why: str) -> InvalidInput:
    return InvalidInput(f"{name} in the file cannot be taken: {why[:300]}.")


def read_matrix(content: bytes, number_type: str, dimensions: int, name: str) -> NDArray[np.float32]:
    """Return a member's vectors, one a row. Raises InvalidInput for a value that no vector may have."""
    if not dimensions:
        raise unsound_archive(name, "its vectors have no numbers")
    vectors = np.frombuffer(content, number_type).reshape(-1, dimensions).astype(np.float32)
    if not np.isfinite(vectors).all() or not vectors.any(axis=1).all():
        raise unsound_archive(name, "it holds a vector that is zero or not finite")
    return vectors


def _refuse_constant(text: str) -> float:
    raise ValueError(f"it holds {text}, which is no number")


def _check_storable(value: Any) -> None:
    if isinstance(value, str):
        if _UNSTORABLE.search(value):
            raise ValueError("it holds a character that cannot be stored")
    elif isinstance(value, dict):
        for key, item in value.items():
            _check_storable(key)
            _check_storable(item)
    elif isinstance(value, list):
        for item in value:
            _check_storable(item)


def describe_page(row: dict[str, Any]) -> PageShape:
    words = row.pop("words") or []
    return PageShape.model_construct(**row, words=[tuple(word) for word in words] or None)


def describe_document(
    document: Document, *, pages: list[PageShape], chunks: list[ChunkShape]
) -> DocumentShape:
    """Return the row as the export has it; its vectors are added by the caller."""
    names = ("id", "source", "source_url", "original_filename", "title", "checksum", "size_bytes", "metadata")
    more = ("language", "permissions", "warnings", "created_at", "updated_at")
    values = {name: getattr(document, name) for name in (*names, *more)}
    return DocumentShape.model_construct(**values, pages=pages, chunks=chunks, vectors=[])
