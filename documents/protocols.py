"""The protocols of ingestion's parts, which settings.KNOWLEX can exchange."""

from collections.abc import Callable, Collection, Iterator, Sequence
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import IO, Any, Protocol

from documents.types import (
    UPLOAD_SOURCES,
    ChunkDraft,
    ChunkingSettings,
    Extraction,
    FilesState,
    KeptFile,
    PageLayout,
    PagePicture,
    ReadingProgress,
    Source,
)

OnProgress = Callable[[ReadingProgress], None]


class FileStore(Protocol):
    """Role FILE_STORE: the uploaded files by name; what stands under a name never changes.

    Every method raises StorageUnavailable where a write finds no room or no right, and FilesUnavailable where
    the store cannot be reached or refuses this server.
    """

    @property
    def place(self) -> str:
        """Return what has to be the same on every host, in a person's words."""
        ...

    @property
    def is_service(self) -> bool:
        """Return whether it is one for all hosts by itself, and not a folder that each of them has."""
        ...

    @property
    def unowned_after_s(self) -> float:
        """Return the age in seconds from which on a file that no row names belongs to no upload."""
        ...

    def keep(self, name: str, staged: Path) -> str:
        """Store a staged file, whole or not at all, safe on disk; return its name, which may be another.

        The staged file may be moved.
        """
        ...

    def put(self, name: str, source: IO[bytes]) -> None:
        """Store a file of a backup under just this name; one that is there and as large is the same."""
        ...

    def open(self, name: str) -> IO[Any]:
        """Open a file to be read from its beginning, a block at a time. Raises FileNotFoundError."""
        ...

    def path(self, name: str) -> Path | None:
        """Return where it lies on this machine, there or not; None from a store that is elsewhere."""
        ...

    def sizes(self, names: Collection[str]) -> dict[str, int]:
        """Return the bytes of those files that are there. Names that lie together are asked for together."""
        ...

    def list_files(self) -> Iterator[KeptFile]:
        """Yield all files, in no order."""
        ...

    def remove(self, name: str) -> None:
        """Delete a file; nothing happens if it is not there."""
        ...

    def remove_unowned(self, name: str, is_owned: Callable[[], bool]) -> bool:
        """Delete a file that no upload has in hand and that is not owned, asked last; return if it went."""
        ...

    def check(self) -> FilesState:
        """Tell if an upload would find its place, by writing something small."""
        ...


class TextExtractor(Protocol):
    """Role EXTRACTOR: a file on disk -> cleaned text with pages and headings."""

    def extract(
        self,
        path: Path,
        *,
        filename: str,
        sources: AbstractSet[Source] = UPLOAD_SOURCES,
        on_progress: OnProgress | None = None,
        patient: bool = False,
    ) -> Extraction:
        """Read the file. The type is decided by content; `filename` only tells kinds of text apart.

        sources: the types that are accepted; another one is unreadable. on_progress: called now and then, in
        this thread; what it raises ends the reading. patient: nobody waits, so pictures of pages may be
        recognised (OCR) for minutes. Raises UnreadableDocument with a message for the user;
        DependencyUnavailable when no extractor process is free in time. Never runs a parser in the
        calling process.
        """
        ...


class PageViewer(Protocol):
    """Role PAGE_VIEWER: a page of a PDF as a person sees it. Never runs a parser in the calling process.

    Both raise UnreadableDocument where the page cannot be shown; DependencyUnavailable when no process is
    free in time.
    """

    def draw(self, path: Path, number: int, *, width: int) -> PagePicture:
        """Draw a page in colour, `width` pixels wide; less where it would be very high. number: 1-based."""
        ...

    def read_layout(self, path: Path, number: int) -> PageLayout:
        """Return where each letter of a page stands."""
        ...


class TokenCounter(Protocol):
    """Role TOKENIZER: the embedding model's own tokens, offline."""

    def starts(self, text: str) -> Sequence[int]:
        """Return where each token of `text` begins, in order, without special tokens."""
        ...


class Chunker(Protocol):
    """Roles CHUNKER_FIXED, CHUNKER_SENTENCE, CHUNKER_SEMANTIC: drafts, numbered from 0 without gaps."""

    def split(self, extraction: Extraction, settings: ChunkingSettings) -> list[ChunkDraft]:
        """Split a text; [] only where it is blank. Raises EmbedderError (semantic)."""
        ...


class ActiveEmbeddingModel(Protocol):
    """Role EMBEDDING_MODEL: the model that all collections are embedded with; filled by a higher app."""

    def name(self) -> str:
        """Return the name, at most a second old."""
        ...


class SentenceEmbedder(Protocol):
    """Role SENTENCE_EMBEDDER: what the semantic chunker compares sentences with; filled by a higher app."""

    def embed(self, texts: Sequence[str]) -> Sequence[Any]:
        """Return one vector (array of floats, of length 1) for each text. Raises EmbedderError."""
        ...
