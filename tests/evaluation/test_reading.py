"""Question sets as JSON lines: which names are understood, and how a bad line is refused."""

import json
from typing import Any

import pytest

from knowlex.base.errors import InvalidInput
from rag.evaluation.question_files import (
    MAX_LINE_BYTES,
    MAX_QUESTIONS,
    case_to_json,
    parse_lines,
    parse_objects,
)
from rag.evaluation.types import Case


def read(*objects: dict[str, Any]) -> list[Case]:
    return list(parse_lines(f"{json.dumps(one)}\n".encode() for one in objects))


def refused(*lines: bytes) -> InvalidInput:
    with pytest.raises(InvalidInput) as caught:
        list(parse_lines(lines))
    return caught.value


def test_other_peoples_names_for_the_same_fields():
    first, second = read(
        {"_id": 7, "query": "Who?", "answer": "Ada", "doc": "a.pdf", "page": 3, "kind": "answerable"},
        {"id": "8", "question": "When?", "answerable": False, "topic": "history", "answers": [], "doc": None},
    )

    assert first == Case("7", "Who?", ("Ada",), document="a.pdf", pages=(3,))
    assert second == Case("8", "When?", answerable=False, metadata={"topic": "history"})


def test_graded_judgements_as_an_object_or_a_list():
    graded, listed = read(
        {"question": "a", "relevant": {"d1": 3, "d2": 0, "d3": -1}}, {"question": "b", "relevant": ["d1"]}
    )

    assert (graded.key, dict(graded.relevant)) == ("1", {"d1": 3})
    assert (listed.key, dict(listed.relevant)) == ("2", {"d1": 1})


def test_what_is_written_reads_back_as_the_same():
    case = Case(
        "k",
        "What?",
        ("a", "b"),
        document="d.md",
        pages=(1, 2),
        chapter="One",
        section="Two",
        answer_type="long",
        lang="de",
        document_lang="en",
        evidence="It is so.",
        key_numbers=(1.5,),
        relevant={"d": 2.0},
        tags=("x",),
        metadata={"source": {"deep": [1]}},
    )

    assert list(parse_objects([case_to_json(case)])) == [case]


def test_blank_lines_a_byte_order_mark_and_windows_ends_do_no_harm():
    lines = [
        b'\xef\xbb\xbf{"question": "a", "answers": ["b"]}\r\n',
        b"\r\n",
        b'{"question": "c", "doc": "d"}',
    ]

    assert [case.key for case in parse_lines(lines)] == ["1", "3"]


@pytest.mark.parametrize(
    ("line", "field"),
    [
        (b"{", None),
        (b"[]", None),
        (b'{"question": "a", "answers": ["b"], "n": NaN}', None),
        (b'{"answers": ["b"]}', "question"),
        (b'{"question": "  ", "answers": ["b"]}', "question"),
        (b'{"question": 5, "answers": ["b"]}', "question"),
        (b'{"question": "%s", "answers": ["b"]}' % (b"x" * 2001), "question"),
        (b'{"question": "a"}', "answers"),
        (b'{"question": "a", "answers": [5]}', "answers"),
        (b'{"question": "a", "answers": [""]}', "answers"),
        (b'{"question": "a", "answers": ["b"], "answerable": false}', "answers"),
        (b'{"question": "a", "doc": "b", "page": 0}', "page"),
        (b'{"question": "a", "doc": "b", "pages": [1, true]}', "pages"),
        (b'{"question": "a", "doc": "b", "kind": "maybe"}', "kind"),
        (b'{"question": "a", "doc": "b", "answerable": "yes"}', "answerable"),
        (b'{"question": "a", "doc": "b", "answer_type": "poem"}', "answer_type"),
        (b'{"question": "a", "relevant": {"d": "high"}}', "relevant"),
        (b'{"question": "a", "relevant": {"": 1}}', "relevant"),
        (b'{"question": "a", "relevant": 3}', "relevant"),
        (b'{"question": "a", "relevant": {"d": 1%s}}' % (b"0" * 400), "relevant"),
        (b'{"question": "a", "doc": "b", "key_numbers": [-1%s]}' % (b"0" * 400), "key_numbers"),
        (b'{"question": "a", "doc": "b", "metadata": []}', "metadata"),
        (b'{"question": "a\\u0000", "doc": "b"}', "question"),
        (b'{"question": "a", "doc": "\\ud800"}', "doc"),
        (b'{"question": "\xff", "doc": "b"}', None),
        (b"x" * (MAX_LINE_BYTES + 1), None),
    ],
)
def test_a_bad_line_is_named_with_its_field(line: bytes, field: str | None):
    error = refused(b'{"question": "fine", "doc": "b"}', line)

    assert error.message.startswith("Line 2")
    assert (error.details["line"], error.details.get("field")) == (2, field)
    assert len(error.message) < 400


def test_nesting_that_would_exhaust_a_parser_is_refused():
    assert refused(b'{"question": "a", "doc": "b", "m": %s}' % (b"[" * 5000)).details["line"] == 1
    assert (
        refused(b'{"question": "a", "doc": "b", "m": %s%s}' % (b"[" * 200, b"]" * 200)).details["line"] == 1
    )


def test_a_key_comes_once():
    error = refused(
        b'{"id": "x", "question": "a", "doc": "b"}', b"", b'{"id": "x", "question": "c", "doc": "b"}'
    )

    assert error.message == "Line 3: has the id of line 1, 'x'."
    assert error.details == {"line": 3, "field": "id"}


def test_there_is_a_limit_and_nothing_is_no_set():
    assert refused().field == "questions"
    with pytest.raises(InvalidInput, match=f"at most {MAX_QUESTIONS}"):
        list(parse_objects({"question": "a", "doc": "b"} for _ in range(MAX_QUESTIONS + 1)))
