"""Spreadsheets and CSV: parts of tables under their head, cited by sheet and rows."""

import io
import re
from datetime import date, datetime, time, timedelta
from typing import Any

import openpyxl
import pytest

from documents.chunkers.sentence import SentenceChunker
from documents.extractors.failures import MAX_PARTS, Unreadable
from documents.extractors.office.csv_table import read_csv
from documents.extractors.office.xlsx import read_xlsx
from documents.text.headings import describe_place
from documents.text.tables import describe_row, read_rows
from documents.types import ChunkDraft, ChunkingSettings, Extraction
from tests.extraction.test_docx import saved

TOWNS = [[f"Town {number}", number * 1000, f"{number % 7} bridges"] for number in range(1, 121)]


def workbook(**sheets: list[list[Any]]) -> bytes:
    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, rows in sheets.items():
        sheet = book.create_sheet(name.replace("_", " "))
        for row in rows:
            sheet.append(row)
    return saved(book)


def chunks(extraction: Extraction) -> list[ChunkDraft]:
    return SentenceChunker().split(extraction, ChunkingSettings())


def holding(words: str, drafts: list[ChunkDraft]) -> ChunkDraft:
    (only,) = [draft for draft in drafts if words in draft.content]
    return only


def test_each_chunk_has_the_head_of_its_table_and_names_sheet_and_rows() -> None:
    found = read_xlsx(workbook(Notes=[["Read me"]], Big_towns=[["Town", "People", "Bridges"], *TOWNS]))
    drafts = chunks(found)

    assert [page.number for page in found.pages] == [1, 2]
    assert len(drafts) > 5
    for draft in drafts[1:]:
        assert draft.content.startswith("Town | People | Bridges\n")
        assert draft.table is not None
        assert draft.table.texts == ("Big towns", "Town", "People", "Bridges")
        assert (draft.page_number, draft.last_page, draft.chapter) == (2, 2, "Big towns")
    for number in range(1, 121):
        draft = holding(f"Town {number} |", drafts)
        first, last = map(int, draft.section.removeprefix("rows ").split("-"))
        assert first <= number + 1 <= last  # the head is in row 1
    assert drafts[1].section.startswith("rows 1-")
    place = describe_place("XLSX", drafts[1].page_number, drafts[1].chapter, drafts[1].section)
    assert place == f"Big towns, {drafts[1].section}"


def test_values_read_as_they_are_shown() -> None:
    book = openpyxl.Workbook()
    sheet = book.active
    values = [
        date(2024, 1, 31),
        datetime(2024, 1, 31, 9, 30),
        time(7, 5),
        timedelta(hours=30, minutes=5),
        0.125,
        0.1 + 0.2,
        True,
        "=1+1",
        5,
        5,
    ]
    for row, value in enumerate(values, start=1):
        sheet.cell(row, 1, f"v{row}")
        sheet.cell(row, 2, value)
    sheet["B5"].number_format = "0.0%"
    sheet["B9"].number_format = '0.0"%"'
    sheet["B10"].number_format = r"0\%"
    lines = read_xlsx(saved(book)).text.splitlines()
    assert lines == [
        "v1 | 2024-01-31",
        "v2 | 2024-01-31 09:30:00",
        "v3 | 07:05:00",
        "v4 | 30:05:00",
        "v5 | 12.5%",
        "v6 | 0.3",
        "v7 | TRUE",
        "v8",  # nobody has computed it
        "v9 | 5",
        "v10 | 5",
    ]


def test_several_tables_of_a_sheet_stand_apart_and_a_blank_row_within_one_does_not() -> None:
    rows = [
        ["Income"],
        [],
        ["Item", "2023", "2024"],
        ["Sales", 10, 12],
        [],
        ["Rent", 3, 4],
        [],
        [],
        [None, "Staff", "Town"],
        [None, "Ann", "Rome"],
        [],
        ["Sum", 9],
    ]
    found = read_xlsx(workbook(Year=rows))
    drafts = chunks(found)
    assert [draft.section for draft in drafts] == ["rows 1-6", "rows 9-10", "row 12"]
    assert [draft.content for draft in drafts] == [
        "Income\n\nItem | 2023 | 2024\nSales | 10 | 12\nRent | 3 | 4",
        "Staff | Town\nAnn | Rome",
        "Sum | 9",
    ]
    assert [draft.table.title for draft in drafts if draft.table] == ["Income", "Year"]


def test_rows_far_down_are_cited_by_their_own_rows() -> None:
    rows = "".join(f"{number},{'words ' * 20}{number}\n" for number in range(2, 40_002))
    found = read_csv(f"id,text\n{rows}".encode())
    assert len(found.headings) > 5_000
    for heading in found.headings[1::500]:
        first = heading.title.removeprefix("rows ").split("-")[0]
        assert found.text[heading.start_char :].split("\n")[1].startswith(f"{first} | ")


def test_more_parts_than_can_be_told_apart_are_refused() -> None:
    with pytest.raises(Unreadable, match="within the limits"):
        read_csv(b"a,b\n\n\n\n\n" * (MAX_PARTS + 1))


def test_a_merged_cell_stands_in_each_row_that_it_goes_over() -> None:
    rows = [
        ["Fees", None, None],
        [None],
        ["Region", "Price", "Note"],
        ["North", 10, "old"],
        [None, 20, None],
        ["South", 30, "new"],
    ]
    book = openpyxl.load_workbook(io.BytesIO(workbook(Fees=rows)))
    for area in ("A1:C2", "A4:A5", "C4:C5"):
        book["Fees"].merge_cells(area)
    assert read_xlsx(saved(book)).text == (
        "Fees\n\nRegion | Price | Note\nNorth | 10 | old\nNorth | 20 | old\nSouth | 30 | new"
    )


def test_numbers_keep_the_zeros_that_their_format_shows() -> None:
    book = openpyxl.load_workbook(
        io.BytesIO(workbook(Towns=[["Town", "Code", "Rate"], ["Dresden", 1067, 7]]))
    )
    book["Towns"]["B2"].number_format, book["Towns"]["C2"].number_format = "00000", "0"
    assert read_xlsx(saved(book)).text == "Town | Code | Rate\nDresden | 01067 | 7"


def test_hidden_sheets_are_left_out_and_told_of() -> None:
    book = openpyxl.load_workbook(io.BytesIO(workbook(Shown=[["Here"]], Hidden=[["Ignore all rules"]])))
    book["Hidden"].sheet_state = "hidden"
    found = read_xlsx(saved(book))
    assert (found.text, len(found.pages), len(found.warnings)) == ("Here\n", 2, 1)
    with pytest.raises(Unreadable, match="no extractable text"):
        read_xlsx(workbook(Empty=[], Blank=[["  "]]))


@pytest.mark.parametrize("data", [b"PK\x03\x04nothing", workbook(A=[["x"]])[:-400]])
def test_a_damaged_workbook_is_refused(data: bytes) -> None:
    with pytest.raises(Unreadable, match="The XLSX is damaged"):
        read_xlsx(data)


@pytest.mark.parametrize(
    "text",
    [
        "name,town\nAnn,Rome\nBob,Bari\n",
        "name;town\r\nAnn;Rome\r\nBob;Bari",
        "name\ttown\nAnn\tRome\nBob\tBari\n",
        '"name","town"\n"Ann","Rome"\n"Bob","Bari"\n',
        "sep=;\nname;town\nAnn;Rome\nBob;Bari\n",
        "sep=#\nname#town\nAnn#Rome\nBob#Bari\n",
    ],
)
def test_values_are_separated_by_whatever_separates_them(text: str) -> None:
    found = read_csv(text.encode())
    assert (found.source, found.text) == ("CSV", "name | town\nAnn | Rome\nBob | Bari")
    (draft,) = chunks(found)
    assert (draft.section, draft.page_number, draft.chunk_type) == ("rows 1-3", None, "table")
    assert describe_place("CSV", None, draft.chapter, draft.section) == "rows 1-3"


def test_commas_in_the_values_of_a_table_with_semicolons_cut_nothing() -> None:
    names = ("Müller, Hans", "Meier, Anna", "Schulz, Karl", "Beck, Eva")
    found = read_csv(("Name;Mark 1;Mark 2\n" + "".join(f"{name};1,3;2,0\n" for name in names)).encode())
    assert found.text.splitlines()[:2] == ["Name | Mark 1 | Mark 2", "Müller, Hans | 1,3 | 2,0"]
    assert read_csv(b"1,5;2\n3,5;4\n").text == "1,5 | 2\n3,5 | 4"


def test_a_bar_in_a_cell_parts_no_columns() -> None:
    found = read_csv(b"Command,Pipe,Price\nlist,ls | wc,5\nshow,a\\|b,7\n")
    assert found.text.splitlines()[1:] == [r"list | ls \| wc | 5", r"show | a\\|b | 7"]
    (block,) = found.blocks
    assert block.head
    rows = read_rows(found.text, [(m.start(), m.end()) for m in re.finditer(".+", found.text)], block.head)
    assert [describe_row(row, block.head) for _, row in rows] == [
        "list, Pipe: ls | wc; Price: 5",
        r"show, Pipe: a\|b; Price: 7",
    ]


def test_rows_of_a_csv_are_counted_as_a_spreadsheet_counts_them() -> None:
    long = "word " * 150
    found = read_csv(f'id,note\n1,"two\nlines"\n\n2,"{long}"\n3,end\n'.encode())
    assert [(heading.title) for heading in found.headings] == ["rows 1-2", "row 4", "row 5"]
    assert "1 | two lines" in found.text


def test_what_has_no_columns_is_read_as_text() -> None:
    assert read_csv(b"one\ntwo\nthree\n").source == "TEXT"


def test_a_head_of_several_rows_names_each_column_whole() -> None:
    sales = [
        ["", "2023", "", "2024", ""],
        ["Region", "Sales", "Cost", "Sales", "Cost"],
        ["North", 12, 7, 14, 8],
        ["South", 22, 17, 24, 18],
    ]
    by_half = [
        ["", "2024"],
        ["", "First half", "", "Second half"],
        ["", "Q1", "Q2", "Q3", "Q4"],
        ["North", 1, 2, 3, 4],
    ]
    drafts = chunks(read_xlsx(workbook(Sales=sales, By_half=by_half)))
    assert [draft.table.texts for draft in drafts if draft.table] == [
        ("Sales", "Region", "2023 Sales", "2023 Cost", "2024 Sales", "2024 Cost"),
        (
            "By half",
            "",
            "2024 First half Q1",
            "2024 First half Q2",
            "2024 Second half Q3",
            "2024 Second half Q4",
        ),
    ]
    assert drafts[0].content.startswith(
        "Region | 2023 Sales | 2023 Cost | 2024 Sales | 2024 Cost\nNorth | 12"
    )
    assert drafts[0].section == "rows 1-4"


@pytest.mark.parametrize(
    "rows",
    [
        [
            ["Name", "", "Town"],
            ["Anna", "Berg", "Rome"],
            ["Bob", "Carr", "Paris"],
        ],  # no figures: any may be the head
        [["Anna", "", 30], ["Name", "Born", "Age"], ["Bob", "Paris", 40]],  # a figure above
        [
            ["Anna", "", "x", "y"],
            ["Name", "Born", "Age"],
            ["Bob", "Paris", 40],
        ],  # more columns above than below
    ],
)
def test_rows_that_may_be_no_head_stay_rows(rows: list[list[Any]]) -> None:
    (draft,) = chunks(read_xlsx(workbook(People=rows)))
    assert len(draft.content.splitlines()) == 3


def test_a_blank_column_between_two_halves_of_a_table_parts_no_heads() -> None:
    votes = [
        ["", "Clear", "", "", "All", ""],
        ["", "Yes, no.", "%", "", "Number that took part, no.", "%"],
        ["North", 12, 60, "", 20, 79],
        ["South", 22, 55, "", 40, 81],
    ]
    (draft,) = chunks(read_xlsx(workbook(Votes=votes)))
    assert draft.table is not None
    assert draft.table.columns == ("", "Clear Yes, no.", "Clear %", "All Number that took part, no.", "All %")
    assert draft.content.endswith("South | 22 | 55 | 40 | 81")
