"""The reader of Excel workbooks: bytes -> Extraction, a page a sheet. Runs in the sandbox only."""

import re
from collections.abc import Iterator
from datetime import date, datetime, time, timedelta
from io import BytesIO
from typing import Any

from openpyxl import load_workbook
from openpyxl.utils.cell import range_boundaries

from documents.extractors.composer import Composer
from documents.extractors.failures import Unreadable
from documents.extractors.office.sheets import Row, compose_rows
from documents.extractors.packages import open_package, read_properties, refuse_strict
from documents.text.characters import has_text
from documents.types import Extraction

BROKEN_XLSX = "The XLSX is damaged and cannot be read."
_QUOTED = re.compile(r'"[^"]*"|\\.')  # of a format, in which a percent sign is but a sign
_MERGED = re.compile(rb'mergeCell [^<>]*\bref="([A-Z]{1,3}[0-9]{1,7}:[A-Z]{1,3}[0-9]{1,7})"')
_ROWS_END = re.compile(rb"</(?:\w{1,16}:)?sheetData>")
_PART_BYTES, _END_BYTES = 1 << 20, 40
_PADDED = re.compile("00+")  # the format of numbers that are names: postcodes, articles
_HIDDEN = "A sheet that the workbook hides was left out."


def read_xlsx(data: bytes) -> Extraction:
    """Read the cells of the sheets that are shown: values as they were stored last, no formulas, no macros.

    Raises Unreadable.
    """
    try:
        with open_package(data, BROKEN_XLSX) as archive:
            refuse_strict(archive, "xl/workbook.xml")
        # Row by row; what a sheet claims of its size is not believed.
        workbook = load_workbook(BytesIO(data), read_only=True, data_only=True, keep_links=False)
        composer, hidden = Composer(), 0
        for sheet in workbook.worksheets:
            composer.begin_page()
            if sheet.sheet_state != "visible":
                hidden += 1
                continue
            composer.begin_part(1, sheet.title)
            compose_rows(_read_rows(sheet), composer, level=2, name=sheet.title)
        title, metadata = read_properties(workbook.properties)
    except (Unreadable, MemoryError, RecursionError):
        raise
    except Exception as exc:  # KeyError, ValueError, ParseError… for what is not as it should be
        raise Unreadable(BROKEN_XLSX) from exc
    return composer.finish("XLSX", title=title, metadata=metadata, warnings=(_HIDDEN,) * min(hidden, 1))


def _read_rows(sheet: Any) -> Iterator[Row]:
    """Yield the rows, each to be read by itself: a cell merged downwards stands in all that have others."""
    sheet.reset_dimensions()
    merged = _find_merged(sheet)
    above: dict[int, tuple[str, int]] = {}  # by column: the text that goes on there, and its last row
    for number, row in enumerate(sheet.iter_rows(), start=1):
        cells = [_describe(cell) for cell in row]
        if above and any(map(has_text, cells)):
            for column, (text, last) in above.items():
                if number <= last:
                    cells += [""] * (column + 1 - len(cells))
                    cells[column] = text
        for column, last in merged.get(number, ()):
            above[column] = (cells[column] if column < len(cells) else ""), last
        yield number, cells


def _find_merged(sheet: Any) -> dict[int, list[tuple[int, int]]]:
    """Return by row the cells merged downwards: column, from 0, and last row.

    They stand behind all rows in the file, where openpyxl does not look if it reads row by row.
    """
    merged: dict[int, list[tuple[int, int]]] = {}
    behind, ended = b"", False
    with sheet._get_source() as source:
        while part := source.read(_PART_BYTES):
            behind += part
            if not ended and (end := _ROWS_END.search(behind)):
                behind, ended = behind[end.end() :], True
            elif not ended:
                behind = behind[-_END_BYTES:]
    if not ended:
        return {}
    for area in _MERGED.findall(behind):
        column, first, _, last = range_boundaries(area.decode())
        if first < last:
            merged.setdefault(first, []).append((column - 1, last))
    return merged


def _describe(cell: Any) -> str:
    """Return a cell's value as a reader sees it, but for separators and currencies."""
    value = cell.value
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, int | float):
        if "%" in _QUOTED.sub("", cell.number_format or ""):
            return f"{100 * value:.10g}%"
        places = len(cell.number_format) if _PADDED.fullmatch(cell.number_format or "") else 0
        return f"{value:.15g}" if isinstance(value, float) else str(value).zfill(places)
    if isinstance(value, datetime) and value.time() == time():
        value = value.date()
    if isinstance(value, datetime):
        return value.isoformat(" ", "seconds")
    return value.isoformat() if isinstance(value, date | time) else _describe_duration(value)


def _describe_duration(value: timedelta) -> str:
    minutes, seconds = divmod(int(value.total_seconds()), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{seconds:02}"
