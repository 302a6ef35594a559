"""The rows of spreadsheets and CSV files, as tables whose parts tell their place. Runs in the sandbox only.

A sheet holds a table or several, with blank rows between. Each is cut into parts of some rows under the
table's head, with the rows' numbers for a heading: a part reads by itself, and is cited by its rows.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from documents.extractors.composer import Composer
from documents.extractors.failures import MAX_TEXT_BYTES, TOO_MUCH_TEXT, Unreadable
from documents.text.characters import has_text
from documents.text.tables import CELLS, TITLE_CHARS, join_heads, read_head
from documents.types import TableHead

Row = tuple[int, list[str]]  # its number, from 1, and its cells
_PART_CHARS = 700  # with the head: about a chunk of 300 tokens, of which figures take many
_HEAD_CHARS = 1500  # of a row that may be a head
_MAX_TITLE_ROWS = 4
_MAX_GAP = 3  # rows from the last one of a table to the next
_MAX_ROWS = 2**20  # of a sheet, in Excel


class _Table(NamedTuple):
    """titles: the lines above, rows of one cell. rows: at least one. margin: blank columns before them; those
    between them are left out.
    """

    titles: list[Row]
    rows: list[Row]
    margin: int


def compose_rows(rows: Iterable[Row], composer: Composer, *, level: int, name: str = "") -> None:
    """Add the tables of a sheet. level: of the parts' headings. name: a title for tables that have none.

    Raises Unreadable for more text, rows or parts than are read.
    """
    for table in map(_with_one_head, _join_rows(_join_titles(_split_tables(rows)))):
        title = " ".join(cells[0] for _, cells in table.titles)
        opening = table.rows[0]
        head = read_head(title or name, opening[1]) if _length(opening) <= _HEAD_CHARS else None
        again = opening if head and 2 * _length(opening) <= _PART_CHARS else None
        _compose_table(table, head, again, composer, level)


def _compose_table(
    table: _Table, head: TableHead | None, again: Row | None, composer: Composer, level: int
) -> None:
    """Add a table in parts. again: the row that stands above each part."""
    titles = table.titles
    for part in _cut_parts(table.rows, again):
        composer.begin_part(level, _name_rows((titles or part)[0][0], part[-1][0]))
        for _, cells in titles:
            composer.add_paragraph(cells[0])
        lines = [cells for _, cells in part]
        if max(map(len, lines)) < 2:  # a column of text
            composer.add_paragraph("\n".join(cell for (cell,) in lines))
        else:
            composer.add_table([again[1], *lines] if again and part[0] is not again else lines, head)
        titles = []


def _split_tables(rows: Iterable[Row]) -> Iterator[_Table]:
    """Yield what stands between blank rows, without the columns that are blank in all of it."""
    table: list[Row] = []
    size = 0
    for number, cells in rows:
        if number > _MAX_ROWS:
            raise Unreadable(TOO_MUCH_TEXT)
        while cells and not has_text(cells[-1]):
            cells.pop()
        if cells:
            table.append((number, cells))
            size += sum(map(len, cells))
            if size > MAX_TEXT_BYTES:
                raise Unreadable(TOO_MUCH_TEXT)
        elif table:
            yield _make_table(table)
            table = []
    if table:
        yield _make_table(table)


def _make_table(rows: list[Row]) -> _Table:
    margin = min(next(place for place, cell in enumerate(cells) if has_text(cell)) for _, cells in rows)
    blank = set(range(max(len(cells) for _, cells in rows)))
    for _, cells in rows:
        blank -= {place for place in blank if place < len(cells) and has_text(cells[place])}
    if blank:
        rows = [
            (number, [cell for place, cell in enumerate(cells) if place not in blank])
            for number, cells in rows
        ]
    count = next((place for place, (_, cells) in enumerate(rows) if len(cells) > 1), 0)
    count = count if count <= _MAX_TITLE_ROWS else 0
    return _Table(rows[:count], rows[count:], margin)


def _join_titles(tables: Iterable[_Table]) -> Iterator[_Table]:
    """Yield tables with the short lines above them, from which a blank row may part them."""
    above: _Table | None = None
    for table in tables:
        first = (table.titles or table.rows)[0][0]
        if above and first - above.rows[-1][0] <= _MAX_GAP:
            table = table._replace(titles=above.rows + table.titles)
        elif above:
            yield above
        above = table if not table.titles and _is_title(table.rows) else None
        if above is None:
            yield table
    if above:
        yield above


def _join_rows(tables: Iterable[_Table]) -> Iterator[_Table]:
    """Yield tables with the rows that only a blank row parts from them."""
    whole: _Table | None = None
    for table in tables:
        if whole and _goes_on(whole, table):
            whole.rows.extend(table.rows)
            continue
        if whole:
            yield whole
        whole = table
    if whole:
        yield whole


def _with_one_head(table: _Table) -> _Table:
    numbers = [number for number, _ in table.rows]
    rows = join_heads([cells for _, cells in table.rows])
    dropped = len(numbers) - len(rows)
    return table._replace(rows=list(zip([numbers[0], *numbers[dropped + 1 :]], rows, strict=True)))


def _goes_on(above: _Table, table: _Table) -> bool:
    near = table.rows[0][0] - above.rows[-1][0] <= _MAX_GAP and not table.titles
    alike = table.margin == above.margin and len(table.rows[0][1]) == len(above.rows[0][1])
    return near and alike and read_head("", table.rows[0][1]) is None


def _is_title(rows: Sequence[Row]) -> bool:
    return len(rows) <= _MAX_TITLE_ROWS and all(
        len(cells) == 1 and len(cells[0]) <= TITLE_CHARS for _, cells in rows
    )


def _cut_parts(body: Sequence[Row], again: Row | None) -> Iterator[list[Row]]:
    """Yield the rows in parts. again: the head, which stands in each part; it is never a part by itself."""
    part: list[Row] = []
    head_length = _length(again) if again else 0
    size, least = (0, 2) if again is body[0] else (head_length, 1)
    for row in body:
        if len(part) >= least and size + _length(row) > _PART_CHARS:
            yield part
            part, size, least = [], head_length, 1
        part.append(row)
        size += _length(row)
    yield part


def _length(row: Row) -> int:
    return sum(len(cell) + len(CELLS) for cell in row[1])


def _name_rows(first: int, last: int) -> str:
    return f"row {first}" if first == last else f"rows {first}-{last}"
