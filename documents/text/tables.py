r"""The rows of tables in a text, each read with its table's head. Plain Python.

A row is a line with ` | ` between its cells; a bar in one is `\|`, as in Markdown. The place of a cell in its
row tells its column.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from documents.text.characters import has_text
from documents.types import TableHead

CELLS = " | "
_LETTER = re.compile(r"[^\W\d_]")
_NAMES_ROW = re.compile(r"[^\W\d_]|^(?:1[5-9]|20)\d\d\b")  # a year may be the head of a row
_FIGURE = re.compile(r"(?!(?:19|20)\d\d$)(?:[-–—+$€£(] ?)*\d[\d.,' ]*[%)$€£¥]*")  # a year may be a head
_UNITS = "%|[$€£¥pc]|EUR|USD|GBP|[kcm]?m|[km]?g|[cm]?l|km/h|mph|h|min|s|[KMGT]B"
_AMOUNT = re.compile(rf"[$€£¥]? ?\d[\d.,]* ?(?:{_UNITS})", re.IGNORECASE)
TITLE_CHARS = 160
_STOPS = (".", "!", "?", ";", "。", "！", "？", "；", "؟", "؛", "।")
_MAX_HEAD_ROWS = 3
LEAST_SENTENCE = 4  # words
_NOTE = re.compile(
    r"(?<=\S) ?\((?:\d{1,2}|[a-z])\)(?<!\([ghlmst]\))(?=[\s:;,]|$)"
)  # "Assets (3)", not "Fat (g)"
_NEGATIVE = re.compile(
    r"(?P<sign>(?:[$€£¥] ?)?)\((?:[$€£¥] ?)?(?P<figure>\d[\d.,']*)\)"
)  # as accounts write it
_SIGN_BEHIND = re.compile(r"^(\(?\d[\d.,]*\)?) ?([$£])$")  # printed before, but drawn last
_NUMBER_STOP = re.compile(r"^(\w+ [\w.-]*\d)\. ")  # "Table 2. Actual numbers": no sentence ends there
_ITEM = re.compile(r"^[ \t]*(?:[-*+•]|\d{1,3}[.)])[ \t]", re.M)
_RULE = re.compile(r"[\s|:=-]*")  # Markdown's line below the head
_COUNT = re.compile(r"\b(?:nos?|nr|núm|n)\.$", re.IGNORECASE)  # "Respondents: no."
_COUNT_STOP = re.compile(
    r"(?<=\bno)\.(?= )|(?<=\bnos)\.(?= )", re.IGNORECASE
)  # "No. Of": it ends no sentence
_NEXT_GROUP = re.compile(r"total\b|summe\b|gesamt", re.IGNORECASE)


class TableRow(NamedTuple):
    """A row of a table: `text[start:end]`.

    group: the line above that the row belongs to, such as "Operating expenses:"; "" if there is none.
    cells: its own head, and what stands in each column.
    """

    start: int
    end: int
    group: str
    cells: tuple[str, ...]


def is_row(line: str) -> bool:
    """Tell if a line has cells and a word in the first one."""
    return CELLS in line and not _RULE.fullmatch(line)


def split_row(line: str) -> tuple[str, ...]:
    """Return the cells of a row as they are written; the outer bars of Markdown are none."""
    line = line.strip()
    if line.startswith("|") and line.endswith("|") and len(line) > 1:
        line = line[1:-1]
    return tuple(" ".join(cell.split()) for cell in re.split(r"(?<!\\)\|", line))


def join_cells(cells: Iterable[str]) -> str:
    """Return a row of cells, each on one line."""
    return CELLS.join(" ".join(cell.split()).replace("|", r"\|") for cell in cells)


def _read_cells(line: str) -> tuple[str, ...]:
    return tuple(cell.replace(r"\|", "|") for cell in split_row(line))


def read_head(title: str, cells: Sequence[str]) -> TableHead | None:
    """Return the head that a table's first row is; None for a row of figures, with a cell left empty or with
    one that is a sentence, as where a table explains terms.

    title: the paragraph above; a long one, or one that ends as a sentence does, is none.
    """
    if len(cells) < 2 or not all(cells[1:]) or any(map(_is_told, cells)):
        return None
    is_title = len(title) <= TITLE_CHARS and not title.endswith(_STOPS)
    return TableHead(" ".join(title.split()) if is_title else "", tuple(cells))


def join_heads(rows: Sequence[list[str]]) -> list[list[str]]:
    """Return the rows with one for a head of several, whose upper rows name groups of columns.

    A group's name stands in its first column: cells that were merged, or left empty. Below such a head there
    are figures; without, a row with an empty cell may be any.
    """
    width = max(map(len, rows[: _MAX_HEAD_ROWS + 1]), default=0)
    heads = (
        n for n, cells in enumerate(rows[:_MAX_HEAD_ROWS]) if len(cells) == width and read_head("", cells)
    )
    whole = next(heads, 0)
    if not 0 < whole < len(rows) - 1 or not any(map(is_figure, rows[whole + 1][1:])):
        return list(rows)
    if any(is_figure(cell) for cells in rows[:whole] for cell in cells):
        return list(rows)
    below = rows[whole]
    named = [_fill(cells, len(below)) for cells in rows[:whole]]
    head = [" ".join(dict.fromkeys(filter(has_text, names))) for names in zip(*named, below, strict=True)]
    return [head, *rows[whole + 1 :]]


def _fill(cells: Sequence[str], count: int) -> list[str]:
    """Return so many cells, an empty one with what stands before it."""
    filled: list[str] = []
    for cell in [*cells, *[""] * (count - len(cells))]:
        filled.append(cell if has_text(cell) or not filled else filled[-1])
    return filled


def read_first_row(row: str, text: str, start: int) -> TableHead | None:
    """Return the head of the table that starts there in a text, with the paragraph above it as its title."""
    above = text[max(0, start - 2 * TITLE_CHARS) : start].rstrip().rpartition("\n\n")[2]
    lines = [line.strip("#*_ ") for line in above.split("\n")]
    if len(_ITEM.findall(above)) > 1:  # a list
        return read_head("", _read_cells(row))
    title = ": ".join(lines) if above.startswith("#") else "\n".join(lines)  # headings one below another
    return read_head(title.strip(), _read_cells(row))


def _is_told(cell: str) -> bool:
    """Tell if a cell holds what a table tells, and so is none of its heads: a figure, or a sentence."""
    return is_figure(cell) or is_sentence(cell)


def is_figure(cell: str) -> bool:
    """Tell if a cell is a number other than a year; its unit may stand behind it."""
    return _FIGURE.fullmatch(cell) is not None or _AMOUNT.fullmatch(cell) is not None


def is_sentence(cell: str) -> bool:
    ends = cell.endswith(".") and not _COUNT.search(cell) and len(cell.split()) >= LEAST_SENTENCE
    return ends or cell.endswith("。")


def read_rows(text: str, spans: Sequence[tuple[int, int]], head: TableHead) -> Iterator[tuple[int, TableRow]]:
    """Yield the rows among the spans, with the place of each; lines of the head are none.

    A row with words and an empty first cell belongs to the row above, whose first cell goes over both.
    """
    known = f"{head.title}\n{' '.join(head.columns)}".casefold()
    group = name = ""
    for place, (start, end) in enumerate(spans):
        line = text[start:end]
        if not is_row(line):
            group = line if _is_group(line) and line.casefold() not in known else ""
            name = ""
            continue
        cells = _read_cells(line)
        if not has_text(cells[0]) and any(map(_LETTER.search, cells[1:])):
            cells = (name, *cells[1:])
        if all(cell.casefold() in known for cell in cells) or not _has_name(cells, head):
            continue
        name = cells[0]
        if any(cells[1:]):
            yield place, TableRow(start, end, group, cells)
        if _NEXT_GROUP.match(cells[0]):
            group = ""


def _has_name(cells: Sequence[str], head: TableHead) -> bool:
    """Tell if its first cell names a row, or is of a column with a name in a row that has words."""
    if _NAMES_ROW.search(cells[0]):
        return True
    named = has_text(cells[0]) and any(head.columns[:1]) and len(head.columns) >= len(cells)
    return named and any(map(_LETTER.search, cells[1:]))


def _is_group(line: str) -> bool:
    one_line = "\n" not in line and len(line) <= TITLE_CHARS and not line.endswith(_STOPS)
    return one_line and _LETTER.search(line) is not None


def describe_row(row: TableRow, head: TableHead, wanted: frozenset[int] = frozenset()) -> str:
    """Return the row as one reads it aloud: title, its group and own head, and what stands in its columns.

    Without signs of notes, and with a minus for brackets: in an answer, "(3)" would be a citation.

    wanted: the columns that are told, from 1; all if none of them has anything.
    """
    cells = _describe_cells(row, head)
    told = [text for place, text in cells.items() if place in wanted] or cells.values()
    return f"{_name_row(row, head)}, {'; '.join(told)}"


def says_row(text: str, row: TableRow, head: TableHead) -> bool:
    """Tell if a text is what `describe_row` returns, for some of the columns, with the title or without."""
    name = f"{_name_row(row, head)}, "
    told = text.removeprefix(name)
    if told == text:
        told = text.removeprefix(name.removeprefix(describe_title(head)))
    return told != text and set(told.split("; ")) <= set(_describe_cells(row, head).values())


def describe_title(head: TableHead) -> str:
    """Return what `describe_row` begins with for each row of a table: its title; "" without one."""
    title = _clean_part(_NUMBER_STOP.sub(r"\1: ", head.title))
    return f"{title}: " if title else ""


def _name_row(row: TableRow, head: TableHead) -> str:
    column = "" if _NAMES_ROW.search(row.cells[0]) or not head.columns else head.columns[0]
    own = ": ".join(filter(None, map(_clean_part, (row.group, column, row.cells[0]))))
    return describe_title(head) + own if own else describe_title(head).rstrip(": ")


def _clean_part(part: str) -> str:
    return _NOTE.sub("", part).rstrip(": ")


def _describe_cells(row: TableRow, head: TableHead) -> dict[int, str]:
    return {place: _describe_cell(row, place, head) for place in range(1, len(row.cells)) if row.cells[place]}


def _describe_cell(row: TableRow, place: int, head: TableHead) -> str:
    name = head.columns[place] if place < len(head.columns) else ""
    value = _SIGN_BEHIND.sub(r"\2\1", _NOTE.sub("", row.cells[place]))
    value = _NEGATIVE.sub(r"-\g<sign>\g<figure>", value)
    name = _COUNT_STOP.sub("", _NOTE.sub("", name)).rstrip(": ")
    return f"{name}: {value}" if name else value
