"""Question sets as JSON lines, one question each: read with limits, checked line by line.

A line that is not as described refuses the whole set, naming its number and the field. What the fields mean:
`types.Case`; how a user writes them: README.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from knowlex.common.errors import InvalidInput
from knowlex.common.json_input import parse_json
from rag.evaluation.fields import read_case
from rag.evaluation.types import Case

MAX_QUESTIONS = 10_000
MAX_LINE_BYTES = 256 * 1024


def read_lines(lines: Iterable[bytes]) -> Iterator[Case]:
    """The questions in order; blank lines count as lines only.

    Raises InvalidInput; its `details` name the `line` (from 1) and, where there is one, the `field`.
    """
    return _checked((number, _parsed(line, number)) for number, line in _told(lines))


def read_objects(objects: Iterable[Any]) -> Iterator[Case]:
    """The same of parsed JSON values; `line` is the place in the list, from 1."""
    return _checked(enumerate(objects, start=1))


def write_line(case: Case) -> dict[str, Any]:
    """The question as an object that `read_objects` reads back as the same; what is empty is left out."""
    fields: dict[str, Any] = {
        "id": case.key,
        "question": case.question,
        "answerable": case.answerable,
        "answers": list(case.answers),
        "document": case.document,
        "pages": list(case.pages),
        "chapter": case.chapter,
        "section": case.section,
        "relevant": dict(case.relevant),
        "answer_type": case.answer_type,
        "lang": case.lang,
        "document_lang": case.document_lang,
        "evidence": case.evidence,
        "key_numbers": list(case.key_numbers),
        "tags": list(case.tags),
        "metadata": dict(case.metadata),
    }
    return {name: value for name, value in fields.items() if value not in ("", [], {})}


def _told(lines: Iterable[bytes]) -> Iterator[tuple[int, bytes]]:
    for number, line in enumerate(lines, start=1):
        if len(line) > MAX_LINE_BYTES:
            raise _bad(number, None, f"is longer than {MAX_LINE_BYTES // 1024} KB.")
        line = line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line
        if line.strip():
            yield number, line


def _parsed(line: bytes, number: int) -> Any:
    try:
        return parse_json(line)
    except InvalidInput as exc:
        reason = exc.message.replace("Request body ", "").replace(" (line 1, column", " (column")
        raise _bad(number, exc.field, reason) from None


def _checked(objects: Iterable[tuple[int, Any]]) -> Iterator[Case]:
    seen: dict[str, int] = {}
    for number, value in objects:
        if len(seen) == MAX_QUESTIONS:
            raise _bad(number, None, f"is one too many: a set has at most {MAX_QUESTIONS} questions.")
        if not isinstance(value, dict):
            raise _bad(number, None, "is not a JSON object.")
        try:
            case = read_case(value, str(number))
        except InvalidInput as exc:
            raise _bad(number, exc.field, exc.message) from None
        if case.key in seen:
            raise _bad(number, "id", f"has the id of line {seen[case.key]}, {case.key[:80]!r}.")
        seen[case.key] = number
        yield case
    if not seen:
        raise InvalidInput("There is no question in it.", field="questions")


def _bad(number: int, field: str | None, reason: str) -> InvalidInput:
    error = InvalidInput(f"Line {number}: {reason}" if field else f"Line {number} {reason}", field=field)
    error.details["line"] = number
    return error
