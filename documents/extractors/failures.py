"""Limits of a document's size, and the errors of a file that has no usable text."""


class Unreadable(Exception):
    """The file cannot be read. The message is for the user and names no path and no library."""


class PasswordNeeded(Unreadable):
    """The file is encrypted, and the empty password does not open it."""

    def __init__(self) -> None:
        super().__init__("The document is password protected; upload a copy without a password.")


NOT_A_DOCUMENT = "The file is neither a PDF nor a Markdown text."
BROKEN_PDF = "The PDF is damaged and cannot be read."
NO_TEXT = "The document has no extractable text; if it is a scan, run text recognition (OCR) on it first."
NO_WORDS = "The document has no extractable text."
TOO_MANY_PAGES = "The document has more than 10,000 pages."
TOO_MUCH_TEXT = "The document has more than 20 MB of text."
OUT_OF_LIMITS = "The document could not be read within the limits of time and memory."

ATTACHMENTS_LEFT_OUT = (
    "Files that are attached to the mail were left out: there are too many, or they are too large or nested "
    "too deeply."
)

MAX_PAGES = 10_000
MAX_TEXT_BYTES = 20 * 1024 * 1024
MAX_OUTLINE_ENTRIES = 5_000
MAX_PARTS = 40_000  # of sheets, each with its heading
MAX_TITLE = 300  # characters of a heading
