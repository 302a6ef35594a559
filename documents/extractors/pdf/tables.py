"""Tables of a PDF page: what ruling lines part into cells, and rows of figures that are aligned below heads.

The rows of a ruled table come in order, with their cells; its first rows may be its head. Of others, a row of
figures is a line with wide gaps whose cells behind the first are figures. Rows below each other whose figures
stand in the same columns are a table; the lines above it that stand over the columns are their heads, and the
short lines above those its title. The words keep their order, so that quotes stay exact: only ` | ` comes
between the cells, also for an empty one, so that the place of a cell in its row tells its column.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby, pairwise

from documents.extractors.pdf.pages import LineStyle, RawPage
from documents.text.characters import clean_label
from documents.text.tables import CELLS, join_heads, read_head
from documents.types import TableHead

_SIGN = r"(?:US\$|C\$|A\$|[$€£¥₹])"
_CURRENCY_SIGN = re.compile(r"[$€£¥₹]")
_NUMBER = r"\(?[-–—−+]?\(?\d[\d.,'’]*"
# "$ (1,234)", "5.2 %", "12x", "3 (a)"; or what stands where there is no figure: a dash, "n/a", "*".
_FIGURE = re.compile(
    rf"[~<>≤≥±]?[-–—−+(]?(?:{_SIGN} ?)?{_NUMBER}(?: \d{{3}})*(?: ?(?:[%‰x×]|pts?|bps|bn|m))?[)\] ]*[%$€£¥₹]?"
    r"(?: ?\(\w{1,2}\)|\*{1,3})?|(?:[$€£¥] ?)?[-–—−]+(?: ?%)?|\*+|\(X\)|n[./]?[am]\.?",
    re.IGNORECASE,
)
_CURRENCY = re.compile(rf"{_SIGN}(?: ?\()?|\(")
_BEHIND = re.compile(r"[)%\]]+|pts?|bps|\) ?%")
_YEAR = re.compile(
    r"(?:FY ?|CY ?|Q[1-4] ?)?(?:19|20)\d\d(?: ?[AEF]| ?\(\w{1,2}\)|[–/-]\d\d(?:\d\d)?)?\*?|FY ?\d\d"
)
_YEAR_WITHIN = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
_DIGIT = re.compile(r"\d")
_WORD = re.compile(r"[^\W\d_]{2}")
_UNIT_WORDS = "in|amounts|dollars|millions?|thousands?|billions?|unaudited|audited|except"
_UNIT = re.compile(rf"\(?[^()]*\b(?:{_UNIT_WORDS})\b[^()]*\)?|\([$€£%]+\)", re.IGNORECASE)
# Figures with narrow spaces between them, at the end of a row.
_FIGURES = re.compile(rf"(?:{_SIGN} ?)?[-–—−]?\(?(?:{_SIGN} ?)?\d[\d.,]*\)?(?: ?[%)])*|[—–](?= |$)")
_FIGURES_AT_END = re.compile(rf"(?P<label>.*?)(?P<figures>(?: (?:{_FIGURES.pattern}))+)")
# "Revenues $ 5 $" and "5 % $": what stands before a currency sign, and what behind.
_SIGNED = re.compile(
    rf"(?P<label>.*?[^\W\d_].*?)?(?:(?<=.) )?(?P<figure>{_SIGN} ?[-–—−]?\(?[\d.,]+\)?|"
    rf"\(?[\d.,]+\)?(?: ?%)?(?= {_SIGN}$))(?: (?P<next>{_SIGN}))?"
)
# "Table 6.1: Size of the market", "Exhibit 9"
_CAPTION = re.compile(
    r"(?:tab(?:le|elle|leau|\.)|tabla|exhibit|figure|chart)\s[A-Z]?-?\d[\d.a-z-]*\b", re.IGNORECASE
)
_ENDS = re.compile(r"[.;,][\"'”’)]*$")
_SENTENCE_ENDS = re.compile(r"[.!?:;][\"'”’)]*$")
_NEW_SENTENCE = re.compile(r"(?<=[.!?]) (?=[A-Z])")
_LEAD_IN_LINES = 3  # above the one that ends with a colon
_TIGHT = 1.7  # sizes of type between the lines of a paragraph
_BETWEEN = 4  # lines without figures between two rows of one table
_ROWS_COMPARED = 20
_FIGURE_CHARS = 40
_CELL_CHARS = 200  # more are no figures, and no head
_HEADS = 16  # lines above the first row that are looked at
_HEADS_ELSEWHERE = 4  # lines
_TITLE_LINES = 3
_HEADING_CHARS = 240
_GROUP_CHARS = 60  # "Fees, charges, and commissions for services:"
_CENTRED = 6.0  # points between the middles of centred lines
_SAME_NAMES = 3  # columns with one name: it is that of the table, and tells none of them
_TITLE_CHARS = 160
_FAR = 4.0  # sizes of type between two lines of one table
_TOLERANCE = 4.0  # sizes of type by which a head may reach out of its columns
_NEAR = 2.0  # points


@dataclass(frozen=True, slots=True)
class Cell:
    """A piece of a line between two wide gaps. left, right: in points."""

    text: str
    left: float
    right: float


@dataclass
class _Line:
    """A line as it is printed: one of the page's text, or several at one height. first, last: of the text.

    What is told of its cells is told of them as they are when it is first asked for.
    """

    first: int
    last: int
    style: LineStyle
    cells: list[Cell]

    @cached_property
    def text(self) -> str:
        return CELLS.join(cell.text for cell in self.cells)

    @property
    def right(self) -> float:
        return self.cells[-1].right

    @cached_property
    def figures(self) -> list[Cell]:
        """Return the figures behind the row's head, and all of a row without a head.

        A year with other figures behind it is the head of its row.
        """
        if len(self.cells) < 2:
            return []
        figures = [cell for cell in self.cells if _is_figure(cell)]
        if figures and figures[0] is self.cells[0] and _YEAR.fullmatch(figures[0].text):
            return figures[not all(_YEAR.fullmatch(cell.text) for cell in figures) :]
        return (
            figures if figures[:1] == self.cells[:1] else [one for one in self.cells[1:] if _is_figure(one)]
        )

    @cached_property
    def is_row(self) -> bool:
        """Tell if most cells behind its head are figures that are no years alone."""
        figures = self.figures
        if not figures or 2 * len(figures) < len(self.cells) - 1 or len(self.cells[0].text) > _CELL_CHARS:
            return False
        return not self.tells_years

    @cached_property
    def tells_years(self) -> bool:
        """Tell if its figures are years: it is a head."""
        figures = self.figures
        return bool(figures) and all(_YEAR.fullmatch(cell.text) for cell in figures)


@dataclass(slots=True)
class PageTable:
    """A table on a page: lines `first` to `last` of its text, both included.

    rows: its lines, with ` | ` between the cells. head: None where nothing stands above the columns. width:
    the number of its columns.
    """

    first: int
    last: int
    width: int
    rows: list[str] = field(default_factory=list)
    head: TableHead | None = None

    def goes_on_from(self, head: TableHead | None) -> bool:
        """Tell if it can be the rest of a table that has such a head: it has none itself."""
        named = self.head is not None and any(self.head.columns)
        return head is not None and not named and len(head.columns) == self.width


def find_tables(page: RawPage) -> list[PageTable]:
    """Return the tables in reading order; none where the library tells no positions."""
    if not any(style and style.gaps for style in page.styles):
        return []
    tables: list[PageTable] = []
    above: list[_Line] = []
    for table, group in groupby(_join_level(page), key=lambda line: line.style.table):
        lines = list(group)
        if table is None:
            tables += _find_aligned(lines)
        else:
            tables.append(_read_ruled(lines, above, tables[-1].last if tables else -1))
        above = lines
    return tables


def _find_aligned(lines: Sequence[_Line]) -> Iterator[PageTable]:
    done = 0
    for first, last in _iter_runs(lines):
        first = max(first, done)
        table = _build(lines, done, first, last) if first <= last else None
        if table:
            yield table
            done = last + 1


def _read_ruled(rows: Sequence[_Line], above: Sequence[_Line], done: int) -> PageTable:
    """Read a ruled table. above: the lines before it. done: the last one that is of a table already."""
    free = [line for line in above if line.first > done]
    title, begin = _find_title([*free, *rows], 0, len(free))
    titles = free[begin:] if title else []
    table = PageTable(titles[0].first if titles else rows[0].first, rows[-1].last, len(rows[0].cells))
    table.rows = [line.text for line in titles] + [
        _write_cells([cell.text for cell in row.cells]) for row in rows
    ]
    cells = join_heads([[cell.text for cell in row.cells] for row in rows])
    if len(cells) < len(rows) or _names_columns(rows):
        table.head = read_head(title, cells[0])
    if table.head is None and title:
        table.head = TableHead(clean_label(title), ())
    return table


def _names_columns(rows: Sequence[_Line]) -> bool:
    """Tell if the first row differs from the others: in bold, or by words above figures; of more than two
    columns it is taken to.
    """
    head, *body = rows
    if len(head.cells) > 2 or (head.style.bold and not any(row.style.bold for row in body)):
        return True
    return all(_is_figure(cell) for row in body for cell in row.cells[1:])


def _is_figure(cell: Cell) -> bool:
    return len(cell.text) < _FIGURE_CHARS and _FIGURE.fullmatch(cell.text) is not None


def _is_unit(cell: Cell) -> bool:
    """Tell if it is a unit of the whole table; "2023 $ million" names a column."""
    if len(cell.text) >= _CELL_CHARS or _YEAR.match(cell.text):
        return False
    return _UNIT.fullmatch(cell.text) is not None


def _join_level(page: RawPage) -> list[_Line]:
    """Return the printed lines, cells of currency signs and percent signs joined to their figures."""
    texts = page.text.split("\n")
    lines: list[_Line] = []
    for number, (text, style) in enumerate(zip(texts, page.styles, strict=False)):
        if style is None or not text.strip():
            continue
        cells = list(_cut(text, style))
        last = lines[-1] if lines else None
        own = style.table is None and (last is None or last.style.table is None)
        if (
            own
            and last
            and last.last == number - 1
            and style.is_level_with(last.style)
            and style.left > last.right
        ):
            last.last = number
            last.cells += cells
        else:
            lines.append(_Line(number, number, style, cells))
    for line in lines:
        if len(line.cells) > 1 and line.style.table is None:
            line.cells = _join_signs(line.cells)
    return lines


def _cut(text: str, style: LineStyle) -> Iterator[Cell]:
    start, left = 0, style.left
    for gap in style.gaps:
        yield Cell(" ".join(text[start : gap.index].split()), left, gap.left)
        start, left = gap.index, gap.right
    yield Cell(" ".join(text[start:].split()), left, style.right)


def _join_signs(cells: Sequence[Cell]) -> list[Cell]:
    joined: list[Cell] = []
    for cell in _part_figures(cells):
        before = joined[-1] if joined else None
        if before and (
            _CURRENCY.fullmatch(before.text) or (_BEHIND.fullmatch(cell.text) and _is_figure(before))
        ):
            joined[-1] = Cell(f"{before.text} {cell.text}", before.left, cell.right)
        else:
            joined.append(cell)
    return joined


def _part_figures(cells: Sequence[Cell]) -> Iterator[Cell]:
    """Part "Revenues $ 5 $" and "6": the sign at a cell's end is of the next one, and figures have cells."""
    for cell in cells:
        parts = None
        if len(cell.text) < _CELL_CHARS and _CURRENCY_SIGN.search(cell.text):
            parts = _SIGNED.fullmatch(cell.text)
        if parts is None or (not parts["label"] and not parts["next"]):
            yield cell
            continue
        at, width = cell.left, (cell.right - cell.left) / len(cell.text)
        for part in filter(None, parts.groups()):
            yield Cell(part.strip(), at, min(cell.right, at + width * len(part)))
            at += width * (len(part) + 1)


def _iter_runs(lines: Sequence[_Line]) -> Iterator[tuple[int, int]]:
    """Yield the first and the last row of figures of each table."""
    first = last = -1
    for number, line in enumerate(lines):
        if not line.is_row:
            continue
        if first >= 0 and _goes_on(lines, first, last, number):
            last = number
            continue
        if first >= 0:
            yield first, last
        first = last = number
    if first >= 0:
        yield first, last


def _goes_on(lines: Sequence[_Line], first: int, last: int, number: int) -> bool:
    """Tell if row `number` belongs to the table that ends with row `last`: with only short lines between,
    below it, and with a figure in one of its columns.
    """
    between = lines[last + 1 : number]
    if len(between) > _BETWEEN or any(line.tells_years or len(line.text) > _TITLE_CHARS for line in between):
        return False
    if any(not _follows(above, below) for above, below in pairwise(lines[last : number + 1])):
        return False
    near = lines[max(first, last - _ROWS_COMPARED) : last + 1]
    left = min(cell.left for line in near if line.is_row for cell in line.figures)
    if any(line.cells[0].left > left - line.style.size and not line.is_row for line in between):
        return False  # heads above other columns
    ends = [cell.right for line in near[-4:] for cell in line.figures]
    tolerance = lines[number].style.size
    return any(abs(cell.right - end) < tolerance for cell in lines[number].figures for end in ends)


def _follows(above: _Line, below: _Line) -> bool:
    step = above.style.baseline - below.style.baseline
    return 0 < step < _FAR * max(above.style.size, below.style.size)


def _build(lines: Sequence[_Line], done: int, first: int, last: int) -> PageTable | None:
    """Build the table of rows `first` to `last`. done: where the table before it ends."""
    rows = [line for line in lines[first : last + 1] if line.is_row]
    columns = _find_columns(rows)
    while first > done and _cells_in_order(lines[first - 1], len(columns)):
        first -= 1
    heads, top = _without_caption(*_find_heads(lines, done, first, columns), lines, done)
    sure = len(rows) > 1 or (len(columns) > 1 and any(line.tells_years for line in heads))
    if not sure or not _are_aligned(rows, columns):
        return None
    title, begin = _find_title(lines, done, top)
    heads = [*_find_heads_elsewhere(lines, top, last, columns), *heads]
    table = PageTable(lines[begin].first, lines[last].last, len(columns) + 1)
    units = [cell.text for line in heads for cell in line.cells if _is_unit(cell)]
    title = " ".join((title, *(unit for unit in dict.fromkeys(units) if unit not in title))).strip()
    naming = [_NamingLine(line, columns) for line in heads]
    if naming and all(heads[0].style.baseline > line.style.baseline + _NEAR for line in heads[1:]):
        naming[0].spread()
    names = [" ".join(filter(None, (line.names[place] for line in naming))) for place in range(len(columns))]
    of_all = [name for name in dict.fromkeys(names) if name and names.count(name) >= _SAME_NAMES]
    title = " ".join((title, *of_all)).strip()
    names = ["" if name in of_all else name for name in names]
    stubs = [
        cell.text
        for line in heads
        for cell in line.cells
        if cell.right < columns[0][0] and not _is_unit(cell)
    ]
    own = _CAPTION.match(title) or len(title) > _GROUP_CHARS or any(map(_YEAR_WITHIN.search, names))
    if not own and (heading := _find_heading(lines, begin)):  # the title is of its first rows, as "Assets" is
        title = " ".join((heading, *(unit for unit in dict.fromkeys(units) if unit not in heading)))
    if any(names) or title:
        table.head = TableHead(clean_label(title), (clean_label(" ".join(stubs)), *map(clean_label, names)))
    table.rows = [
        line.text if number < first else _write(line, columns)
        for number, line in enumerate(lines[begin : last + 1], begin)
    ]
    table.rows = list(_join_labels(table.rows))
    return table


def _find_columns(rows: Sequence[_Line]) -> list[tuple[float, float]]:
    """Return (left, right) of each column: the figures of one overlap each other."""
    figures = [cell for row in rows for cell in row.figures]
    told = [cell for cell in figures if _DIGIT.search(cell.text)] or figures  # a dash may stand at the side
    spans = sorted((cell.left, cell.right) for cell in told)
    columns: list[tuple[float, float]] = []
    for left, right in spans:
        if columns and left < columns[-1][1]:
            columns[-1] = columns[-1][0], max(columns[-1][1], right)
        else:
            columns.append((left, right))
    return columns


def _are_aligned(rows: Sequence[_Line], columns: Sequence[tuple[float, float]]) -> bool:
    """Tell if columns hold figures of several rows, rather than one of each by chance."""
    figures = sum(len(row.figures) for row in rows)
    most = max(len(row.figures) for row in rows)
    return len(columns) <= 2 * most and (len(rows) == 1 or figures >= 1.5 * len(columns))


def _find_heads(
    lines: Sequence[_Line], done: int, first: int, columns: Sequence[tuple[float, float]]
) -> tuple[list[_Line], int]:
    """Return the lines above the rows that name the columns, from above, and where they begin."""
    heads: list[_Line] = []
    top = first
    for number in range(first - 1, max(done, first - _HEADS) - 1, -1):
        line = lines[number]
        if not _follows_loosely(line, lines[number + 1]) or len(line.text) > _TITLE_CHARS:
            break
        if any(_stands_over(cell, columns, line.style.size) for cell in line.cells):
            if not _is_head(line, columns):
                break
            heads.insert(0, line)
            top = number
        elif (heads and not re.fullmatch(r"\(.*\)", line.text)) or (first - number > 5 and not heads):
            break
    return heads, top


def _without_caption(
    heads: list[_Line], top: int, lines: Sequence[_Line], done: int
) -> tuple[list[_Line], int]:
    """Take the further lines of a caption from the heads: they begin where its words do."""
    if top > done and _CAPTION.match(lines[top - 1].text):
        caption = lines[top - 1]
        while (
            heads and len(heads[0].cells) == 1 and abs(heads[0].style.left - caption.cells[-1].left) < _NEAR
        ):
            heads, top = heads[1:], top + 1
    return heads, top


def _find_heads_elsewhere(
    lines: Sequence[_Line], top: int, last: int, columns: Sequence[tuple[float, float]]
) -> list[_Line]:
    """Return the lines that name the columns and stand above line `top`, but elsewhere in the text: drawn
    after all rows, or before where the text has jumped. Rows of the same columns may stand between.
    """
    below = lines[top]
    before = lines[:top] if top and not _follows_loosely(lines[top - 1], below) else ()
    above = [line for line in (*before, *lines[last + 1 :]) if _stands_above(line, below, columns)]
    heads: list[_Line] = []
    for line in sorted(above, key=lambda line: line.style.baseline):
        far = line.style.baseline - below.style.baseline > _FAR * max(line.style.size, below.style.size)
        if far or (line.is_row and not _shares_columns(line, columns)):
            break
        if not line.is_row and any(_stands_over(cell, columns, line.style.size) for cell in line.cells):
            if len(line.text) > _TITLE_CHARS or not _is_head(line, columns):
                break
            heads.insert(0, line)
        elif not line.is_row and (heads or len(line.text) > _FIGURE_CHARS):
            break
        below = line
    return heads if len(heads) <= _HEADS_ELSEWHERE else []  # more are something else, such as a form


def _stands_above(line: _Line, below: _Line, columns: Sequence[tuple[float, float]]) -> bool:
    higher = line.style.baseline > below.style.baseline + _NEAR
    return (
        higher and line.cells[0].left < columns[-1][1] and line.right > min(below.style.left, columns[0][0])
    )


def _shares_columns(line: _Line, columns: Sequence[tuple[float, float]]) -> bool:
    ends = [right for _, right in columns]
    return all(min(abs(cell.right - end) for end in ends) < line.style.size for cell in line.figures)


def _follows_loosely(above: _Line, below: _Line) -> bool:
    """Tell if it is above, or a little lower: the lines of a head's cells come cell by cell."""
    step = above.style.baseline - below.style.baseline
    return -_FAR * below.style.size < step < _FAR * max(above.style.size, below.style.size)


def _stands_over(cell: Cell, columns: Sequence[tuple[float, float]], size: float) -> bool:
    """Tell if a cell stands over the columns, and not over their rows' heads besides."""
    return cell.left > columns[0][0] - _TOLERANCE * size and cell.left < columns[-1][1] + size


def _is_head(line: _Line, columns: Sequence[tuple[float, float]]) -> bool:
    if line.is_row or _CAPTION.match(line.text):
        return False
    return not (len(line.cells) == 1 and line.text.endswith("."))


class _NamingLine:
    """A line of a table's head: what of it stands over each column. names: by column, "" for nothing."""

    def __init__(self, line: _Line, columns: Sequence[tuple[float, float]]) -> None:
        self._columns = columns
        over = [cell for cell in line.cells if _stands_over(cell, columns, line.style.size)]
        self._cells = [part for cell in over if not _is_unit(cell) for part in _split_repeated(cell)]
        below = [_columns_below(cell, columns) for cell in self._cells]
        self.names = [""] * len(columns)
        self._spans = [cell for cell, places in zip(self._cells, below, strict=True) if len(places) > 1]
        for cell, places in reversed(list(zip(self._cells, below, strict=True))):
            for place in places:
                self.names[place] = cell.text
        self._give(self._spans, self._pitch)

    @property
    def _pitch(self) -> float:
        return max([right[1] - left[1] for left, right in pairwise(self._columns)], default=0.0)

    def spread(self) -> None:
        """Give the columns without a name that of the cell beside, as the first line of a head is read.

        A single cell over the middle of all columns is of all; else one that is as wide as a column.
        """
        left, right = self._columns[0][0], self._columns[-1][1]
        if len(self._cells) == 1:
            middle = (self._cells[0].left + self._cells[0].right) / 2
            if abs(middle - (left + right) / 2) < 0.6 * self._pitch:
                self.names = [self._cells[0].text] * len(self._columns)
                return
        groups = [self._centred_below(cell) for cell in self._cells]
        if len(groups) > 1 and all(len(group) > 1 for group in groups) and self._are_all(groups):
            for cell, group in zip(self._cells, groups, strict=True):
                self.names[group.start : group.stop] = [cell.text] * len(group)
            return
        self._give([cell for cell in self._cells if cell.right - cell.left > 0.8 * self._pitch], self._pitch)

    def _centred_below(self, cell: Cell) -> range:
        """Return the longest run of columns whose middle the cell stands over, of those nearest to it."""
        own = [self._nearest_to(_middle(*column)) is cell for column in self._columns]
        runs = [
            range(first, last + 1)
            for first, (left, _) in enumerate(self._columns)
            for last, (_, right) in enumerate(self._columns[first:], first)
            if all(own[first : last + 1])
            and abs(_middle(left, right) - _middle(cell.left, cell.right)) < 0.25 * self._pitch
        ]
        return max(runs, key=len, default=range(0))

    def _nearest_to(self, place: float) -> Cell:
        return min(self._cells, key=lambda cell: abs(_middle(cell.left, cell.right) - place))

    def _are_all(self, groups: Sequence[range]) -> bool:
        """Tell if the groups follow each other without gaps up to the last column."""
        ends = [group.stop for group in groups]
        return ends == [*(group.start for group in groups[1:]), len(self._columns)]

    def _give(self, cells: Sequence[Cell], reach: float) -> None:
        for place, (left, right) in enumerate(self._columns):
            if not self.names[place] and cells:
                distances = [max(cell.left - right, left - cell.right) for cell in cells]
                if min(distances) < reach:
                    self.names[place] = cells[distances.index(min(distances))].text


def _middle(left: float, right: float) -> float:
    return (left + right) / 2


def _split_repeated(cell: Cell) -> list[Cell]:
    """Split a cell that is the heads of several columns: "May 1, 2022 May 2, 2021"."""
    words = cell.text.split()
    first = [place for place, word in enumerate(words) if word == words[0]]
    size = len(words) // len(first)
    if len(first) < 2 or first != list(range(0, len(words), size)):
        return [cell]
    width = (cell.right - cell.left) / len(first)
    return [
        Cell(" ".join(words[place : place + size]), cell.left + n * width, cell.left + (n + 0.9) * width)
        for n, place in enumerate(first)
    ]


def _columns_below(cell: Cell, columns: Sequence[tuple[float, float]]) -> list[int]:
    """Return the columns that the cell overlaps, or the nearest."""
    places = [place for place, (left, right) in enumerate(columns) if cell.left < right and left < cell.right]
    if places:
        return places
    middle = (cell.left + cell.right) / 2
    return [min(range(len(columns)), key=lambda place: abs(sum(columns[place]) / 2 - middle))]


def _find_title(lines: Sequence[_Line], done: int, top: int) -> tuple[str, int]:
    """Return the title, and where the table begins: with it, unless the title is the end of a paragraph."""
    title: list[str] = []
    begin = top
    near = range(top - 1, max(done, top - _TITLE_LINES) - 1, -1)
    caption = next((number for number in near if _CAPTION.match(lines[number].text)), None)
    if caption is not None and not any(line.is_row for line in lines[caption:top]):
        told = (cell.text for line in lines[caption:top] for cell in line.cells)
        return " ".join(told), caption
    for number in near:
        line = lines[number]
        text = line.text
        if line.is_row or not _follows_loosely(line, lines[number + 1]) or not _WORD.search(text):
            break
        lead_in = _read_lead_in(lines, done, number) if text.endswith(":") else ""
        if lead_in and (len(text) > _TITLE_CHARS // 4 or (lead_in != text and not text[0].isupper())):
            title.insert(0, lead_in)
            break
        if _ENDS.search(text) or len(text) > _TITLE_CHARS or text[0].islower():
            break
        title.insert(0, text)
        begin = number
    return " ".join(title), begin


def _read_lead_in(lines: Sequence[_Line], done: int, last: int) -> str:
    """Return the sentence that ends with a line, from the lines above it, too: "The shares ... are as
    follows:". Of one that is longer than a title what stands on the line.
    """
    *before, own = re.split(_NEW_SENTENCE, lines[last].text)
    whole = own
    for number in range(last - 1, max(done, last - _LEAD_IN_LINES) - 1, -1):
        above, below = lines[number], lines[number + 1]
        if before or not _runs_on(above, below):
            break
        *before, end = re.split(_NEW_SENTENCE, above.text)
        whole = f"{end} {whole}"
    return whole if len(whole) <= _HEADING_CHARS else own


def _runs_on(above: _Line, below: _Line) -> bool:
    """Tell if a line goes on in the next one, as those of a paragraph do, and a heading does not."""
    step = above.style.baseline - below.style.baseline
    same = (
        abs(above.style.size - below.style.size) < 0.1 * below.style.size
        and above.style.bold == below.style.bold
    )
    tight = 0 < step < _TIGHT * below.style.size
    if above.is_row or not (same and tight) or _SENTENCE_ENDS.search(above.text):
        return False
    return below.text[0].islower() or above.right > below.right


def _find_heading(lines: Sequence[_Line], begin: int) -> str:
    """Return the centred lines that open a page above a table: what is told, of whom and of when.

    "" unless they name a year, one below the other have one middle and other ends, and nothing but names of
    groups stands between them and the table.
    """
    heading: list[_Line] = []
    for line in lines[:begin]:
        if len(line.cells) > 1 or len(line.text) > _TITLE_CHARS or line.text.endswith("."):
            return ""
        if heading and abs(_middle_of(line) - _middle_of(heading[-1])) < _CENTRED:
            heading.append(line)
        elif len(heading) > 1:
            break
        else:
            heading = [line]
    title = " ".join(line.text for line in heading)
    centred = len({round(line.style.left) for line in heading}) > 1
    return title if centred and len(title) <= _HEADING_CHARS and _YEAR_WITHIN.search(title) else ""


def _middle_of(line: _Line) -> float:
    return (line.style.left + line.right) / 2


def _write(line: _Line, columns: Sequence[tuple[float, float]]) -> str:
    """Write a row with a cell for each column up to its last; a line without figures as it is."""
    cells = _cells_in_order(line, len(columns)) or (_place_cells(line, columns) if line.is_row else [])
    return _write_cells(cells) or line.text


def _write_cells(cells: Sequence[str]) -> str:
    """Write the cells up to the last that has something."""
    last = max((place for place, cell in enumerate(cells) if cell), default=-1)
    return re.sub(r"\|  (?=\|)", "| ", CELLS.join(cells[: last + 1])).strip()


def _cells_in_order(line: _Line, count: int) -> list[str]:
    """Return the head and the figures of a row that has one for each column, however narrow its spaces."""
    text = " ".join(cell.text for cell in line.cells)
    row = _FIGURES_AT_END.fullmatch(f" {text}") if len(text) <= 2 * _TITLE_CHARS else None
    if row is None or len(line.cells) == count + 1:
        return []
    figures = [figure[0].strip() for figure in _FIGURES.finditer(row["figures"])]
    if all(map(_YEAR.fullmatch, figures)):
        return []
    whole = " ".join(figures) == row["figures"].strip()
    return [row["label"].strip(), *figures] if whole and len(figures) == count > 1 else []


def _place_cells(line: _Line, columns: Sequence[tuple[float, float]]) -> list[str]:
    cells = [""] * (len(columns) + 1)
    for cell in line.cells:
        place = _column_of(cell, columns)
        words = cell.text.split()
        if place and len(words) > 1 and (below := len(_columns_below(cell, columns))) == len(words):
            cells[place : place + below] = words
            continue
        if place and any(cells[place:]):  # another one in that column, or to the right of it
            place = max(place, max(at for at, text in enumerate(cells) if text))
        cells[place] = f"{cells[place]} {cell.text}".strip()
    return cells


def _column_of(cell: Cell, columns: Sequence[tuple[float, float]]) -> int:
    """Return the column's number, from 1; 0 for the head of the row."""
    overlaps = [min(cell.right, right) - max(cell.left, left) for left, right in columns]
    best = max(range(len(columns)), key=overlaps.__getitem__)
    if overlaps[best] <= 0 and _is_figure(cell) and not _DIGIT.search(cell.text):
        return 1 + min(range(len(columns)), key=lambda place: abs(columns[place][1] - cell.right))
    if overlaps[best] > 0 and (_is_figure(cell) or cell.left > columns[0][0] - _NEAR):
        return best + 1
    return sum(left < cell.left for left, _ in columns)


def _join_labels(rows: Sequence[str]) -> Iterator[str]:
    """Join the head of a row that takes two lines: "Net income attributable to" and "shareholders | 10"."""
    pending = ""
    for row in rows:
        if pending and CELLS in row and row[:1].islower():
            yield f"{pending} {row}"
            pending = ""
            continue
        if pending:
            yield pending
        pending = "" if CELLS in row else row
        if CELLS in row:
            yield row
    if pending:
        yield pending
