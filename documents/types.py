"""The data between reading a file and storing its chunks: plain, frozen dataclasses."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, get_args

# fmt: off
Source = Literal[
    "PDF", "MARKDOWN", "HTML", "DOCX", "TEXT", "XLSX", "CSV", "PPTX", "ODT", "RTF", "EPUB", "EML", "MSG"
]
# fmt: on
ReadBy = Literal["pdfium", "pypdf", "ocr", "text", "none"]
ChunkType = Literal["paragraph", "list", "table", "code"]
Strategy = Literal["fixed", "sentence", "semantic"]
FilesState = Literal["writable", "full", "read_only", "missing", "refused"]

KEPT = "documents"  # where files are, in the names that rows have for them
STRATEGIES: tuple[Strategy, ...] = ("fixed", "sentence", "semantic")
ALL_SOURCES: frozenset[Source] = frozenset(get_args(Source))
UPLOAD_SOURCES: frozenset[Source] = frozenset({"PDF", "MARKDOWN"})  # what the Knowlex API takes
PAGED_SOURCES: frozenset[Source] = frozenset(
    {"PDF", "PPTX", "XLSX"}
)  # whose pages, slides or sheets are cited
SHEET_SOURCES: frozenset[Source] = frozenset({"XLSX", "CSV"})  # whose sections are rows
MAX_ATTACHMENTS, MAX_ATTACHED_BYTES = 100, 64 * 1024 * 1024  # of a mail


@dataclass(frozen=True, slots=True)
class KeptFile:
    """A file in the store. name: as rows have it. age_s: since it came, by the store's own clock."""

    name: str
    size_bytes: int
    age_s: float


PAGE_WARNINGS = {
    "no_text": "The page holds no text.",
    "image_only": "The page is a picture, and its text could not be read.",
    "garbled": "The page's letters are encoded in a way that only partly gives text.",
    "glued": "Words of the page are glued together.",
    "fallback": "The page was read by the second reader, since the first found nothing useful.",
    "ocr": "The page is a picture; its text was recognised (OCR) and may hold mistakes.",
}
UNREAD_WARNINGS = frozenset({"image_only", "garbled"})  # there is text for the eye that was not read


# A recognised word and its box: left, top, right, bottom, from the top left of the page as it is shown.
PlacedWord = tuple[str, int, int, int, int]
WORD_SCALE = 10_000  # the page's width and height in a word's box
MAX_PAGE_WORDS = 5_000  # whose boxes are kept


@dataclass(frozen=True, slots=True)
class ExtractedPage:
    """One page of the document's text: `text[start_char:end_char]`.

    number: 1-based. read_by: which reader gave the text, "none" if no reader found any.
    warnings: words of PAGE_WARNINGS. words: of a page read by text recognition, at most MAX_PAGE_WORDS.
    head, foot: running lines and page numbers, which are no part of the text, before and behind it.
    """

    number: int
    start_char: int
    end_char: int
    read_by: ReadBy
    warnings: tuple[str, ...] = ()
    words: tuple[PlacedWord, ...] | None = None
    head: str = ""
    foot: str = ""


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading and where in the document's text it begins. level 1 is a chapter."""

    level: int
    title: str
    start_char: int


@dataclass(frozen=True, slots=True)
class TableHead:
    """What each row of a table is read with.

    title: with the unit, as it stands above the table. columns: the head of each cell of a row, the first one
    that of the rows' own heads; what stands above several columns is in each of them. "" where there is none.
    """

    title: str
    columns: tuple[str, ...]

    @classmethod
    def of(cls, texts: Sequence[str]) -> "TableHead | None":
        """Return the head of what `texts` returned; None of nothing."""
        return cls(texts[0], tuple(texts[1:])) if texts else None

    @property
    def texts(self) -> tuple[str, ...]:
        return self.title, *self.columns


@dataclass(frozen=True, slots=True)
class Block:
    """A list, a table or code: `text[start_char:end_char]`, whole lines without white space at the ends.

    head: of a table whose rows are lines with ` | ` between their cells; None where it is not known.
    """

    start_char: int
    end_char: int
    kind: ChunkType
    head: TableHead | None = None


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file that came with a mail. filename: cleaned."""

    filename: str
    data: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class Extraction:
    """The text and structure of one file, cleaned and fit for PostgreSQL.

    text: all pages, joined by one newline. pages cover it in order: slides and sheets, too; what is none of
    PAGED_SOURCES has one page.
    headings: in order of start_char; empty where the file has none.
    blocks: in order, not overlapping; what lies in none of them is plain paragraphs.
    metadata: only JSON types; keys such as "author", "created".
    warnings: sentences for a reader, of the whole document, for example which pages are unread.
    attachments: of a mail, at most MAX_ATTACHMENTS of MAX_ATTACHED_BYTES in all.
    """

    source: Source
    text: str
    pages: tuple[ExtractedPage, ...]
    headings: tuple[Heading, ...] = ()
    blocks: tuple[Block, ...] = ()
    title: str = ""
    metadata: dict[str, str] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    attachments: tuple[Attachment, ...] = ()


@dataclass(frozen=True, slots=True)
class PagePicture:
    """A page drawn as a picture. number: 1-based.

    pixels: rows from the top; one byte a pixel in a grey picture (0 is black), three in one in colour (RGB).
    """

    number: int
    width: int
    height: int
    pixels: bytes

    @property
    def in_colour(self) -> bool:
        return len(self.pixels) == 3 * self.width * self.height

    def to_pnm(self) -> bytes:
        return b"P5\n%d %d\n255\n%b" % (self.width, self.height, self.pixels)


Box = tuple[float, float, float, float]  # left, top, right, bottom


@dataclass(frozen=True, slots=True)
class PageLayout:
    """Where each letter of a page stands, as the page is shown: rotated and cropped.

    width, height: in points. letters: one character for each letter of the page's text, in reading order,
    line ends and generated spaces too. boxes: four 32-bit floats a letter, 0 to 1 from the top left; all 0
    for a letter without extent.
    """

    number: int
    width: float
    height: float
    letters: str
    boxes: bytes


@dataclass(frozen=True, slots=True)
class ChunkDraft:
    """A chunk before it is stored. `extraction.text[start_char:end_char] == content`, always.

    page_number, last_page: 1-based; None where the source is none of PAGED_SOURCES.
    chapter, section: "" where there is none. token_count: the embedder's own tokens.
    headers: titles of all headings in force, outermost first. chunk_type: of most of its text. table: the
    head of the one table that it has rows of, also where the head itself stands in a chunk before.
    """

    chunk_index: int
    content: str
    start_char: int
    end_char: int
    token_count: int
    page_number: int | None
    last_page: int | None
    chapter: str = ""
    section: str = ""
    headers: tuple[str, ...] = ()
    chunk_type: ChunkType = "paragraph"
    table: TableHead | None = None


@dataclass(frozen=True, slots=True)
class ChunkingSettings:
    """Settings of how a document is split. Sizes are in the embedder's own tokens.

    size: of a full chunk. overlap: repeated from the chunk before (fixed, sentence).
    similarity_threshold, min_size: of `semantic`, which breaks where two neighbouring sentences are less
    similar (cosine) than the threshold, once a chunk has min_size; its chunks end at `size` at the latest.
    """

    strategy: Strategy = "sentence"
    size: int = 300
    overlap: int = 50
    similarity_threshold: float = 0.85
    min_size: int = 100


@dataclass(frozen=True, slots=True)
class ReadingProgress:
    """pages_done of pages_total were read so far; a file without pages counts as one."""

    pages_done: int
    pages_total: int
