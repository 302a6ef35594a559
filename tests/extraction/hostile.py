"""PDF files that were made to harm, written byte by byte."""

import zlib

FONT = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"
CATALOG = b"<< /Type /Catalog /Pages 2 0 R >>"
HELLO = b"BT /F 9 Tf 9 9 Td (Hello there) Tj ET"


def file_of(*objects: bytes, trailer: bytes = b"") -> bytes:
    """A file of these objects, numbered from 1; the first is the catalog."""
    out, offsets = b"%PDF-1.7\n", []
    for number, body in enumerate(objects, 1):
        offsets.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    size = len(objects) + 1
    head = b"xref\n0 %d\n0000000000 65535 f \n%s" % (size, table)
    return out + head + b"trailer\n<< /Size %d /Root 1 0 R %s >>\nstartxref\n%d\n%%%%EOF" % (
        size, trailer, len(out),
    )  # fmt: skip


def stream(data: bytes, extra: bytes = b"") -> bytes:
    packed = zlib.compress(data, 9)
    return b"<< /Length %d /Filter /FlateDecode %s >> stream\n%s\nendstream" % (len(packed), extra, packed)


def page(content: int, font: int) -> bytes:
    return (
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents %d 0 R "
        b"/Resources << /Font << /F %d 0 R >> >> >>" % (content, font)
    )


def one_page(content: bytes, *, catalog: bytes = CATALOG) -> bytes:
    tree = b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>"
    return file_of(catalog, tree, page(4, 5), stream(content), FONT)


def one_page_named_often() -> bytes:
    """100,000 pages in 0.6 MB: /Kids names the same page again and again."""
    tree = b"<< /Type /Pages /Kids [" + b"3 0 R " * 100_000 + b"] /Count 100000 >>"
    return file_of(CATALOG, tree, page(4, 5), stream(HELLO), FONT)


def pages_claimed(claimed: int, pages: int = 1) -> bytes:
    """A page tree whose /Count is `claimed`, whatever is there."""
    numbers = range(5, 5 + pages)
    tree = b"<< /Type /Pages /Kids [%s] /Count %d >>" % (b"".join(b"%d 0 R " % n for n in numbers), claimed)
    return file_of(CATALOG, tree, stream(HELLO), FONT, *[page(3, 4)] * pages)


def kids_loop() -> bytes:
    return file_of(CATALOG, b"<< /Type /Pages /Kids [2 0 R 2 0 R] /Count 2 >>")


def long_string() -> bytes:
    """40 MB of text in 40 kB."""
    return one_page(b"BT /F 9 Tf 9 9 Td (" + b"A" * 40_000_000 + b") Tj ET")


def deep_nesting() -> bytes:
    """Text beside an array that is 200,000 deep."""
    deep = b"[" * 200_000 + b"]" * 200_000
    return one_page(HELLO, catalog=b"<< /Type /Catalog /Pages 2 0 R /Deep " + deep + b" >>")


def forms_in_forms() -> bytes:
    """Ten forms, each of which draws the next one ten times: 10^9 words."""
    names = b"/Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << /XObject << /X %d 0 R >> >>"
    forms = [stream(b"/X Do " * 10, names % number) for number in range(5, 14)]
    last = b"/Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << /Font << /F 15 0 R >> >>"
    first = (
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents 14 0 R "
        b"/Resources << /XObject << /X 4 0 R >> >> >>"
    )
    tree = b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>"
    return file_of(CATALOG, tree, first, *forms, stream(HELLO, last), stream(b"/X Do"), FONT)


def circular_outline() -> bytes:
    item = b"<< /Title (Chapter) /Parent 6 0 R /Next 7 0 R /First 7 0 R /Dest [3 0 R /Fit] >>"
    return file_of(
        b"<< /Type /Catalog /Pages 2 0 R /Outlines 6 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        page(4, 5), stream(HELLO), FONT,
        b"<< /Type /Outlines /First 7 0 R /Last 7 0 R /Count 1 >>", item,
    )  # fmt: skip


def nul_in_text(shown: bytes = b"Hallo, cbd!") -> bytes:
    """A font whose ToUnicode table says that "a" is U+0000 and "b" a lone surrogate. shown: in that font."""
    table = (
        b"/CIDInit /ProcSet findresource begin begincmap 1 begincodespacerange <00> <FF> endcodespacerange "
        b"2 beginbfchar <61> <0000> <62> <D800> endbfchar endcmap end"
    )
    font = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /ToUnicode 6 0 R >>"
    tree = b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>"
    content = stream(b"BT /F 9 Tf 9 9 Td (" + shown + b") Tj ET")
    return file_of(CATALOG, tree, page(4, 5), content, font, stream(table))


def picture_page(*, width: int, height: int) -> bytes:
    """A page of any size that holds an image of one pixel."""
    box = b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 %d %d] /Contents 4 0 R " % (width, height)
    resources = b"/Resources << /XObject << /I 5 0 R >> >> >>"
    image = b"/Type /XObject /Subtype /Image /Width 1 /Height 1 /ColorSpace /DeviceGray /BitsPerComponent 8"
    tree = b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>"
    drawn = stream(b"%d 0 0 %d 0 0 cm /I Do" % (width, height))
    return file_of(CATALOG, tree, box + resources, drawn, stream(b"\x00", image))


def garbled_page(plain: bytes) -> bytes:
    """Two pages: `plain`, and one whose letters are said to be private ones."""
    table = (
        b"/CIDInit /ProcSet findresource begin begincmap 1 begincodespacerange <00> <FF> endcodespacerange "
        b"1 beginbfrange <61> <7A> <E000> endbfrange endcmap end"
    )
    font = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /ToUnicode 8 0 R >>"
    tree = b"<< /Type /Pages /Kids [3 0 R 6 0 R] /Count 2 >>"
    text = stream(b"BT /F 9 Tf 9 9 Td (" + plain + b") Tj ET")
    lost = stream(b"BT /F 9 Tf 9 9 Td (nobody can tell what this page says in its private letters) Tj ET")
    return file_of(CATALOG, tree, page(4, 5), text, FONT, page(7, 9), lost, stream(table), font)


def slow_to_draw() -> bytes:
    """A page that is read at once, and takes more than half a minute to draw; and a plain one."""
    font = b"/Font << /F 7 0 R >>"
    blend = b"/ExtGState << /G << /BM /Luminosity /ca 0.5 >> >>"
    layers = b"BT /F 12 Tf 60 700 Td (A page of five thousand layers.) Tj ET /G gs\n"
    layers += b"0.5 0.2 0.1 rg 0 0 600 800 re f\n" * 5000
    place = b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents %d 0 R /Resources << %b >> >>"
    return file_of(
        CATALOG,
        b"<< /Type /Pages /Kids [3 0 R 4 0 R] /Count 2 >>",
        place % (5, font + blend),
        place % (6, font),
        stream(layers),
        stream(b"BT /F 12 Tf 60 700 Td (The second page is plain.) Tj ET"),
        FONT,
    )
