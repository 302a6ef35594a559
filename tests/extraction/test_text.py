"""Plain text: the encoding is found, the text is cleaned, and stays what it was."""

import time

import pytest

from documents.extractors.failures import Unreadable
from documents.extractors.text import read_text
from documents.text.sentences import sentence_spans
from documents.text.tables import describe_row, read_rows


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("Plain words.", "ascii"),
        ("Grüße aus Köln, 20 €.", "utf-8"),
        ("Grüße aus Köln.", "utf-8-sig"),
        ("Grüße aus Köln.", "utf-16"),
        ("Grüße aus Köln.", "utf-32"),
        ("Le café est fermé à Noël, déjà été.", "cp1252"),
        ("café", "cp1252"),
        ("Le cœur de l'été : 45 € par mois.", "iso8859-15"),
        ("He said “it’s fine” – and left.", "cp1252"),
        ("Zażółć gęślą jaźń, proszę państwa o ciszę.", "cp1250"),
        ("Привет, мир. Это простой текст для проверки.", "cp1251"),
        ("Привет, мир. Это простой текст для проверки.", "koi8-r"),
        ("Καλημέρα κόσμε, αυτό είναι ένα κείμενο.", "cp1253"),
        ("これは日本語のテキストです。文字コードを確認します。", "cp932"),
        ("これは日本語のテキストです。文字コードを確認します。", "euc_jp"),
        ("这是一个中文文本，用于测试编码。", "gb18030"),
        ("이것은 한국어 텍스트입니다. 인코딩 확인.", "euc_kr"),
    ],
)
def test_the_encoding_is_found(text: str, encoding: str) -> None:
    found = read_text(text.encode(encoding))
    assert (found.text, found.source, found.headings, found.blocks) == (text, "TEXT", (), ())


def test_a_few_broken_bytes_lose_a_few_letters() -> None:
    found = read_text("Grüße aus Köln und überall. ".encode() * 20 + b"\xff Ende.")
    assert found.text.endswith("Grüße aus Köln und überall. \ufffd Ende.")
    assert found.warnings == ("Some characters of the file could not be decoded.",)


def test_what_cannot_be_stored_or_seen_goes() -> None:
    text = "a\u202eb\u202c\r\nc\u200bd\x07\n\n\n\n\ne\ufeff"
    assert read_text(text.encode()).text == "ab\ncd\n\ne"


@pytest.mark.parametrize("data", [b"", b" \n\t ", "\u200b\u2060".encode(), "\ufeff".encode("utf-16")])
def test_a_blank_file_says_so(data: bytes) -> None:
    with pytest.raises(Unreadable, match="no extractable text"):
        read_text(data)


@pytest.mark.parametrize("data", [b"PK\x00\x01", b"\x00" * 99, b"\x01\x02\x03 some words"])
def test_binary_data_is_no_text(data: bytes) -> None:
    with pytest.raises(Unreadable, match="no text in any known encoding"):
        read_text(data)


@pytest.mark.parametrize("piece", [b"a", b"word ", b"\n", b" \n", b"caf\xe9 ", b".\r\n", b"a\n\n  b\n\n"])
def test_large_files_take_linear_time(piece: bytes) -> None:
    def seconds(size: int) -> float:
        started = time.process_time()
        read_text(b"x" + piece * (size // len(piece)))
        return time.process_time() - started

    small = min(seconds(125_000) for _ in range(3))
    assert seconds(2_000_000) < 64 * max(small, 0.02)  # what is quadratic needs 256 times as much


DRAWN = """Opening hours of the pool.

Prices in euros
+----------+--------+----------+
| Ticket   | Adults | Children |
+==========+========+==========+
| Single   | 6.50   | 3.20     |
| Ten      | 58.00  | 28.00    |
+----------+--------+----------+

Dogs are not allowed. | is a bar |
| alone |"""


def test_the_rows_of_a_table_drawn_with_bars_are_read_with_its_head() -> None:
    found = read_text(DRAWN.encode())
    assert found.text == DRAWN
    (block,) = found.blocks
    assert block.head is not None
    text = found.text[block.start_char : block.end_char]
    rows = [row for _, row in read_rows(text, sentence_spans(text), block.head)]
    assert [describe_row(row, block.head) for row in rows] == [
        "Prices in euros: Single, Adults: 6.50; Children: 3.20",
        "Prices in euros: Ten, Adults: 58.00; Children: 28.00",
    ]


NOTES = """\
=====
Ferry
=====

What changed
------------

The ferry leaves
at noon::

    Prices   Euros
    ----------------
    Adult    6

Fares
-----
Adults pay six euros, and a
dog pays nothing at all.
------------------------

Numbers
^^^^^^^
End.
"""


def test_what_is_underlined_is_a_heading() -> None:
    found = read_text(NOTES.encode())
    assert [(heading.level, heading.title) for heading in found.headings] == [
        (1, "Ferry"),
        (2, "What changed"),
        (2, "Fares"),
        (3, "Numbers"),
    ]
    starts = [found.text[heading.start_char :].split("\n")[0] for heading in found.headings]
    assert starts == ["=====", "What changed", "Fares", "Numbers"]


MANUAL = """\
FERRY(5)                File Formats                FERRY(5)

NAME
       ferry.conf - when the ferry leaves

OPTIONS
       day_of_rest
           The day on which no ferry leaves. It is Monday if nothing is
           set, and no day at all if it is "none".

           On other days it leaves
           at noon,
           at six, and
           at nine.

       season
           From May to September.

           Outside of it there is
           no ferry.

       1. A step
          Its text.

SEE ALSO

       The captain knows more,
       and so does the mate.

FERRY(5)                May 2019                    FERRY(5)
"""


def test_what_stands_above_text_that_is_indented_is_a_heading() -> None:
    found = read_text(MANUAL.encode())
    assert [heading.title for heading in found.headings] == ["NAME", "OPTIONS", "SEE ALSO"]
    assert all(found.text.startswith(heading.title, heading.start_char) for heading in found.headings)


@pytest.mark.parametrize(
    "text",
    [
        "One day\n   it rained.\n\nIt was Monday. It stayed.\n\nNext day\n   it snowed.\n\nNobody came.\n",
        "Dear all,\n\n    the ferry is late.\n\nRegards\n\n    Eva\n",
        "\n\n".join(f"Harbour news   page {n}\n\n    The ferry is late.\n    So am I." for n in range(9)),
    ],
    ids=["first lines of paragraphs", "a letter", "heads of printed pages"],
)
def test_not_every_line_above_one_that_is_indented_is_a_heading(text: str) -> None:
    assert read_text(text.encode()).headings == ()


def test_a_word_that_is_broken_at_a_lines_end_is_whole_again_and_its_line_stays_indented() -> None:
    found = read_text("Users\n       of all the sys\u2010\n       tem groups have one.".encode())
    assert found.text == "Users\n       of all the system \n       groups have one."
