"""Pages of which it is known where each phrase stands: columns, tables, small print, turned and cropped."""

import io
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from pypdf import PdfWriter
from pypdf.generic import RectangleObject
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.cidfonts import UnicodeCIDFont
from reportlab.pdfbase.ttfonts import TTFont
from reportlab.pdfgen.canvas import Canvas

Box = tuple[float, float, float, float]
WIDTH, HEIGHT = 595.0, 842.0
DEJAVU = Path(
    "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf"
)  # the one font with right-to-left letters here


@dataclass(frozen=True)
class Phrase:
    """Words as they read, and the boxes of their lines in shares of the page as it is shown."""

    words: str
    boxes: tuple[Box, ...]


class PrintedPage:
    """Prints lines and remembers where they stand. rotate: clockwise. crop: left, bottom, right, top."""

    def __init__(self, *, rotate: int = 0, crop: Box | None = None) -> None:
        self._file = io.BytesIO()
        self._canvas = Canvas(self._file, pagesize=(WIDTH, HEIGHT), invariant=1)
        self._rotate, self._crop = rotate, crop or (0.0, 0.0, WIDTH, HEIGHT)
        self.phrases: list[Phrase] = []

    def put(
        self, *lines: tuple[float, float, str], font: str = "Helvetica", size: float = 10, reads: str = ""
    ) -> None:
        """Print a phrase, each line at (x, y) of its baseline. reads: if it differs from the lines."""
        for x, y, text in lines:
            self.draw(x, y, text, font, size)
        places = [(x, y, x + pdfmetrics.stringWidth(text, font, size)) for x, y, text in lines]
        self.add_phrase(reads or " ".join(text for _, _, text in lines), places, font, size)

    def draw(self, x: float, y: float, text: str, font: str, size: float) -> None:
        self._canvas.setFont(font, size)
        self._canvas.drawString(x, y, text)

    def add_phrase(
        self, words: str, places: Iterable[tuple[float, float, float]], font: str, size: float
    ) -> None:
        """places: of each line left, baseline and right."""
        ascent, descent = pdfmetrics.getAscentDescent(font, size)
        boxes = [self._shown((left, y + descent, right, y + ascent)) for left, y, right in places]
        self.phrases.append(Phrase(words, tuple(boxes)))

    def pdf(self) -> bytes:
        self._canvas.showPage()
        self._canvas.save()
        turned, file = PdfWriter(clone_from=self._file), io.BytesIO()
        turned.pages[0].rotate(self._rotate)
        turned.pages[0].cropbox = RectangleObject(self._crop)
        turned.write(file)
        return file.getvalue()

    def _shown(self, box: Box) -> Box:
        """Turn points from the page's lower left corner into shares of what is shown, from the top left."""
        left, bottom, right, top = self._crop
        x0, x1 = (box[0] - left) / (right - left), (box[2] - left) / (right - left)
        y0, y1 = 1 - (box[3] - bottom) / (top - bottom), 1 - (box[1] - bottom) / (top - bottom)
        turned: dict[int, Callable[[], Box]] = {
            0: lambda: (x0, y0, x1, y1),
            90: lambda: (1 - y1, x0, 1 - y0, x1),
            180: lambda: (1 - x1, 1 - y1, 1 - x0, 1 - y0),
            270: lambda: (y0, 1 - x1, y1, 1 - x0),
        }
        return turned[self._rotate]()


SENTENCES = (
    "Consistent hashing places nodes and keys on a ring.",
    "Only the keys of a node move when it leaves.",
    "A lighthouse keeper counted 253 steps every evening.",
    "The harbour froze twice in the winter of 1893.",
    "Nobody had seen the ferry since the second storm.",
    "Its bell was found in the sand ten years later.",
)


def plain(page: PrintedPage) -> None:
    for place, sentence in enumerate(SENTENCES):
        page.put((60, 760 - 30 * place, sentence))


def columns(page: PrintedPage) -> None:
    for place, sentence in enumerate(SENTENCES):
        half = sentence.index(" ", len(sentence) // 2)
        x, y = 50 + 270 * (place % 2), 760 - 30 * (place // 2)
        page.put((x, y, sentence[:half]), (x, y - 12, sentence[half + 1 :]))


def hyphenated(page: PrintedPage) -> None:
    lines = (
        (60, 700, "The keeper was known for his inter-"),
        (60, 688, "national correspondence about lamps."),
    )
    page.put(*lines, reads="The keeper was known for his international correspondence about lamps.")
    page.put((60, 640, "Every evening the lamp was lit at sunset."))


def ligatures(page: PrintedPage) -> None:
    font = _dejavu()
    page.put((60, 700, "The \ufb01rst of\ufb01cer \ufb02ed from the \ufb02ood."), font=font,
             reads="The first officer fled from the flood.")  # fmt: skip
    page.put((60, 660, "Nobody else was ever found on board."), font=font)


def table(page: PrintedPage) -> None:
    rows = (("Year", "Visitors", "Income"), ("1893", "1,204", "55.10"), ("1894", "1,377", "61.25"))
    for line, row in enumerate(rows):
        for place, cell in enumerate(row):
            page.put((60 + 140 * place, 700 - 18 * line, cell))


def footnotes(page: PrintedPage) -> None:
    page.put((60, 700, "The tower was built of granite from the island."))
    page.put((60, 60, "Granite was cheaper than brick until 1870."), size=6)


def chinese(page: PrintedPage) -> None:
    """With a font that is not in the file, as many Chinese documents have it."""
    pdfmetrics.registerFont(UnicodeCIDFont("STSong-Light"))
    page.put((60, 700, "灯塔每天晚上在日落时点亮。"), font="STSong-Light", size=14)
    page.put((60, 660, "港口在冬天结了两次冰。"), font="STSong-Light", size=14)


def hebrew(page: PrintedPage) -> None:
    words = "המגדלור נבנה לפני מאה שנים"
    page.put((200, 700, words[::-1]), font=_dejavu(), size=14, reads=words)


ARABIC = "صدر الكتاب (الطبعة الثانية) في القاهرة عام 1958، وطبع PDF منه 2,500 نسخة."


def arabic(page: PrintedPage) -> None:
    """As browsers print it: a word at a time from the right, its letters from the left, brackets as drawn."""
    font, right = _dejavu(), 540.0
    for word in _visual_words(ARABIC):
        width = pdfmetrics.stringWidth(word, font, 10)
        page.draw(right - width, 700, word, font, 10)
        right -= width + 4
    page.add_phrase(ARABIC, [(right + 4, 700, 540.0)], font, 10)


def _visual_words(text: str) -> list[str]:
    """Return the words from right to left, each as it is drawn."""
    latin = re.compile(r"[A-Za-z]+(?: [A-Za-z]+)*|[\d,]*\d")
    words = []
    for word in re.findall(r"[A-Za-z]+(?: [A-Za-z]+)*|\S+", text):
        turned = word[::-1].translate(str.maketrans("()", ")("))
        words.append(latin.sub(lambda found: found.group()[::-1], turned))
    return words


def _dejavu() -> str:
    if "DejaVu" not in pdfmetrics.getRegisteredFontNames():
        pdfmetrics.registerFont(TTFont("DejaVu", DEJAVU))
    return "DejaVu"
