"""The rows of tables: what an answer says of one, and the fields that its cells are. Plain Python."""

import re
from collections import Counter
from collections.abc import Collection, Iterator
from functools import lru_cache
from itertools import chain
from typing import NamedTuple

from documents.text.tables import CELLS, TableRow, describe_row, is_figure, read_rows, split_row
from documents.types import TableHead
from rag.extracting.sentence_form import KEPT_QUESTIONS, asked_words, expected_kinds
from rag.ranking.sentences import analysis_in, words_of
from rag.types.context import Block

# What a unit in a column's head is called in a question.
_UNITS = {
    "kcal": "kilocalories calories",
    "kj": "kilojoules",
    "mg": "milligrams",
    "g": "grams",
    "kg": "kilograms",
    "ml": "millilitres milliliters",
    "l": "litres liters",
    "mm": "millimetres millimeters",
    "cm": "centimetres centimeters",
    "km": "kilometres kilometers",
    "min": "minutes",
    "%": "percent percentage",
    "$": "dollars",
    "€": "euros",
    "£": "pounds",
}
_UNIT = re.compile(r"(?<![^\W_])(?:kcal|kj|m?g|kg|m?l|[mck]m|min)(?![^\W_])|[%$€£]", re.IGNORECASE)
SHARED = 0.5  # of the columns, with words in their heads that tell none of them
_CHANGE = words_of("change changes changed growth increase decrease difference variance", "en")  # of figures
_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
_STATEMENT = re.compile(r"\b(?:statements? of|balance sheets?|income statements?)\b", re.IGNORECASE)
_BRACKETS = re.compile(r" *\([^()]*\)")


class RowSaid(NamedTuple):
    """A row, and what an answer says of it. places: the columns that are asked for, from 1; none for all."""

    row: TableRow
    places: frozenset[int]
    text: str


class CellTold(NamedTuple):
    """A cell of a row. place: its column, from 1. name: of the row. field: with the head of its column, as
    "Steps: 94". asked: how many words of the question are in that head.
    """

    place: int
    name: str
    field: str
    asked: int


@lru_cache(maxsize=KEPT_QUESTIONS)
def rows_said(question: str, block: Block) -> dict[int, RowSaid]:
    """Return the rows of the block's table by where each starts.

    Said are title, the row's own head, what stands in the columns whose heads have most of the question's
    words, as its year, and what says with words of the question which row it is. How much a figure changed
    is said where that is asked for.
    """
    head = TableHead.of(block.table_head)
    if head is None:
        return {}
    asked = asked_words(question, block.language)
    heads = _words_of_heads(head, block.language)
    held = [len(words & asked) if words.isdisjoint(_CHANGE) or asked & _CHANGE else 0 for words in heads]
    most = max(held[1:], default=0)
    wanted = frozenset(n for n, count in enumerate(held) if n and count == most > 0)
    said: dict[int, RowSaid] = {}
    for _, row in read_rows(block.content, analysis_in(block).spans, head):
        places = wanted and wanted | _naming(row, asked, block.language)
        said[row.start] = RowSaid(row, places, describe_row(row, head, places))
    return said


@lru_cache(maxsize=KEPT_QUESTIONS)
def _words_of_heads(head: TableHead, language: str) -> list[frozenset[str]]:
    """Return the words of each column's head, units spelt out, but for those that most columns share."""
    words = []
    for name in head.columns:
        units = " ".join(_UNITS[unit.casefold()] for unit in _UNIT.findall(name))
        words.append(words_of(f"{name} {units}" if units else name, language))
    columns = Counter(chain.from_iterable(words[1:]))
    shared = {word for word, count in columns.items() if count > max(1, SHARED * len(words[1:]))}
    return [own - shared for own in words]


def _naming(row: TableRow, asked: frozenset[str], language: str) -> frozenset[int]:
    """Return the columns in which a row has words that are asked for."""
    cells = enumerate(row.cells[1:], start=1)
    return frozenset(n for n, cell in cells if not is_figure(cell) and words_of(cell, language) & asked)


def cells_told(question: str, block: Block, start: int, end: int) -> list[CellTold]:
    """Return the cells of the row `block.content[start:end]`, those whose heads are asked for first.

    None for a row whose columns are years of which the question asks for none, and for one of figures where
    it asks for a reason or a name.
    """
    return sorted(_iter_cells(question, block, start, end), key=lambda cell: -cell.asked)


def _iter_cells(question: str, block: Block, start: int, end: int) -> Iterator[CellTold]:
    found, head = rows_said(question, block).get(start), TableHead.of(block.table_head)
    if found is None or head is None:
        name, *cells = split_row(block.content[start:end])
        yield from (CellTold(n, "", f"{name}: {cell}", 0) for n, cell in enumerate(cells, start=1) if cell)
        return
    row = found.row
    asked = asked_words(question, block.language)
    if _is_of_other_years(question, row, head) or _lacks_words(question, row, asked, block.language):
        return
    heads = _words_of_heads(head, block.language)
    columns = Counter(year for name in head.columns for year in set(_YEAR.findall(name)))
    column = "" if any(map(str.isalpha, row.cells[0])) or not head.columns else head.columns[0]
    name = " ".join(filter(None, (column, row.cells[0])))
    name = f"{row.group.rstrip(': ')}: {name}" if row.group else name
    for place, cell in enumerate(row.cells[1:], start=1):
        label = head.columns[place] if place < len(head.columns) else ""
        years = [year for year in _YEAR.findall(label) if columns[year] == 1 and year in question]
        held = len(heads[place] & asked) if label else 0
        if cell:
            told = years[0] if len(years) == 1 else label  # the reader knows "2019", no "52 weeks ended"
            yield CellTold(place, name, f"{told}: {cell}" if told else cell, held)


def title_to_read(question: str, title: str, cell: CellTold, language: str) -> str:
    """Return the title of a cell's table without what stands in brackets; "" if it names a whole statement of
    accounts and has no word of the question that the cell itself has not.

    Below "Consolidated Statements of Income (in millions, except per share data)" the reader takes hardly any
    cell for an answer; "Pro forma information" tells it that one is none.
    """
    title = _BRACKETS.sub("", title).rstrip(": ")
    own = words_of(f"{cell.name} {cell.field}", language)
    asked = (words_of(title, language) - own) & asked_words(question, language)
    return "" if _STATEMENT.search(title) and not asked else title


def say_cells(question: str, block: Block, start: int, places: Collection[int]) -> str:
    """Return what an answer says of a row that `rows_said` returns, with these columns only."""
    head = TableHead.of(block.table_head)
    return describe_row(rows_said(question, block)[start].row, head, frozenset(places)) if head else ""


def _lacks_words(question: str, row: TableRow, asked: frozenset[str], language: str) -> bool:
    """Tell whether words are asked for, a reason or a name, and the row has only figures beside its own name,
    which the question holds already.
    """
    if any(not is_figure(cell) and any(map(str.isalpha, cell)) for cell in row.cells[1:]):
        return False
    forms = expected_kinds(question)
    return "reason" in forms or ("name" in forms and words_of(row.cells[0], language) <= asked)


def tells_other_years(question: str, *around: str) -> bool:
    """Tell whether a year is asked for, and what stands around a row tells others only."""
    asked, told = set(_YEAR.findall(question)), set(_YEAR.findall("\n".join(around)))
    return bool(asked and told) and asked.isdisjoint(told)


def _is_of_other_years(question: str, row: TableRow, head: TableHead) -> bool:
    asked = set(_YEAR.findall(question))
    if not asked or not any(map(_YEAR.search, (*head.columns, row.group))):
        return False
    return asked.isdisjoint(_YEAR.findall(CELLS.join((head.title, *head.columns, row.group, *row.cells))))
