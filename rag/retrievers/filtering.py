"""Filters as one condition of SQL on a chunk and its document, the same for every mode; parameters only."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from psycopg.sql import SQL, Composed

from documents.access import condition_on_readers
from rag.types.question import Filters, FilterValue, MetadataFilter, Question

_Given: TypeAlias = tuple[str, str, dict[str, Any]]  # name, condition, parameters
_DAY_LENGTH = len("2026-01-31")

# The chunks that may be found: the collections read, and no version in the making.
_PASSING = SQL("""
    SELECT c.id FROM documents_chunk c JOIN documents_document d ON d.id = c.document_id
    WHERE d.collection_id = ANY(%(collections)s) AND d.replaces_id IS NULL{conditions}
""")
# A scalar subquery: of EXISTS the planner makes a join with all that pass, before it looks at an index.
_IS_PASSING = SQL("""
    AND (SELECT true FROM documents_chunk c JOIN documents_document d ON d.id = c.document_id
        WHERE c.id = {chunk}{conditions})
""")


@dataclass(frozen=True, slots=True)
class Condition:
    """conditions: on the aliases c (chunk) and d (document), each with its AND; "" for all chunks.

    It depends on which filters are given, never on their values, which are in `parameters`. named: each
    filter's name and condition.
    """

    conditions: str = ""
    parameters: dict[str, Any] = field(default_factory=dict)
    named: tuple[tuple[str, str], ...] = ()

    def __bool__(self) -> bool:
        return bool(self.conditions)


def select_passing_chunks(conditions: str) -> Composed:
    """SELECT of the ids of all chunks that pass."""
    return _PASSING.format(conditions=SQL(conditions))


def passing_condition(conditions: str, chunk: str) -> Composed | SQL:
    """Return the condition on a column that holds a chunk's id, with its AND."""
    return _IS_PASSING.format(chunk=SQL(chunk), conditions=SQL(conditions)) if conditions else SQL("")


def condition_of(question: Question) -> Condition:
    """Return the condition of the question's filters, and of permissions where these could hide anything."""
    return build_condition(question.filters, question.principals)


def read_parameters(question: Question) -> dict[str, Any]:
    """Return `principals`, by which the end of each statement looks once more at what it is about to show."""
    return {"principals": None if question.principals is None else list(question.principals)}


def build_condition(filters: Filters, principals: Sequence[str] | None = ()) -> Condition:
    given = [*_of_document(filters), *_of_metadata(filters), *_of_chunk(filters)]
    if principals:
        given.append(("permissions", condition_on_readers("d.readers"), {"principals": list(principals)}))
    parameters: dict[str, Any] = {}
    for _, _, values in given:
        parameters |= values
    named = tuple((name, sql) for name, sql, _ in given)
    return Condition("".join(f" AND {sql}" for _, sql in named), parameters, named)


def _of_document(filters: Filters) -> Iterator[_Given]:
    if filters.document_ids is not None:
        yield "documents", "d.id = ANY(%(f_documents)s)", {"f_documents": list(filters.document_ids)}
    if filters.created_from is not None:
        since = "d.created_at >= (%(f_from)s::date)::timestamp AT TIME ZONE 'UTC'"
        yield "date_range", since, {"f_from": filters.created_from}
    if filters.created_until is not None:
        until = "d.created_at < (%(f_until)s::date + 1)::timestamp AT TIME ZONE 'UTC'"
        yield "date_range", until, {"f_until": filters.created_until}
    if filters.tags:
        wanted = MetadataFilter("tags", any_of=filters.tags)
        yield "tags", "d.metadata @@ %(f_tags)s::jsonpath", {"f_tags": _predicate(wanted, ("$",))}


def _of_metadata(filters: Filters) -> Iterator[_Given]:
    for n, wanted in enumerate(filters.metadata):
        condition = f"d.metadata @@ %(f_metadata{n})s::jsonpath"
        yield f"metadata.{wanted.key}", condition, {f"f_metadata{n}": _predicate(wanted)}


def _of_chunk(filters: Filters) -> Iterator[_Given]:
    if filters.page_from is not None:
        yield (
            "page",
            "coalesce(c.last_page, c.page_number) >= %(f_page_from)s",
            {"f_page_from": filters.page_from},
        )
    if filters.page_to is not None:
        yield "page", "c.page_number <= %(f_page_to)s", {"f_page_to": filters.page_to}
    if filters.chapters:
        yield (
            "chapter",
            "c.chapter <> '' AND c.chapter = ANY(%(f_chapters)s)",
            {"f_chapters": list(filters.chapters)},
        )
    if filters.sections:
        yield (
            "section",
            "c.section <> '' AND c.section = ANY(%(f_sections)s)",
            {"f_sections": list(filters.sections)},
        )


def _predicate(wanted: MetadataFilter, places: tuple[str, ...] = ("$", "$.custom")) -> str:
    """Return a jsonpath predicate, true where the key holds such a value or a list with one.

    Equality is of value and JSON type. The GIN index serves what is equal; ranges are looked at one by one.
    A day as the upper bound takes in the times of that day.
    """
    tests = []
    if wanted.any_of:
        tests.append("(" + " || ".join(f"@ == {_literal(value)}" for value in wanted.any_of) + ")")
    if wanted.at_least is not None:
        tests.append(f"@ >= {_literal(wanted.at_least)}")
    if wanted.at_most is not None:
        tests.append(_at_most(wanted.at_most))
    key, test = json.dumps(wanted.key), " && ".join(tests)
    return " || ".join(f"exists({place}.{key}[*] ? ({test}))" for place in places)


def _at_most(value: FilterValue) -> str:
    literal = _literal(value)
    if isinstance(value, str) and len(value) == _DAY_LENGTH:
        return f"(@ <= {literal} || @ starts with {literal})"
    return f"@ <= {literal}"


def _literal(value: FilterValue) -> str:
    """JSON's own notation is jsonpath's."""
    return json.dumps(value)
