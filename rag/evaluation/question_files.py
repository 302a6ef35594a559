"""The fields of one question, under any of the names that are in use for them. Plain Python."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, cast

from knowlex.base.errors import InvalidInput
from knowlex.web.fields import MAX_QUESTION_CHARS, check_storable, is_blank
from knowlex.web.json_body import parse_json
from rag.evaluation.types import AnswerType, Case

MAX_KEY, MAX_NAME, MAX_TEXT = 255, 1000, 20_000
MAX_ANSWERS, MAX_PAGES, MAX_TAGS, MAX_GRADES = 50, 200, 50, 2000
MAX_PAGE, MAX_GRADE, MAX_NUMBER = 1_000_000, 1000, 1e100

# Other names by which the same fields go: of BEIR, SQuAD and their kin.
FIELD_NAMES: Final = {
    "id": ("id", "_id", "key"),
    "question": ("question", "query", "text"),
    "answers": ("answers", "answer"),
    "document": ("document", "doc", "document_id", "source_file", "file"),
    "pages": ("pages", "page"),
    "answerable": ("answerable", "unanswerable", "kind"),
    "relevant": ("relevant", "qrels"),
    "document_lang": ("document_lang", "doc_lang"),
    "chapter": ("chapter",),
    "section": ("section",),
    "lang": ("lang", "language"),
    "answer_type": ("answer_type",),
    "evidence": ("evidence",),
    "key_numbers": ("key_numbers",),
    "tags": ("tags",),
    "metadata": ("metadata",),
}
_KINDS = {"answerable": True, "unanswerable": False}
_TYPES = ("", "span", "number", "long")


def parse_case(given: Mapping[str, Any], default_key: str) -> Case:
    """Raises InvalidInput, naming the field."""
    fields = _Fields(given)
    case = Case(
        key=fields.key(default_key),
        question=fields.text("question", MAX_QUESTION_CHARS, required=True),
        answers=fields.texts("answers", MAX_ANSWERS, MAX_TEXT),
        document=fields.text("document", MAX_NAME),
        pages=fields.pages(),
        chapter=fields.text("chapter", MAX_NAME),
        section=fields.text("section", MAX_NAME),
        answerable=fields.answerable(),
        answer_type=fields.answer_type(),
        lang=fields.text("lang", 16) or "en",
        document_lang=fields.text("document_lang", 16),
        evidence=fields.text("evidence", MAX_TEXT),
        key_numbers=tuple(fields.number(n, "key_numbers") for n in fields.items("key_numbers", MAX_ANSWERS)),
        relevant=fields.grades(),
        tags=fields.texts("tags", MAX_TAGS, MAX_KEY),
        metadata=fields.metadata(),
    )
    return _check_case(case)


def _check_case(case: Case) -> Case:
    if not case.answerable and (case.answers or case.relevant):
        field = "answers" if case.answers else "relevant"
        raise InvalidInput(f"a question that cannot be answered has no {field}.", field=field)
    told = (case.answers, case.document, case.pages, case.section, case.chapter, case.evidence, case.relevant)
    if case.answerable and not any(told):
        raise InvalidInput(
            "nothing says what a right answer is: give answers, document, pages, section or relevant, or "
            '"answerable": false.',
            field="answers",
        )
    return case


class _Fields:
    """One line's fields under whichever of their names. Everything raises InvalidInput naming the field."""

    def __init__(self, given: Mapping[str, Any]) -> None:
        self._given = given
        self._found = {field: self._named(names) for field, names in FIELD_NAMES.items()}
        self._used = {name for name, _ in self._found.values()}

    def _named(self, names: tuple[str, ...]) -> tuple[str, Any]:
        """The first of the names that is given, with its value; null is not given."""
        held = [(name, self._given[name]) for name in names if self._given.get(name) is not None]
        return held[0] if held else (names[0], None)

    def key(self, default: str) -> str:
        name, value = self._found["id"]
        if isinstance(value, int) and not isinstance(value, bool):
            value = str(value)
        return self._text(name, value, MAX_KEY) or default

    def text(self, field: str, most: int, *, required: bool = False) -> str:
        name, value = self._found[field]
        if required and value is None:
            raise InvalidInput(f"{name} is required.", field=name)
        text = self._text(name, value, most)
        if required and is_blank(text):
            raise InvalidInput(f"{name} must not be blank.", field=name)
        return text

    def texts(self, field: str, most: int, longest: int) -> tuple[str, ...]:
        name = self._found[field][0]
        return tuple(dict.fromkeys(self._text(name, item, longest) for item in self.items(field, most)))

    def items(self, field: str, most: int) -> list[Any]:
        """A list, or one value for a list of one."""
        name, value = self._found[field]
        items = value if isinstance(value, list) else [] if value is None else [value]
        if len(items) > most:
            raise InvalidInput(f"{name} must have at most {most} entries.", field=name)
        if any(item is None or item == "" for item in items):
            raise InvalidInput(f"{name} must not have empty entries.", field=name)
        return items

    def number(self, value: Any, name: str) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise InvalidInput(f"{name} must be numbers.", field=name)
        if abs(value) > MAX_NUMBER:  # an integer of JSON may be longer than a float can tell
            raise InvalidInput(f"{name} must be numbers of at most {MAX_NUMBER:.0e}.", field=name)
        return float(value)

    def pages(self) -> tuple[int, ...]:
        name, pages = self._found["pages"][0], self.items("pages", MAX_PAGES)
        for page in pages:
            if isinstance(page, bool) or not isinstance(page, int) or not 1 <= page <= MAX_PAGE:
                raise InvalidInput(f"{name} must be page numbers, from 1.", field=name)
        return tuple(pages)

    def answerable(self) -> bool:
        name, value = self._found["answerable"]
        if value is None:
            return True
        if name == "kind":
            if not isinstance(value, str) or value not in _KINDS:
                raise InvalidInput("kind must be answerable or unanswerable.", field=name)
            return _KINDS[value]
        if not isinstance(value, bool):
            raise InvalidInput(f"{name} must be true or false.", field=name)
        return value is (name == "answerable")

    def answer_type(self) -> AnswerType:
        value = self.text("answer_type", 16)
        if value not in _TYPES:
            raise InvalidInput("answer_type must be span, number or long.", field="answer_type")
        return cast(AnswerType, value)

    def grades(self) -> dict[str, float]:
        """Grades above 0: what was judged and found irrelevant counts like what was not judged."""
        name, value = self._found["relevant"]
        if isinstance(value, list):
            value = dict.fromkeys(self.texts("relevant", MAX_GRADES, MAX_NAME), 1)
        if value is not None and not isinstance(value, dict):
            raise InvalidInput(f"{name} must be an object of grades by document.", field=name)
        if len(value or {}) > MAX_GRADES:
            raise InvalidInput(f"{name} must have at most {MAX_GRADES} entries.", field=name)
        grades = {
            self._text(name, key, MAX_NAME): self.number(grade, name) for key, grade in (value or {}).items()
        }
        if any(grade > MAX_GRADE for grade in grades.values()):
            raise InvalidInput(f"{name} must have grades of at most {MAX_GRADE}.", field=name)
        if "" in grades:
            raise InvalidInput(f"{name} must not name an empty document.", field=name)
        return {key: grade for key, grade in grades.items() if grade > 0}

    def metadata(self) -> dict[str, Any]:
        """What stands under `metadata`, and every field that has no meaning here."""
        name, value = self._found["metadata"]
        if value is not None and not isinstance(value, dict):
            raise InvalidInput("metadata must be an object.", field=name)
        others = {
            key: item for key, item in self._given.items() if key not in self._used and item is not None
        }
        return {**others, **(value or {})}

    @staticmethod
    def _text(name: str, value: Any, most: int) -> str:
        if value is None:
            return ""
        if not isinstance(value, str):
            raise InvalidInput(f"{name} must be a string.", field=name)
        if len(value) > most:
            raise InvalidInput(f"{name} must have at most {most} characters.", field=name)
        return check_storable(value, name)


MAX_QUESTIONS = 10_000
MAX_LINE_BYTES = 256 * 1024


def parse_lines(lines: Iterable[bytes]) -> Iterator[Case]:
    """The questions in order; blank lines count as lines only.

    Raises InvalidInput; its `details` name the `line` (from 1) and, where there is one, the `field`.
    """
    return _parse_cases((number, _parse_line(line, number)) for number, line in _number_lines(lines))


def parse_objects(objects: Iterable[Any]) -> Iterator[Case]:
    """The same of parsed JSON values; `line` is the place in the list, from 1."""
    return _parse_cases(enumerate(objects, start=1))


def case_to_json(case: Case) -> dict[str, Any]:
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


def _number_lines(lines: Iterable[bytes]) -> Iterator[tuple[int, bytes]]:
    for number, line in enumerate(lines, start=1):
        if len(line) > MAX_LINE_BYTES:
            raise _line_error(number, None, f"is longer than {MAX_LINE_BYTES // 1024} KB.")
        line = line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line
        if line.strip():
            yield number, line


def _parse_line(line: bytes, number: int) -> Any:
    try:
        return parse_json(line)
    except InvalidInput as exc:
        reason = exc.message.replace("Request body ", "").replace(" (line 1, column", " (column")
        raise _line_error(number, exc.field, reason) from None


def _parse_cases(objects: Iterable[tuple[int, Any]]) -> Iterator[Case]:
    seen: dict[str, int] = {}
    for number, value in objects:
        if len(seen) == MAX_QUESTIONS:
            raise _line_error(number, None, f"is one too many: a set has at most {MAX_QUESTIONS} questions.")
        if not isinstance(value, dict):
            raise _line_error(number, None, "is not a JSON object.")
        try:
            case = parse_case(value, str(number))
        except InvalidInput as exc:
            raise _line_error(number, exc.field, exc.message) from None
        if case.key in seen:
            raise _line_error(number, "id", f"has the id of line {seen[case.key]}, {case.key[:80]!r}.")
        seen[case.key] = number
        yield case
    if not seen:
        raise InvalidInput("There is no question in it.", field="questions")


def _line_error(number: int, field: str | None, reason: str) -> InvalidInput:
    error = InvalidInput(f"Line {number}: {reason}" if field else f"Line {number} {reason}", field=field)
    error.details["line"] = number
    return error
