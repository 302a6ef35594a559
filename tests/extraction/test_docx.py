"""Word documents: what a reader sees in Word, in reading order."""

import io
import zipfile
from datetime import UTC, datetime
from typing import Any

import docx
import pytest
from docx.opc.constants import RELATIONSHIP_TYPE
from docx.opc.packuri import PackURI
from docx.opc.part import Part
from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls

from documents.extractors.docx import read_docx
from documents.extractors.failures import Unreadable
from documents.types import Extraction, Heading

TYPES = """<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">
<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>
<Default Extension="xml" ContentType="application/xml"/><Override PartName="/word/document.xml"
ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>"""
RELATIONS = """<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">
<Relationship Id="rId1" Target="word/document.xml"
Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument"/></Relationships>"""
W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'


def saved(document: Any) -> bytes:
    file = io.BytesIO()
    document.save(file)
    return file.getvalue()


def zipped(
    body: str,
    *,
    before: str = "",
    more: dict[str, bytes] | None = None,
    types: str = TYPES,
    relations: str = RELATIONS,
) -> bytes:
    """The least that is a DOCX, its body written by hand."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", types)
        archive.writestr("_rels/.rels", relations)
        archive.writestr("word/document.xml", f"{before}<w:document {W}><w:body>{body}</w:body></w:document>")
        for name, data in (more or {}).items():
            archive.writestr(name, data)
    return file.getvalue()


def paragraph(text: str) -> str:
    return f"<w:p><w:r><w:t>{text}</w:t></w:r></w:p>"


def parts(found: Extraction) -> list[tuple[str, str]]:
    return [(block.kind, found.text[block.start_char : block.end_char]) for block in found.blocks]


def report() -> Any:
    document = docx.Document()
    document.core_properties.title, document.core_properties.author = "Yearly report", "Ann Lee"
    document.core_properties.created = datetime(2024, 3, 2, 10, tzinfo=UTC)
    document.sections[0].header.paragraphs[0].text = "Confidential header"
    document.add_heading("The year", 0)
    document.add_heading("Results", 1)
    document.add_paragraph("It was a good year.")
    document.add_paragraph("Sales", style="List Bullet")
    document.add_paragraph("abroad", style="List Bullet 2")
    document.add_heading("Figures", 2)
    table = document.add_table(3, 3)
    for row, cells in enumerate([("Region", "Town", "Sold"), ("South", "Rome", "3"), ("", "Bari", "4")]):
        for column, text in enumerate(cells):
            table.cell(row, column).text = text
    table.cell(1, 0).merge(table.cell(2, 0))
    document.add_paragraph("First step", style="List Number")
    document.add_paragraph("Second step", style="List Number")
    document.add_paragraph("The end.")
    return document


def test_a_report_is_read_in_order() -> None:
    found = read_docx(saved(report()))
    assert found.text == (
        "The year\n\nResults\n\nIt was a good year.\n\n- Sales\n  - abroad\n\nFigures\n\n"
        "Region | Town | Sold\nSouth | Rome | 3\nSouth | Bari | 4\n\n"
        "1. First step\n2. Second step\n\nThe end."
    )
    assert [heading.level for heading in found.headings] == [1, 1, 2]
    assert found.headings[1] == Heading(1, "Results", found.text.index("Results"))
    assert [kind for kind, _ in parts(found)] == ["list", "table", "list"]
    assert (found.title, found.metadata["author"]) == ("Yearly report", "Ann Lee")
    assert found.metadata["created"] == "2024-03-02T10:00:00+00:00"


def test_a_heading_is_known_by_its_outline_level_whatever_its_style_is_called() -> None:
    document = docx.Document()
    style = document.styles.add_style("Kapitelkopf", 1)
    style.element.get_or_add_pPr().append(parse_xml(f'<w:outlineLvl {nsdecls("w")} w:val="1"/>'))
    document.add_paragraph("Über Zellen", style="Kapitelkopf")
    derived = document.styles.add_style("Wie eine Überschrift", 1)
    derived.base_style = document.styles["Heading 3"]
    document.add_paragraph("Darunter", style="Wie eine Überschrift")
    document.add_paragraph("Text.")
    found = read_docx(saved(document))
    assert [(heading.level, heading.title) for heading in found.headings] == [
        (2, "Über Zellen"),
        (3, "Darunter"),
    ]


def test_a_long_heading_keeps_all_of_its_text_and_a_shorter_title() -> None:
    document = docx.Document()
    document.add_heading("The buyer shall bear " + "the cost of all repairs " * 20 + "up to 5 million.", 2)
    found = read_docx(saved(document))
    assert found.text.endswith("up to 5 million.")
    assert found.headings[0].title == found.text[:300]


def test_revisions_are_read_as_if_accepted() -> None:
    body = (
        '<w:p><w:r><w:t xml:space="preserve">The price is </w:t></w:r>'
        "<w:del><w:r><w:delText>nine</w:delText></w:r></w:del><w:ins><w:r><w:t>ten</w:t></w:r></w:ins>"
        "<w:moveFrom><w:r><w:t>gone</w:t></w:r></w:moveFrom></w:p>"
        "<w:sdt><w:sdtContent>" + paragraph("In a content control.") + "</w:sdtContent></w:sdt>"
    )
    assert read_docx(zipped(body)).text == "The price is ten\n\nIn a content control."


def test_links_and_fields_give_the_text_that_is_shown() -> None:
    body = (
        "<w:p><w:hyperlink><w:r><w:t>the site</w:t></w:r></w:hyperlink>"
        "<w:r><w:instrText>PAGEREF _Toc</w:instrText></w:r>"
        "<w:fldSimple><w:r><w:t>, 2024</w:t></w:r></w:fldSimple>"
        "<w:r><w:noBreakHyphen/><w:t>a</w:t><w:tab/><w:t>b</w:t><w:br/><w:t>c</w:t></w:r></w:p>"
    )
    assert read_docx(zipped(body)).text == "the site, 2024-a b\nc"


def test_hidden_text_is_left_out() -> None:
    body = (
        "<w:p><w:r><w:t>It costs 5 €.</w:t></w:r><w:r><w:rPr><w:vanish/></w:rPr><w:t> We pay 2.</w:t></w:r>"
        '<w:r><w:rPr><w:vanish w:val="0"/></w:rPr><w:t> Pay at once.</w:t></w:r></w:p>'
    )
    assert read_docx(zipped(body)).text == "It costs 5 €. Pay at once."


def test_a_text_box_is_read_once_after_its_paragraph() -> None:
    box = f"<w:txbxContent>{paragraph('In the box.')}</w:txbxContent>"
    body = (
        '<w:p><w:r><mc:AlternateContent xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006">'
        f"<mc:Choice>{box}</mc:Choice><mc:Fallback><w:pict>{box}</w:pict></mc:Fallback></mc:AlternateContent>"
        "</w:r><w:r><w:t>Around it.</w:t></w:r></w:p>"
    )
    assert read_docx(zipped(body)).text == "Around it.\n\nIn the box."


def test_tables_in_tables_and_lines_in_cells_stay_in_their_row() -> None:
    document = docx.Document()
    table = document.add_table(2, 2)
    table.cell(0, 0).text, table.cell(0, 1).text, table.cell(1, 0).text = "Name", "Parts", "Cell"
    table.cell(1, 1).text = "wall\nnucleus"
    table.cell(1, 1).add_table(1, 2).cell(0, 0).text = "inner"
    assert read_docx(saved(document)).text == "Name | Parts\nCell | wall nucleus inner"


def test_a_head_of_two_rows_with_merged_cells_names_each_column() -> None:
    document = docx.Document()
    table = document.add_table(rows=4, cols=5)
    lines = (
        ["Passenger", "Summer", "", "Winter", ""],
        ["", "Single", "Return", "Single", "Return"],
        ["Adult", "12", "20", "9", "15"],
        ["Child", "6", "10", "4", "7"],
    )
    for row, line in zip(table.rows, lines, strict=True):
        for cell, text in zip(row.cells, line, strict=True):
            cell.text = text
    table.cell(0, 0).merge(table.cell(1, 0))
    table.cell(0, 1).merge(table.cell(0, 2))
    table.cell(0, 3).merge(table.cell(0, 4))
    found = read_docx(saved(document))
    assert found.text.splitlines() == [
        "Passenger | Summer Single | Summer Return | Winter Single | Winter Return",
        "Adult | 12 | 20 | 9 | 15",
        "Child | 6 | 10 | 4 | 7",
    ]
    (block,) = found.blocks
    assert block.head is not None
    assert block.head.columns[2] == "Summer Return"


def test_a_frame_of_one_column_is_text() -> None:
    document = docx.Document()
    frame = document.add_table(1, 1)
    frame.cell(0, 0).text = "A long paragraph in a frame."
    found = read_docx(saved(document))
    assert (found.text, found.blocks) == ("A long paragraph in a frame.", ())


def test_a_note_in_a_cell_stands_below_its_table() -> None:
    document = docx.Document()
    table = document.add_table(2, 2)
    for place, text in enumerate(("Name", "Price", "Apple", "5")):
        table.cell(place // 2, place % 2).text = text
    mark = f'<w:r {nsdecls("w")}><w:footnoteReference w:id="2"/></w:r>'
    table.cell(1, 1).paragraphs[0]._p.append(parse_xml(mark))
    notes = f'<w:footnotes {W}><w:footnote w:id="2">{paragraph("Without tax.")}</w:footnote></w:footnotes>'
    part = Part(PackURI("/word/footnotes.xml"), "application/xml", notes.encode(), document.part.package)
    document.part.relate_to(part, RELATIONSHIP_TYPE.FOOTNOTES)
    document.add_paragraph("After.")
    assert read_docx(saved(document)).text == "Name | Price\nApple | 5\n\nWithout tax.\n\nAfter."


def test_signs_given_by_their_place_in_a_font_are_read() -> None:
    signs = [("Symbol", "F06D"), ("Symbol", "F0B3"), ("Wingdings", "F0E0"), ("Wingdings", "F022")]
    signs += [("Segoe UI", "2192"), ("", "x")]
    runs = "".join(f'<w:r><w:sym w:font="{font}" w:char="{place}"/></w:r>' for font, place in signs)
    assert read_docx(zipped(f"<w:p>{runs}</w:p>")).text == "µ≥→\ufffd→\ufffd"


def test_clauses_have_the_numbers_that_word_shows_and_count_below_their_headings() -> None:
    document = docx.Document()
    numbering = document.part.numbering_part.element
    levels = "".join(
        f'<w:lvl w:ilvl="{level}"><w:numFmt w:val="{form}"/><w:lvlText w:val="{text}"/></w:lvl>'
        for level, form, text in [
            (0, "upperRoman", "Art. %1"),
            (1, "decimal", "(%2)"),
            (2, "decimal", "%2.%3"),
        ]
    )
    numbering.insert(0, parse_xml(f'<w:abstractNum {W} w:abstractNumId="90">{levels}</w:abstractNum>'))
    for number, start in ((91, 1), (92, 7)):
        numbering.append(parse_xml(
            f'<w:num {W} w:numId="{number}"><w:abstractNumId w:val="90"/><w:lvlOverride w:ilvl="1">'
            f'<w:startOverride w:val="{start}"/></w:lvlOverride></w:num>'
        ))  # fmt: skip
    written = [
        ("Heading 1", 91, 0, "Fees"), ("Normal", 91, 1, "It is 5 €."), ("Normal", 91, 1, "It is due in May."),
        ("Heading 1", 91, 0, "Term"), ("Normal", 91, 1, "One year."), ("Normal", 91, 2, "From May on."),
        ("Heading 1", 0, 0, "Annex"), ("Normal", 92, 1, "Keys."),
    ]  # fmt: skip
    for style, number, level, text in written:
        document.add_paragraph(text, style=style)._p.get_or_add_pPr().append(
            parse_xml(f'<w:numPr {W}><w:ilvl w:val="{level}"/><w:numId w:val="{number}"/></w:numPr>')
        )
    extraction = read_docx(saved(document))
    assert extraction.text.replace("\n\n", "\n").split("\n") == [
        "Art. I Fees", "(1) It is 5 €.", "(2) It is due in May.",
        "Art. II Term", "(1) One year.", "  1.1 From May on.", "Annex", "(7) Keys.",
    ]  # fmt: skip
    assert [heading.title for heading in extraction.headings] == ["Art. I Fees", "Art. II Term", "Annex"]


def test_lists_count_by_themselves_and_start_again() -> None:
    document = docx.Document()
    numbering = document.part.numbering_part.element
    numbering.insert(0, parse_xml(
        f'<w:abstractNum {nsdecls("w")} w:abstractNumId="90">'
        '<w:lvl w:ilvl="0"><w:numFmt w:val="decimal"/></w:lvl>'
        '<w:lvl w:ilvl="1"><w:numFmt w:val="lowerLetter"/></w:lvl></w:abstractNum>'
    ))  # fmt: skip
    for number in ("91", "92"):
        numbering.append(parse_xml(
            f'<w:num {nsdecls("w")} w:numId="{number}"><w:abstractNumId w:val="90"/></w:num>'
        ))  # fmt: skip
    for number, level in [("91", 0), ("91", 1), ("91", 0), ("91", 1), ("92", 0)]:
        item = document.add_paragraph("item")
        item._p.get_or_add_pPr().append(parse_xml(
            f'<w:numPr {nsdecls("w")}><w:ilvl w:val="{level}"/><w:numId w:val="{number}"/></w:numPr>'
        ))  # fmt: skip
    assert read_docx(saved(document)).text == "1. item\n  a) item\n2. item\n  a) item\n1. item"


@pytest.mark.parametrize(
    ("form", "start", "marks"),
    [
        ("lowerLetter", 5, "e) f)"),
        ("upperRoman", 3, "III) IV)"),
        ("upperLetter", 26, "Z) 27."),
        ("decimal", 0, "0. 1."),
        ("lowerRoman", 0, "0. i)"),
    ],
)
def test_items_have_the_letters_and_numbers_that_word_shows(form: str, start: int, marks: str) -> None:
    document = docx.Document()
    numbering = document.part.numbering_part.element
    numbering.insert(0, parse_xml(
        f'<w:abstractNum {nsdecls("w")} w:abstractNumId="90"><w:lvl w:ilvl="0"><w:start w:val="{start}"/>'
        f'<w:numFmt w:val="{form}"/></w:lvl></w:abstractNum>'
    ))  # fmt: skip
    numbering.append(parse_xml(
        f'<w:num {nsdecls("w")} w:numId="91"><w:abstractNumId w:val="90"/></w:num>'
    ))  # fmt: skip
    for _ in range(2):
        item = document.add_paragraph("item")
        item._p.get_or_add_pPr().append(parse_xml(
            f'<w:numPr {nsdecls("w")}><w:ilvl w:val="0"/><w:numId w:val="91"/></w:numPr>'
        ))  # fmt: skip
    assert read_docx(saved(document)).text == "\n".join(f"{mark} item" for mark in marks.split())


def test_code_keeps_its_lines() -> None:
    document = docx.Document()
    document.styles.add_style("Source Code", 1)
    for line in ("def f(x):", "    return 1"):
        document.add_paragraph(line, style="Source Code")
    assert parts(read_docx(saved(document))) == [("code", "def f(x):\n    return 1")]


def test_no_entity_is_looked_up() -> None:
    evil = '<!DOCTYPE d [<!ENTITY x SYSTEM "file:///etc/passwd">]>'
    assert read_docx(zipped(paragraph("Before &x;after"), before=evil)).text == "Before after"


@pytest.mark.parametrize(
    "data",
    [
        zipped(paragraph("<broken")),
        zipped("<w:sdt>" * 5_000 + "</w:sdt>" * 5_000),
        zipped(paragraph("fine"))[:-40],
        zipped(paragraph("&l9;"), before='<!DOCTYPE d [<!ENTITY l0 "lol">' + "".join(
            f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10)) + "]>"),
    ],
)  # fmt: skip
def test_a_damaged_file_says_so(data: bytes) -> None:
    with pytest.raises(Unreadable, match=r"damaged|no extractable text"):
        read_docx(data)


@pytest.mark.parametrize(
    "kind",
    [
        "openxmlformats-officedocument.wordprocessingml.template",
        "ms-word.document.macroEnabled",
        "ms-word.template.macroEnabledTemplate",
    ],
)
def test_templates_and_documents_with_macros_are_read(kind: str) -> None:
    types = TYPES.replace("openxmlformats-officedocument.wordprocessingml.document", kind)
    assert types != TYPES
    assert read_docx(zipped(paragraph("Hello"), types=types)).text == "Hello"


def test_the_strict_form_is_named() -> None:
    relations = RELATIONS.replace("schemas.openxmlformats.org/office", "purl.oclc.org/ooxml/office")
    with pytest.raises(Unreadable, match="strict form"):
        read_docx(zipped(paragraph("Hello"), relations=relations))


def test_a_relation_to_nothing_costs_no_more_than_itself() -> None:
    picture = '<Relationship Id="rId9" Target="NULL" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/image"/>'
    relations = RELATIONS[: RELATIONS.index("<Relationship Id")] + picture + "</Relationships>"
    lost = {"word/_rels/document.xml.rels": relations.encode(), "word/media/1.png": b"x"}
    assert read_docx(zipped(paragraph("Hello"), more=lost)).text == "Hello"


def test_a_bomb_is_refused_by_its_table_of_contents() -> None:
    with pytest.raises(Unreadable, match="limits of time and memory"):
        read_docx(zipped(paragraph("Small."), more={"word/media/image.xml": b" " * 150_000_000}))


def test_an_empty_document_says_so() -> None:
    with pytest.raises(Unreadable, match="no extractable text"):
        read_docx(saved(docx.Document()))
