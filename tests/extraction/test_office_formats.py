"""Presentations, OpenDocument texts, rich text and e-books: what a reader sees, with slides and chapters."""

import io
import zipfile
from collections.abc import Mapping
from copy import deepcopy
from typing import Any

import pptx
import pytest
from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.oxml import parse_xml
from pptx.oxml.ns import nsdecls
from pptx.util import Inches

from documents.chunkers.sentence import SentenceChunker
from documents.extractors.failures import PasswordNeeded, Unreadable
from documents.extractors.office.epub import read_epub
from documents.extractors.office.odt import read_odt
from documents.extractors.office.pptx import read_pptx
from documents.extractors.office.rtf import read_rtf
from documents.text.headings import describe_place
from documents.types import ChunkingSettings, Heading
from tests.extraction.test_docx import parts, saved

ODF = 'xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" ' + " ".join(
    f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{long}:1.0"'
    for name, long in (("text", "text"), ("table", "table"), ("draw", "drawing"), ("meta", "meta"))
)
CHAPTERS = {
    "one.xhtml": "<h2>I. The Owl</h2><p>The owl sees at night.</p>",
    "two.xhtml": "<p>The fox sleeps.</p>",
}


def zipped(entries: Mapping[str, str | bytes]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in entries.items():
            archive.writestr(
                name, content, zipfile.ZIP_STORED if name == "mimetype" else zipfile.ZIP_DEFLATED
            )
    return file.getvalue()


def odt(body: str, *, manifest: str = "", meta: str = "", before: str = "") -> bytes:
    return zipped(
        {
            "mimetype": "application/vnd.oasis.opendocument.text",
            "META-INF/manifest.xml": manifest,
            "content.xml": f"{before}<office:document-content {ODF}><office:body><office:text>{body}"
            "</office:text></office:body></office:document-content>",
            "meta.xml": f'<office:document-meta {ODF} xmlns:dc="http://purl.org/dc/elements/1.1/">'
            f"<office:meta>{meta}</office:meta></office:document-meta>",
        }
    )


def epub(pages: dict[str, str], nav: str = "", *, more: dict[str, str] | None = None) -> bytes:
    items = "".join(
        f'<item id="{name}" href="text/{name}" media-type="application/xhtml+xml"/>' for name in pages
    )
    spine = "".join(f'<itemref idref="{name}"/>' for name in pages)
    contents = '<item id="nav" href="nav.xhtml" properties="nav" media-type="application/xhtml+xml"/>'
    return zipped(
        {
            "mimetype": "application/epub+zip",
            "META-INF/container.xml": '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container">'
            '<rootfiles><rootfile full-path="book/a.opf"/></rootfiles></container>',
            "book/a.opf": '<package xmlns="http://www.idpf.org/2007/opf" '
            'xmlns:dc="http://purl.org/dc/elements/1.1/"><metadata><dc:title>Animals</dc:title>'
            f"<dc:creator>Ann Lee</dc:creator></metadata><manifest>{items}{contents}</manifest>"
            f"<spine>{spine}</spine></package>",
            "book/nav.xhtml": f"<html><body><nav><ol>{nav}</ol></nav></body></html>",
            **{
                f"book/text/{name}": f'<html xmlns="http://www.w3.org/1999/xhtml"><body>{page}</body></html>'
                for name, page in pages.items()
            },
            **(more or {}),
        }
    )


def entry(title: str, href: str) -> str:
    return f'<li><a href="text/{href}">{title}</a></li>'


def talk() -> Any:
    presentation = pptx.Presentation()
    presentation.core_properties.title, presentation.core_properties.author = "Yearly talk", "Ann Lee"
    slide = presentation.slides.add_slide(presentation.slide_layouts[1])
    slide.shapes.title.text = "Results"
    slide.placeholders[1].text = "Sales grew\nCosts fell"
    slide.notes_slide.notes_text_frame.text = "Thank the team in Bari."
    presentation.slides.add_slide(presentation.slide_layouts[6])  # blank
    figures = presentation.slides.add_slide(presentation.slide_layouts[5])
    figures.shapes.title.text = "Figures"
    below = figures.shapes.add_textbox(Inches(1), Inches(6), Inches(3), Inches(1))
    below.text_frame.text = "Source: the books"
    table = figures.shapes.add_table(2, 2, Inches(1), Inches(2), Inches(3), Inches(1)).table
    for place, text in enumerate(("Town", "Sold", "Rome", "3")):
        table.cell(place // 2, place % 2).text = text
    chart = CategoryChartData()
    chart.categories = ["North", "South"]
    chart.add_series("Visits", (7, 9.5))
    place = (Inches(1), Inches(4), Inches(3), Inches(1))
    figures.shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, *place, chart)
    return presentation


def test_slides_are_pages_and_read_from_top_to_bottom() -> None:
    found = read_pptx(saved(talk()))
    pages = [found.text[page.start_char : page.end_char] for page in found.pages]
    assert pages == [
        "Results\n\n- Sales grew\n- Costs fell\n\nThank the team in Bari.",
        "",
        "Figures\n\nTown | Sold\nRome | 3\n\n| Visits\nNorth | 7\nSouth | 9.5\n\nSource: the books",
    ]
    assert (found.title, found.metadata["author"]) == ("Yearly talk", "Ann Lee")
    assert [block.kind for block in found.blocks] == ["list", "table", "table"]
    drafts = SentenceChunker().split(found, ChunkingSettings())
    (notes,) = [draft for draft in drafts if "Bari" in draft.content]
    assert (notes.page_number, notes.chapter, notes.section) == (1, "Results", "Speaker notes")
    assert describe_place("PPTX", drafts[-1].page_number, drafts[-1].chapter, "") == "slide 3"


def test_a_column_of_a_comparison_is_read_below_its_heading() -> None:
    presentation = pptx.Presentation()
    slide = presentation.slides.add_slide(presentation.slide_layouts[4])
    slide.shapes.title.text = "Offers"
    for place, text in enumerate(("Plan A", "It is 12 €.", "Plan B", "It is 15 €."), start=1):
        slide.placeholders[place].text = text
    words = read_pptx(saved(presentation)).text.replace("\n\n", "\n").split("\n")
    assert words == ["Offers", "- Plan A", "- It is 12 €.", "- Plan B", "- It is 15 €."]


def test_steps_of_a_slide_have_the_numbers_that_it_shows() -> None:
    presentation = pptx.Presentation()
    slide = presentation.slides.add_slide(presentation.slide_layouts[1])
    frame = slide.placeholders[1].text_frame
    steps = [
        ("Open it", 0, "arabicPeriod"), ("slowly", 1, "alphaLcParenR"), ("", 0, "arabicPeriod"),
        ("wide", 1, ""),
        ("Look", 0, "arabicPeriod"), ("End", 0, ""), ("Again", 0, "arabicPeriod"),
    ]  # fmt: skip
    for text, level, form in steps:
        step = frame.add_paragraph()
        step.text, step.level = text, level
        if form:
            step._p.get_or_add_pPr().append(parse_xml(f'<a:buAutoNum {nsdecls("a")} type="{form}"/>'))
    assert read_pptx(saved(presentation)).text == (
        "1. Open it\n  a) slowly\n  - wide\n2. Look\n- End\n1. Again"
    )


def test_a_merged_cell_of_a_slide_stands_in_each_row_that_it_goes_over() -> None:
    presentation = pptx.Presentation()
    slide = presentation.slides.add_slide(presentation.slide_layouts[6])
    table = slide.shapes.add_table(3, 3, 0, 0, Inches(3), Inches(3)).table
    for place, text in enumerate(("Town", "Role", "Count", "Rome", "Fitter", "14", "", "Planner", "3")):
        table.cell(place // 3, place % 3).text = text
    table.cell(1, 0).merge(table.cell(2, 0))
    assert (
        read_pptx(saved(presentation)).text == "Town | Role | Count\nRome | Fitter | 14\nRome | Planner | 3"
    )


def test_charts_of_any_kind_are_read_and_one_without_figures_is_passed_over() -> None:
    with zipfile.ZipFile(io.BytesIO(saved(talk()))) as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    (chart,) = [name for name in entries if name.startswith("ppt/charts/chart")]
    solid = entries[chart].replace(b"barChart>", b"bar3DChart>")
    assert solid != entries[chart]
    assert "| Visits\nNorth | 7\nSouth | 9.5" in read_pptx(zipped(entries | {chart: solid})).text
    empty = entries[chart][: entries[chart].index(b"<c:ser>")] + entries[chart].partition(b"</c:ser>")[2]
    assert "Visits" not in read_pptx(zipped(entries | {chart: empty})).text


def test_what_a_slide_shows_in_newer_programs_is_read() -> None:
    presentation = pptx.Presentation()
    slide = presentation.slides.add_slide(presentation.slide_layouts[6])
    shape = slide.shapes.add_textbox(0, 0, Inches(3), Inches(1))
    shape.text_frame.text = "Energy is mass"
    compatibility = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
    either = shape.element.makeelement(f"{compatibility}AlternateContent")
    shape.element.addprevious(either)
    for name, content in (("Choice", shape.element), ("Fallback", deepcopy(shape.element))):
        either.append(either.makeelement(compatibility + name))
        either[-1].append(content)
    assert read_pptx(saved(presentation)).text == "Energy is mass"


def test_a_line_at_the_end_of_a_slide_is_no_part_of_the_next() -> None:
    presentation = pptx.Presentation()
    for words in ("The owl and", "the fox sleep"):
        slide = presentation.slides.add_slide(presentation.slide_layouts[6])
        slide.shapes.add_textbox(0, 0, Inches(3), Inches(1)).text_frame.text = words
    drafts = SentenceChunker().split(read_pptx(saved(presentation)), ChunkingSettings())
    assert [(one.content, one.page_number, one.last_page) for one in drafts] == [
        ("The owl and", 1, 1),
        ("the fox sleep", 2, 2),
    ]


def test_slide_shows_are_read_and_the_strict_form_is_named() -> None:
    with zipfile.ZipFile(io.BytesIO(saved(talk()))) as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    types, main = "[Content_Types].xml", "ppt/presentation.xml"
    show = entries[types].replace(
        b"presentationml.presentation.main+xml", b"presentationml.slideshow.main+xml"
    )
    assert show != entries[types]
    assert "Results" in read_pptx(zipped(entries | {types: show})).text
    strict = entries[main].replace(
        b"http://schemas.openxmlformats.org/presentationml/2006/main",
        b"http://purl.oclc.org/ooxml/presentationml/main",
    )
    with pytest.raises(Unreadable, match="strict form"):
        read_pptx(zipped(entries | {main: strict}))


def test_an_opendocument_text_keeps_headings_lists_tables_and_notes() -> None:
    cell = "<table:table-cell><text:p>{}</text:p></table:table-cell>"
    body = (
        "<text:tracked-changes><text:p>deleted</text:p></text:tracked-changes>"
        '<text:h text:outline-level="1">The <text:span>year</text:span></text:h>'
        "<text:p>It<text:s/>was good.<text:note><text:note-citation>1</text:note-citation><text:note-body>"
        "<text:p>For us.</text:p></text:note-body></text:note>"
        "<draw:frame><draw:text-box><text:p>In a box</text:p></draw:text-box></draw:frame></text:p>"
        "<text:list><text:list-item><text:p>Sales</text:p><text:list><text:list-item><text:p>abroad</text:p>"
        "</text:list-item></text:list></text:list-item></text:list>"
        f"<table:table><table:table-row>{cell.format('Town')}{cell.format('Sold')}</table:table-row>"
        f"<table:table-row>{cell.format('Rome')}{cell.format('3')}"
        '<table:table-cell table:number-columns-repeated="16000"/></table:table-row>'
        '<table:table-row table:number-rows-repeated="1000000000"><table:table-cell/></table:table-row>'
        "</table:table>"
    )
    found = read_odt(odt(body, meta="<dc:title>Report</dc:title><meta:keyword>money</meta:keyword>"))
    assert found.text == (
        "The year\n\nIt was good. (For us.)\n\nIn a box\n\n- Sales\n  - abroad\n\nTown | Sold\nRome | 3"
    )
    assert found.headings == (Heading(1, "The year", 0),)
    assert parts(found)[1] == ("table", "Town | Sold\nRome | 3")
    assert (found.title, found.metadata) == ("Report", {"keywords": "money"})


def test_a_merged_cell_of_an_opendocument_text_stands_in_each_row_that_it_goes_over() -> None:
    cell = "<table:table-cell{}><text:p>{}</text:p></table:table-cell>"
    rows = (
        cell.format("", "Town") + cell.format("", "Role") + cell.format("", "Count"),
        cell.format(' table:number-rows-spanned="2"', "Rome")
        + cell.format("", "Fitter")
        + cell.format("", "14"),
        "<table:covered-table-cell/>" + cell.format("", "Planner") + cell.format("", "3"),
        cell.format("", "Bari") + cell.format("", "Fitter") + "<table:covered-table-cell/>",
    )
    table = "".join(f"<table:table-row>{row}</table:table-row>" for row in rows)
    assert read_odt(odt(f"<table:table>{table}</table:table>")).text == (
        "Town | Role | Count\nRome | Fitter | 14\nRome | Planner | 3\nBari | Fitter"
    )


def test_a_numbered_heading_of_an_opendocument_text_is_no_item() -> None:
    def item(content: str) -> str:
        return f"<text:list><text:list-item>{content}</text:list-item></text:list>"

    scope = item('<text:h text:outline-level="1">Scope</text:h>')
    terms = item(item('<text:h text:outline-level="2">Terms</text:h>'))
    found = read_odt(odt(f"{scope}<text:p>All.</text:p>{terms}<text:p>Few.</text:p>"))
    assert found.text == "Scope\n\nAll.\n\nTerms\n\nFew."
    assert [(heading.level, heading.title) for heading in found.headings] == [(1, "Scope"), (2, "Terms")]


def test_a_note_in_a_cell_is_read_once_and_a_comment_not_at_all() -> None:
    def row(*cells: str) -> str:
        return "".join(f"<table:table-cell><text:p>{cell}</text:p></table:table-cell>" for cell in cells)

    note = (
        "<text:note><text:note-citation>1</text:note-citation><text:note-body><text:p>without tax</text:p>"
        "</text:note-body></text:note>"
    )
    comment = "<office:annotation><text:p>Check this.</text:p></office:annotation>"
    rows = (row("Name", "Price"), row(f"Apple{comment}", f"5{note}"))
    table = "".join(f"<table:table-row>{cells}</table:table-row>" for cells in rows)
    found = read_odt(odt(f"<table:table>{table}</table:table>"))
    assert found.text == "Name | Price\nApple | 5 (without tax)"


def test_an_opendocument_text_under_a_password_is_told_from_a_damaged_one() -> None:
    with pytest.raises(PasswordNeeded):
        read_odt(odt("", manifest="<manifest:encryption-data/>"))
    with pytest.raises(Unreadable, match="The ODT is damaged"):
        read_odt(odt("<text:p>"))


def test_rich_text_keeps_letters_paragraphs_and_tables() -> None:
    found = read_rtf(
        rb"{\rtf1\ansi\ansicpg1252{\fonttbl{\f0 Arial;}}{\pict\bin4 abcd}Caf\'e9 \u8364?5 "
        rb"\u-10179?\u-8704?\par \trowd Town\cell Sold\cell\row \trowd Rome\cell 3\cell\row}"
    )
    assert found.text == "Café €5 😀\n\nTown | Sold\nRome | 3"
    assert [kind for kind, _ in parts(found)] == ["table"]


def test_the_chapters_of_a_book_are_those_of_its_table_of_contents() -> None:
    found = read_epub(
        epub(CHAPTERS, entry("The Owl", "one.xhtml") + entry("On foxes", "two.xhtml")),
    )
    assert found.text == "I. The Owl\n\nThe owl sees at night.\n\nOn foxes\n\nThe fox sleeps."
    assert [(heading.level, heading.title) for heading in found.headings] == [
        (1, "I. The Owl"),
        (1, "On foxes"),
    ]
    assert (found.title, found.metadata["author"]) == ("Animals", "Ann Lee")
    drafts = SentenceChunker().split(found, ChunkingSettings())
    assert [describe_place("EPUB", one.page_number, one.chapter, one.section) for one in drafts] == [
        "I. The Owl",
        "On foxes",
    ]


def test_chapters_within_one_page_begin_where_the_contents_point_to() -> None:
    page = (
        '<p>Front.</p><h2 id="a">The Owl</h2><p>It sees.</p><h2>Its nest</h2><p>In a tree.</p>'
        '<p id="b">A fox<br/>sleeps.</p>'
    )
    nav = entry("The Owl", "all.xhtml#a") + entry("The Fox", "all.xhtml#b")
    found = read_epub(epub({"all.xhtml": page}, nav))
    assert [(heading.level, heading.title) for heading in found.headings] == [
        (1, "The Owl"),
        (3, "Its nest"),
        (1, "The Fox"),
    ]
    assert found.text.endswith("The Fox\n\nA fox\nsleeps.")


def test_a_book_without_contents_keeps_its_own_headings_and_undeclared_entities() -> None:
    found = read_epub(epub({"one.xhtml": "<h1>The Owl</h1><p>Sees&nbsp;all.</p>"}))
    assert (found.text, found.headings) == ("The Owl\n\nSees all.", (Heading(1, "The Owl", 0),))


def test_the_entities_of_a_page_that_names_its_doctype_are_letters() -> None:
    page = (
        '<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.1//EN" "http://www.w3.org/TR/xhtml11/DTD/xhtml11.dtd">'
        '<html xmlns="http://www.w3.org/1999/xhtml"><body><h1>Le caf&eacute;</h1><p>3&nbsp;&euro;</p></body>'
        "</html>"
    )
    assert read_epub(epub({"one.xhtml": ""}, more={"book/text/one.xhtml": page})).text == "Le café\n\n3 €"


def test_a_cell_over_several_rows_stands_in_each_of_them() -> None:
    table = (
        "<table><tr><th>Kind</th><th>Name</th><th>Price</th></tr><tr><td rowspan='2'>Fruit</td><td>Apple</td>"
        "<td>5</td></tr><tr><td>Pear</td><td>7</td></tr><tr><td>Root</td><td>Beet</td><td>3</td></tr></table>"
    )
    assert read_epub(epub({"one.xhtml": table})).text.splitlines() == [
        "Kind | Name | Price",
        "Fruit | Apple | 5",
        "Fruit | Pear | 7",
        "Root | Beet | 3",
    ]


def test_a_protected_book_is_told_from_a_damaged_one() -> None:
    locked = '<encryption><CipherReference URI="book/text/one.xhtml"/></encryption>'
    with pytest.raises(Unreadable, match="protected against copying"):
        read_epub(epub(CHAPTERS, more={"META-INF/encryption.xml": locked}))
    fonts = '<encryption><CipherReference URI="book/font.otf"/></encryption>'
    assert "owl" in read_epub(epub(CHAPTERS, more={"META-INF/encryption.xml": fonts})).text
    with pytest.raises(Unreadable, match="The EPUB is damaged"):
        read_epub(zipped({"META-INF/container.xml": "<container/>"}))
