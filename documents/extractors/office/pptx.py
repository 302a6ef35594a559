"""The reader of PowerPoint presentations: bytes -> Extraction, a page a slide. Runs in the sandbox only."""

from collections.abc import Iterable, Iterator
from io import BytesIO
from string import ascii_lowercase
from typing import Any

from pptx.enum.shapes import PP_PLACEHOLDER
from pptx.oxml.ns import qn
from pptx.package import Package

from documents.extractors.composer import Composer
from documents.extractors.failures import Unreadable
from documents.extractors.packages import open_package, parse_xml, read_properties, refuse_strict
from documents.types import Extraction

BROKEN_PPTX = "The PPTX is damaged and cannot be read."
NOTES = "Speaker notes"
_MAX_DEPTH = 50
_TOUCHING = 91_440  # a tenth of an inch
_C = "{http://schemas.openxmlformats.org/drawingml/2006/chart}"
_MC = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
_BODIES = frozenset({PP_PLACEHOLDER.BODY, PP_PLACEHOLDER.OBJECT, PP_PLACEHOLDER.VERTICAL_BODY})
_FURNITURE = frozenset({PP_PLACEHOLDER.DATE, PP_PLACEHOLDER.FOOTER, PP_PLACEHOLDER.SLIDE_NUMBER})


def read_pptx(data: bytes) -> Extraction:
    """Read slides from top to bottom, with tables, the figures of charts, and notes. Raises Unreadable."""
    try:
        with open_package(data, BROKEN_PPTX) as archive:
            refuse_strict(archive, "ppt/presentation.xml")
        # Not by pptx.Presentation, which refuses slide shows and templates.
        presentation = Package.open(BytesIO(data)).main_document_part.presentation
        composer = Composer()
        for slide in presentation.slides:
            composer.begin_page()
            _compose_slide(slide, composer)
        title, metadata = read_properties(presentation.core_properties)
    except (Unreadable, MemoryError, RecursionError):
        raise
    except Exception as exc:  # KeyError, ValueError, XMLSyntaxError… for what is not as it should be
        raise Unreadable(BROKEN_PPTX) from exc
    title = "" if title == "PowerPoint Presentation" else title  # PowerPoint's own word for none
    return composer.finish("PPTX", title=title, metadata=metadata)


def _compose_slide(slide: Any, composer: Composer) -> None:
    _choose_contents(slide.shapes.element)
    heading = slide.shapes.title
    if heading is not None and heading.has_text_frame:
        composer.add_heading(1, heading.text_frame.text)
    for shape in _in_reading_order(slide.shapes, 0):
        if heading is None or shape.shape_id != heading.shape_id:
            _compose_shape(shape, slide, composer)
            composer.end_block()
    if slide.has_notes_slide and slide.notes_slide.notes_text_frame is not None:
        composer.begin_part(2, NOTES)
        composer.add_paragraph(_plain(slide.notes_slide.notes_text_frame.text))


def _choose_contents(tree: Any) -> None:
    """Put what newer programs show in the place of each choice, which python-pptx passes over."""
    for either in list(tree.iter(_MC + "AlternateContent")):
        for choice in either.findall(_MC + "Choice")[:1]:
            for element in list(choice):
                either.addprevious(element)
        either.getparent().remove(either)


def _in_reading_order(shapes: Iterable[Any], depth: int) -> Iterator[Any]:
    """Yield shapes from top to bottom and from left to right, those of a group in its place.

    What a layout has below the heading of a column comes right after it.
    """
    rest = sorted(shapes, key=lambda shape: (shape.top or 0, shape.left or 0))
    while rest:
        shape = rest.pop(0)
        if hasattr(shape, "shapes") and depth < _MAX_DEPTH:
            yield from _in_reading_order(shape.shapes, depth + 1)
        else:
            yield shape
        for below in [one for one in rest if _stands_on(shape, one)][:1]:
            rest.remove(below)
            rest.insert(0, below)


def _stands_on(above: Any, shape: Any) -> bool:
    if not (above.is_placeholder and shape.is_placeholder):
        return False
    gap = (shape.top or 0) - (above.top or 0) - (above.height or 0)
    return (above.left, above.width) == (shape.left, shape.width) and abs(gap) < _TOUCHING


def _compose_shape(shape: Any, slide: Any, composer: Composer) -> None:
    kind = shape.placeholder_format.type if shape.is_placeholder else None
    if kind in _FURNITURE:
        return
    if getattr(shape, "has_table", False):
        above: dict[int, str] = {}
        for row in shape.table.rows:  # a cell merged downwards is repeated, so that a row reads by itself
            for column, cell in enumerate(row.cells):
                above[column] = above.get(column, "") if cell._tc.vMerge else _plain(cell.text)
            composer.add_row([above[column] for column in range(len(row.cells))])
    elif getattr(shape, "has_chart", False):
        _compose_chart(shape.chart, composer)
    elif shape.has_text_frame:
        numbers: dict[int, int] = {}  # by level: of the last item
        for paragraph in shape.text_frame.paragraphs:
            mark = _read_mark(paragraph, numbers) if paragraph.text.strip() else ""
            if kind in _BODIES or paragraph.level or mark not in ("", "- "):
                composer.add_line("list", f"{mark}{paragraph.text}", indent=paragraph.level)
            else:
                composer.add_paragraph(_plain(paragraph.text))
    else:
        _compose_diagram(shape, slide, composer)


def _read_mark(paragraph: Any, numbers: dict[int, int]) -> str:
    """Return what the slide shows before an item, "2. " or "b) ", and count it; "- " if it has no number."""
    level = paragraph.level
    numbering = paragraph._p.find(f"{qn('a:pPr')}/{qn('a:buAutoNum')}")
    for ended in [one for one in numbers if one > level or (one == level and numbering is None)]:
        del numbers[ended]
    if numbering is None:
        return "- "
    start = numbering.get("startAt", "1")
    numbers[level] = number = numbers.get(level, int(start) - 1 if start.isdecimal() else 0) + 1
    form = numbering.get("type", "")
    if form.startswith("alpha") and 0 < number <= len(ascii_lowercase):
        letter = ascii_lowercase[number - 1]
        return f"{letter.upper() if form.startswith('alphaUc') else letter}) "
    return f"{number}. "


def _compose_chart(chart: Any, composer: Composer) -> None:
    """Add the figures that a chart shows, as the file keeps them, a row a category.

    From the XML: python-pptx refuses kinds of charts that it does not know, such as those in 3D.
    """
    space = chart._chartSpace
    for title in space.iter(_C + "title"):
        composer.add_paragraph("".join(run.text or "" for run in title.iter(qn("a:t"))))
    series = [
        (_read_points(one, "tx"), _read_points(one, "cat", "xVal"), _read_points(one, "val", "yVal"))
        for one in space.iter(_C + "ser")
    ]
    composer.end_block()
    composer.add_row(["", *(" ".join(name.values()) for name, _, _ in series)])
    categories = next((names for _, names, _ in series if names), {})
    for place in sorted({place for _, _, values in series for place in values}):
        figures = (_plain_figure(values.get(place, "")) for _, _, values in series)
        composer.add_row([categories.get(place, str(place + 1)), *figures])


def _read_points(series: Any, *names: str) -> dict[int, str]:
    """Return the points of a part of a series by their place; those of several levels together."""
    points: dict[int, list[str]] = {}
    for name in names:
        for part in series.iterchildren(_C + name):
            for point in part.iter(_C + "pt"):
                value = point.findtext(_C + "v", "")
                points.setdefault(int(point.get("idx", "0")), []).append(value)
            if not points:
                points = {0: [value.text or "" for value in part.iter(_C + "v")]}
    return {place: " ".join(values) for place, values in points.items()}


def _plain_figure(value: str) -> str:
    """Return a figure without the last of its binary digits: 0.30000000000000004 is .3."""
    try:
        return f"{float(value):.10g}" if value else ""
    except ValueError:
        return value


def _compose_diagram(shape: Any, slide: Any, composer: Composer) -> None:
    """Add the texts of a SmartArt graphic, which are in a part of their own."""
    for ids in shape._element.iter("{http://schemas.openxmlformats.org/drawingml/2006/diagram}relIds"):
        part = slide.part.related_part(ids.get(qn("r:dm")))
        for paragraph in parse_xml(part.blob).iter(qn("a:p")):
            text = "".join(run.text or "" for run in paragraph.iter(qn("a:t")))
            composer.add_line("list", f"- {text}" if text.strip() else "")


def _plain(text: str) -> str:
    return text.replace("\v", "\n")
