"""The reader of rich text (RTF): bytes -> Extraction. Runs in the sandbox only."""

from striprtf.striprtf import rtf_to_text

from documents.extractors.composer import Composer
from documents.extractors.failures import MAX_TEXT_BYTES, TOO_MUCH_TEXT, Unreadable
from documents.types import Extraction

BROKEN_RTF = "The RTF is damaged and cannot be read."


def read_rtf(data: bytes) -> Extraction:
    """Read the paragraphs and the rows of tables; pictures are left out. Raises Unreadable."""
    if len(data) > 4 * MAX_TEXT_BYTES:
        raise Unreadable(TOO_MUCH_TEXT)
    try:
        text = rtf_to_text(data.decode("latin-1"), errors="replace")
    except (MemoryError, RecursionError):
        raise
    except Exception as exc:  # ValueError, TypeError, LookupError… for what is not as it should be
        raise Unreadable(BROKEN_RTF) from exc
    composer = Composer()
    # Letters beyond U+FFFF are written as two halves.
    for line in text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").split("\n"):
        cells = line.split("|")
        if line.rstrip().endswith("|") and len(cells) > 2:
            composer.add_row([cell.strip() for cell in cells[:-1]])
        else:
            composer.end_block()
            composer.add_paragraph(line)
    return composer.finish("RTF")
