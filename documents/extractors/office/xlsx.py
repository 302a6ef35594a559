"""The reader of Excel workbooks: bytes -> Extraction, a page a sheet. Runs in the sandbox only."""

import re
from collections.abc import Iterator
from datetime import date, datetime, time, timedelta
from io import BytesIO
from typing import Any

from openpyxl import load_workbook

from documents.extractors.composer import Composer
from documents.extractors.failures import Unreadable
from documents.extractors.office.sheets import Row, compose_rows
from documents.extractors.packages import open_package, read_properties, refuse_strict
from documents.types import Extraction

BROKEN_XLSX = "The XLSX is damaged and cannot be read."
_QUOTED = re.compile(r'"[^"]*"|\\.')  # of a format, in which a percent sign is but a sign
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
    sheet.reset_dimensions()
    for number, cells in enumerate(sheet.iter_rows(), start=1):
        yield number, [_describe(cell) for cell in cells]


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
        return f"{value:.15g}" if isinstance(value, float) else str(value)
    if isinstance(value, datetime) and value.time() == time():
        value = value.date()
    if isinstance(value, datetime):
        return value.isoformat(" ", "seconds")
    return value.isoformat() if isinstance(value, date | time) else _describe_duration(value)


def _describe_duration(value: timedelta) -> str:
    minutes, seconds = divmod(int(value.total_seconds()), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{seconds:02}"
