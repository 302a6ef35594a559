"""A quote is marked where it stands: on printed pages whose boxes are known."""

from statistics import median

import pytest

from documents.extractors.job import Job
from documents.extractors.pdf.view import read_layout
from documents.extractors.readers import read_document
from documents.viewing.alignment import PageAlignment, normalized
from tests.viewing import printed
from tests.viewing.printed import DEJAVU, Box, Phrase, PrintedPage

needs_dejavu = pytest.mark.skipif(not DEJAVU.exists(), reason="needs Debian's package fonts-dejavu-core")
PRINTS = {
    "plain": (printed.plain, {}),
    "columns": (printed.columns, {}),
    "hyphenated": (printed.hyphenated, {}),
    "table": (printed.table, {}),
    "footnotes": (printed.footnotes, {}),
    "chinese": (printed.chinese, {}),
    "turned": (printed.plain, {"rotate": 90}),
    "upside down": (printed.plain, {"rotate": 180}),
    "turned back": (printed.columns, {"rotate": 270}),
    "cropped": (printed.plain, {"crop": (40.0, 500.0, 400.0, 800.0)}),
    "cropped and turned": (printed.plain, {"crop": (40.0, 500.0, 400.0, 800.0), "rotate": 90}),
}


def mark(pdf: bytes, words: str) -> list[Box]:
    """What is marked on the first page for these words, as they were read."""
    extraction = read_document(pdf, Job("auto"))
    (page,) = extraction.pages
    text = extraction.text[page.start_char : page.end_char]
    start = find_words(text, words)
    layout = read_layout(pdf, 1)
    boxes = PageAlignment(text, layout).rectangles(*start)
    return [normalized(box, layout) for box in boxes]


def find_words(text: str, words: str) -> tuple[int, int]:
    """Where the words stand, whatever the white space."""
    letters = [(place, c) for place, c in enumerate(text) if not c.isspace()]
    wanted = "".join(words.split())
    at = "".join(c for _, c in letters).index(wanted)
    return letters[at][0], letters[at + len(wanted) - 1][0] + 1


def overlap(one: Box, other: Box) -> float:
    """Intersection over union."""
    width = min(one[2], other[2]) - max(one[0], other[0])
    height = min(one[3], other[3]) - max(one[1], other[1])
    if width <= 0 or height <= 0:
        return 0.0
    area = width * height
    both = sum((box[2] - box[0]) * (box[3] - box[1]) for box in (one, other))
    return area / (both - area)


def overlaps(pdf: bytes, phrase: Phrase) -> list[float]:
    marked = mark(pdf, phrase.words)
    assert len(marked) == len(phrase.boxes), (phrase, marked)
    return [overlap(*pair) for pair in zip(marked, phrase.boxes, strict=True)]


@pytest.mark.parametrize("name", PRINTS)
def test_each_phrase_is_marked_where_it_was_printed(name: str):
    prints, options = PRINTS[name]
    page = PrintedPage(**options)
    prints(page)
    pdf = page.pdf()
    shares = [share for phrase in page.phrases for share in overlaps(pdf, phrase)]
    print(name, round(min(shares), 3), round(median(shares), 3))
    assert min(shares) > 0.5
    assert median(shares) >= 0.9


@needs_dejavu
@pytest.mark.parametrize("prints", [printed.ligatures, printed.hebrew, printed.arabic])
def test_ligatures_and_right_to_left_letters_are_marked_too(prints):
    page = PrintedPage()
    prints(page)
    pdf = page.pdf()
    shares = [share for phrase in page.phrases for share in overlaps(pdf, phrase)]
    print(prints.__name__, shares)
    assert median(shares) >= 0.9
