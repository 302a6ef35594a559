"""Small valid PDF files, written by hand: text in Helvetica, an outline, a title. Nothing is compressed."""

import textwrap
from collections.abc import Sequence

LINE_CHARS = 95
LINES_PER_PAGE = 55


def make_pdf(*pages: str, title: str = "", outline: Sequence[tuple[str, int]] = ()) -> bytes:
    """A PDF with one page for each text; "" is a page without text.

    outline: (heading, 1-based page) for each bookmark. Characters beyond Latin-1 become "?".
    """
    objects = Objects()
    catalog, tree, font, info = (objects.reserve() for _ in range(4))
    numbers = [_add_page(objects, text, tree, font) for text in pages]
    kids = " ".join(f"{number} 0 R" for number in numbers)
    objects.put(tree, f"<< /Type /Pages /Kids [{kids}] /Count {len(numbers)} >>")
    objects.put(font, "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>")
    objects.put(info, f"<< /Title ({escaped(title)}) >>" if title else "<< >>")
    marks = f" /Outlines {_add_outline(objects, outline, numbers)} 0 R" if outline else ""
    objects.put(catalog, f"<< /Type /Catalog /Pages {tree} 0 R{marks} >>")
    return objects.file(catalog, info)


class Objects:
    """The numbered objects of one file; numbers are 1-based."""

    def __init__(self) -> None:
        self._bodies: list[bytes] = []

    def reserve(self) -> int:
        self._bodies.append(b"null")
        return len(self._bodies)

    def put(self, number: int, body: str) -> None:
        self._bodies[number - 1] = body.encode("latin-1", "replace")

    def add(self, body: str) -> int:
        number = self.reserve()
        self.put(number, body)
        return number

    def file(self, catalog: int, info: int) -> bytes:
        out, offsets = bytearray(b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n"), []
        for number, body in enumerate(self._bodies, start=1):
            offsets.append(len(out))
            out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
        table = len(out)
        out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(offsets) + 1)
        out += b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
        size = len(offsets) + 1
        out += f"trailer\n<< /Size {size} /Root {catalog} 0 R /Info {info} 0 R >>\n".encode()
        return bytes(out + f"startxref\n{table}\n%%EOF\n".encode())


def _add_page(objects: Objects, text: str, tree: int, font: int) -> int:
    lines = [line for part in text.split("\n") for line in textwrap.wrap(part, LINE_CHARS) or [""]]
    if len(lines) > LINES_PER_PAGE:
        raise ValueError(f"{len(lines)} lines do not fit on one page")
    shown = "".join(f"({escaped(line)}) Tj T*\n" for line in lines) if text else ""
    stream = f"BT /F1 10 Tf 13 TL 50 780 Td\n{shown}ET".encode("latin-1", "replace").decode("latin-1")
    content = objects.add(f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream")
    return objects.add(
        f"<< /Type /Page /Parent {tree} 0 R /MediaBox [0 0 612 842] "
        f"/Resources << /Font << /F1 {font} 0 R >> >> /Contents {content} 0 R >>"
    )


def _add_outline(objects: Objects, outline: Sequence[tuple[str, int]], pages: Sequence[int]) -> int:
    root = objects.reserve()
    items = [objects.reserve() for _ in outline]
    for place, (heading, page) in enumerate(outline):
        before = f" /Prev {items[place - 1]} 0 R" if place else ""
        after = f" /Next {items[place + 1]} 0 R" if place + 1 < len(items) else ""
        target = f"[{pages[page - 1]} 0 R /Fit]"
        objects.put(
            items[place],
            f"<< /Title ({escaped(heading)}) /Parent {root} 0 R{before}{after} /Dest {target} >>",
        )
    objects.put(
        root, f"<< /Type /Outlines /First {items[0]} 0 R /Last {items[-1]} 0 R /Count {len(items)} >>"
    )
    return root


def escaped(text: str) -> str:
    return text.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)")
