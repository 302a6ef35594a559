"""Question sets as JSON lines or objects, whose fields go by any of the names in use for them."""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Annotated, Any, get_args

from pydantic import AliasChoices, ConfigDict, Field, model_validator

from knowlex.base.errors import InvalidInput
from knowlex.web.fields import MAX_QUESTION_CHARS, is_blank
from knowlex.web.json_body import parse_json
from knowlex.web.shapes import InputShape, Rule, check_characters, object_rule, parse
from rag.evaluation.types import AnswerType, Case

MAX_KEY, MAX_NAME, MAX_TEXT = 255, 1000, 20_000
MAX_ANSWERS, MAX_PAGES, MAX_TAGS, MAX_GRADES = 50, 200, 50, 2000
MAX_PAGE, MAX_GRADE, MAX_NUMBER = 1_000_000, 1000, 1e100
_KINDS = {"answerable": True, "unanswerable": False}


def _text(value: Any, most: int) -> str:
    if not isinstance(value, str):
        raise ValueError("must be a string")
    if len(value) > most:
        raise ValueError(f"must have at most {most} characters")
    return check_characters(value)


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError("must be numbers")
    if abs(value) > MAX_NUMBER:  # an integer of JSON may be longer than a float can tell
        raise ValueError(f"must be numbers of at most {MAX_NUMBER:.0e}")
    return float(value)


def _page(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= MAX_PAGE:
        raise ValueError("must be page numbers, from 1")
    return value


def _items(value: Any, most: int) -> list[Any]:
    """Return a list, of one value a list of one."""
    items = value if isinstance(value, list) else [value]
    if len(items) > most:
        raise ValueError(f"must have at most {most} entries")
    if any(item is None or item == "" for item in items):
        raise ValueError("must not have empty entries")
    return items


def _check_key(value: Any) -> str:
    is_integer = isinstance(value, int) and not isinstance(value, bool)
    return _text(str(value) if is_integer else value, MAX_KEY)


def _check_question(value: Any) -> str:
    text = _text(value, MAX_QUESTION_CHARS)
    if is_blank(text):
        raise ValueError("must not be blank")
    return text


def _check_type(value: Any) -> str:
    if _text(value, 16) not in get_args(AnswerType):
        raise ValueError("must be span, number or long")
    return str(value)


def _check_grades(value: Any) -> dict[str, float]:
    """Return the grades above 0: what was judged and found irrelevant counts like what was not judged."""
    if isinstance(value, list):
        value = dict.fromkeys(_items(value, MAX_GRADES), 1)
    if not isinstance(value, dict):
        raise ValueError("must be an object of grades by document")
    if len(value) > MAX_GRADES:
        raise ValueError(f"must have at most {MAX_GRADES} entries")
    grades = {_text(key, MAX_NAME): _number(grade) for key, grade in value.items()}
    if any(grade > MAX_GRADE for grade in grades.values()):
        raise ValueError(f"must have grades of at most {MAX_GRADE}")
    if "" in grades:
        raise ValueError("must not name an empty document")
    return {key: grade for key, grade in grades.items() if grade > 0}


def _text_rule(most: int) -> Rule:
    return Rule(partial(_text, most=most), {"type": "string"})


def _list_rule(kind: str, most: int, read_item: Callable[[Any], Any]) -> Rule:
    def check(value: Any) -> tuple[Any, ...]:
        items = [read_item(item) for item in _items(value, most)]
        return tuple(dict.fromkeys(items)) if kind == "string" else tuple(items)

    return Rule(check, {"type": "array", "items": {"type": kind}})


class EvaluationQuestion(InputShape):  # its fields' other names are those of BEIR, SQuAD and their kin
    model_config = ConfigDict(extra="allow")

    id: Annotated[
        str,
        Rule(_check_key, {"type": "string"}),
        Field(
            validation_alias=AliasChoices("id", "_id", "key"),
            description="Unique in the set; else its place. Also `_id`, `key`.",
        ),
    ] = ""
    question: Annotated[
        str,
        Rule(_check_question, {"type": "string", "maxLength": MAX_QUESTION_CHARS}),
        Field(
            validation_alias=AliasChoices("question", "query", "text"), description="Also `query`, `text`."
        ),
    ]
    answerable: Annotated[bool, Field(description="Also `kind`: answerable or unanswerable.")] = True
    answers: Annotated[
        tuple[str, ...],
        _list_rule("string", MAX_ANSWERS, partial(_text, most=MAX_TEXT)),
        Field(
            validation_alias=AliasChoices("answers", "answer"),
            description="Each of them right. Also `answer`.",
        ),
    ] = ()
    document: Annotated[
        str,
        _text_rule(MAX_NAME),
        Field(
            validation_alias=AliasChoices("document", "doc", "document_id", "source_file", "file"),
            description="File name, that without its ending, title or id. Also `doc`, `source_file`.",
        ),
    ] = ""
    pages: Annotated[
        tuple[int, ...],
        _list_rule("integer", MAX_PAGES, _page),
        Field(validation_alias=AliasChoices("pages", "page"), description="From 1. Also `page`."),
    ] = ()
    chapter: Annotated[str, _text_rule(MAX_NAME)] = ""
    section: Annotated[str, _text_rule(MAX_NAME)] = ""
    relevant: Annotated[
        dict[str, float],
        Rule(_check_grades, {"type": "object", "additionalProperties": {"type": "number"}}),
        Field(
            validation_alias=AliasChoices("relevant", "qrels"),
            description="Grades by document, named as in `document`, or by chunk id. Also `qrels`.",
        ),
    ] = {}
    answer_type: Annotated[
        AnswerType, Rule(_check_type, {"type": "string", "enum": ["span", "number", "long"]})
    ] = ""
    lang: Annotated[str, _text_rule(16), Field(validation_alias=AliasChoices("lang", "language"))] = ""
    document_lang: Annotated[
        str, _text_rule(16), Field(validation_alias=AliasChoices("document_lang", "doc_lang"))
    ] = ""
    evidence: Annotated[str, _text_rule(MAX_TEXT)] = ""
    key_numbers: Annotated[tuple[float, ...], _list_rule("number", MAX_ANSWERS, _number)] = ()
    tags: Annotated[tuple[str, ...], _list_rule("string", MAX_TAGS, partial(_text, most=MAX_KEY))] = ()
    metadata: Annotated[dict[str, Any], object_rule({"type": "object", "additionalProperties": True})] = {}

    @model_validator(mode="before")
    @classmethod
    def _read_other_forms(cls, given: dict[str, Any]) -> dict[str, Any]:
        """Leave out what is null; say by `answerable` what `unanswerable` or `kind` says in its place."""
        fields = {name: value for name, value in given.items() if value is not None}
        if "answerable" in fields:
            return fields
        if "unanswerable" in fields:
            if not isinstance(fields["unanswerable"], bool):
                raise InvalidInput("unanswerable must be true or false.", field="unanswerable")
            fields["answerable"] = not fields.pop("unanswerable")
        elif "kind" in fields:
            kind = fields.pop("kind")
            if not isinstance(kind, str) or kind not in _KINDS:
                raise InvalidInput("kind must be answerable or unanswerable.", field="kind")
            fields["answerable"] = _KINDS[kind]
        return fields

    @model_validator(mode="after")
    def _check_answers(self) -> "EvaluationQuestion":
        if not self.answerable and (self.answers or self.relevant):
            field = "answers" if self.answers else "relevant"
            raise InvalidInput(f"a question that cannot be answered has no {field}.", field=field)
        expected = (
            self.answers, self.document, self.pages, self.section, self.chapter, self.evidence, self.relevant
        )  # fmt: skip
        if self.answerable and not any(expected):
            raise InvalidInput(
                "nothing says what a right answer is: give answers, document, pages, section or relevant, or "
                '"answerable": false.',
                field="answers",
            )
        return self


def _parse_case(given: dict[str, Any], default_key: str) -> Case:
    """Raises InvalidInput, naming the field."""
    question = parse(EvaluationQuestion, given)
    fields = {name: getattr(question, name) for name in EvaluationQuestion.model_fields if name != "id"}
    fields["lang"] = question.lang or "en"
    fields["metadata"] = {**(question.model_extra or {}), **question.metadata}
    return Case(key=question.id or default_key, **fields)


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
    """Return the question as an object that `parse_objects` reads back as the same, without what is empty."""
    fields: dict[str, Any] = {"id": case.key}
    for name in EvaluationQuestion.model_fields:
        if name != "id":
            value = getattr(case, name)
            fields[name] = list(value) if isinstance(value, tuple) else value
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
            case = _parse_case(value, str(number))
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
