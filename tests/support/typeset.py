"""PDF pages as a typesetter makes them: letters of any size and weight anywhere, and pictures of pages."""

import zlib
from collections.abc import Sequence
from dataclasses import dataclass

from tests.support.pdf import Objects, escaped

WIDTH, HEIGHT = 612, 792


@dataclass(frozen=True, slots=True)
class Words:
    """x, y: where the first letter stands, in points from the page's lower left corner.

    sign: a letter that is drawn last, in the same piece of text, 80 points before where that ends. turned: it
    runs up the page.
    """

    text: str
    y: float
    x: float = 60
    size: float = 11
    bold: bool = False
    sign: str = ""
    turned: bool = False


@dataclass(frozen=True, slots=True)
class Rule:
    """A line from one point to another, in points from the page's lower left corner."""

    x0: float
    y0: float
    x1: float
    y1: float


@dataclass(frozen=True, slots=True)
class Picture:
    """A grey image over the whole page. grey: width * height bytes, rows from the top."""

    width: int
    height: int
    grey: bytes


def typeset(*pages: Sequence[Words | Rule] | Picture, title: str = "") -> bytes:
    objects = Objects()
    catalog, tree, light, bold, info = (objects.reserve() for _ in range(5))
    numbers = [_page(objects, page, tree, (light, bold)) for page in pages]
    kids = " ".join(f"{number} 0 R" for number in numbers)
    objects.put(tree, f"<< /Type /Pages /Kids [{kids}] /Count {len(numbers)} >>")
    for number, name in ((light, "Helvetica"), (bold, "Helvetica-Bold")):
        objects.put(number, f"<< /Type /Font /Subtype /Type1 /BaseFont /{name} /Encoding /WinAnsiEncoding >>")
    objects.put(info, f"<< /Title ({escaped(title)}) >>" if title else "<< >>")
    objects.put(catalog, f"<< /Type /Catalog /Pages {tree} 0 R >>")
    return objects.file(catalog, info)


def column(*parts: Words | str, top: float = 740, size: float = 11, leading: float = 14) -> list[Words]:
    """Lines below each other: plain ones as text, others as `Words`, whose y is the space left above them."""
    placed, y = [], top
    for part in parts:
        if isinstance(part, str):
            placed.append(Words(part, y, size=size))
        else:
            y -= part.y
            placed.append(Words(part.text, y, part.x, part.size, part.bold))
            y -= part.y / 2
        y -= leading
    return placed


def _page(objects: Objects, page: Sequence[Words | Rule] | Picture, tree: int, fonts: tuple[int, int]) -> int:
    if isinstance(page, Picture):
        image = _stream(
            objects,
            page.grey,
            f"/Type /XObject /Subtype /Image /Width {page.width} /Height {page.height} "
            "/ColorSpace /DeviceGray /BitsPerComponent 8",
        )
        drawn, resources = f"{WIDTH} 0 0 {HEIGHT} 0 0 cm /I Do", f"/XObject << /I {image} 0 R >>"
    else:
        drawn = "\n".join(map(_draw, page))
        resources = f"/Font << /F0 {fonts[0]} 0 R /F1 {fonts[1]} 0 R >>"
    content = _stream(objects, drawn.encode("latin-1", "replace"))
    return objects.add(
        f"<< /Type /Page /Parent {tree} 0 R /MediaBox [0 0 {WIDTH} {HEIGHT}] "
        f"/Resources << {resources} >> /Contents {content} 0 R >>"
    )


def _draw(thing: Words | Rule) -> str:
    if isinstance(thing, Rule):
        return f"{thing.x0} {thing.y0} m {thing.x1} {thing.y1} l S"
    font = f"/F{int(thing.bold)} {thing.size} Tf"
    sign = f"{80_000 / thing.size:.0f} ({escaped(thing.sign)})" if thing.sign else ""
    if thing.turned:
        return f"BT {font} 0 1 -1 0 {thing.x} {thing.y} Tm ({escaped(thing.text)}) Tj ET"
    return f"BT {font} {thing.x} {thing.y} Td [({escaped(thing.text)}) {sign}] TJ ET"


def _stream(objects: Objects, data: bytes, extra: str = "") -> int:
    packed = zlib.compress(data).decode("latin-1")
    return objects.add(
        f"<< /Length {len(packed)} /Filter /FlateDecode {extra} >>\nstream\n{packed}\nendstream"
    )
