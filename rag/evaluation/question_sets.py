"""What can be done with question sets. No HTTP in here."""

from collections.abc import Iterable, Iterator
from dataclasses import asdict, fields
from typing import Any, TypeVar
from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models import Model, QuerySet

from documents.access import Access
from documents.library.collections import find_collection
from documents.models import Collection
from knowlex.base.errors import Duplicate, Forbidden, InvalidInput, NotFound
from knowlex.db.threads import with_retries
from knowlex.web.fields import check_storable, is_blank
from knowlex.web.pagination import After, Page, paged
from rag.evaluation.types import Case
from rag.models import QuestionSet, SetQuestion

M = TypeVar("M", bound=Model)
MAX_NAME, MAX_DESCRIPTION = 255, 10_000
ROWS_PER_INSERT = 500
_FIELDS = [field.name for field in fields(Case)]
_TUPLES = ("answers", "pages", "key_numbers", "tags")


def create_set(
    *,
    access: Access,
    name: str,
    cases: Iterable[Case],
    description: str = "",
    collection: str | None = None,
    replace: bool = False,
) -> QuestionSet:
    """Create a set, whole or not at all.

    collection: name or id of the one that the questions are about; a key that is bound to collections must
    name one of them. replace: the set that has the name, and its evaluations, go for it.
    Raises Duplicate, InvalidInput, NotFound, Forbidden, DatabaseUnavailable.
    """
    access.require("write")
    made = QuestionSet(name=check_name(name), description=_check_description(description))
    made.collection = _collection(collection, access)
    held = list(cases)  # 10,000 at most; no transaction stays open while a body is read
    try:
        with_retries(lambda: _store(made, held, access if replace else None))
    except IntegrityError as exc:
        known = QuestionSet.objects.filter(name=made.name).values_list("id", flat=True).first()
        if known is None:
            raise NotFound("Collection not found.", details={"field": "collection"}) from exc
        if known != made.id:  # else our own earlier COMMIT arrived, only its answer was lost
            message = "A question set with this name exists already."
            raise Duplicate(message, details={"field": "name"}) from exc
    return made


def get_set(name_or_id: str, *, access: Access) -> QuestionSet:
    """Return a set. Raises NotFound, also for one that the caller may not see."""
    rows = QuestionSet.objects.allowed_to(access).select_related("collection")
    check_storable(name_or_id, "question_set")
    found = with_retries(lambda: list(rows.named(name_or_id)[:2]))
    if not found:
        raise NotFound("Question set not found.", details={"field": "question_set"})
    return next((one for one in found if one.name == name_or_id), found[0])


def list_sets(*, access: Access, page: Page, q: str = "") -> tuple[list[QuestionSet], After | None]:
    """Return one page of those that the caller may see, in one statement."""
    rows = QuestionSet.objects.allowed_to(access).select_related("collection")
    return with_retries(lambda: paged(rows.holding(q) if q else rows, page))


def delete_set(set_id: UUID, *, access: Access) -> int:
    """Delete a set with its evaluations; return how many questions went. Raises NotFound, Forbidden."""
    access.require("write")
    found = get_set(str(set_id), access=access)
    access.require("write", found.collection_id)
    with_retries(lambda: QuestionSet.objects.filter(id=set_id).delete())
    return found.question_count


def list_questions(found: QuestionSet, *, page: Page) -> tuple[list[Case], After | None]:
    """Return one page of its questions, sorted by `position`."""
    rows, after = page_by_position(SetQuestion.objects.filter(question_set=found), page)
    return [_build_case(row) for row in rows], after


def fetch_cases(set_id: UUID, *, start: int = 0, limit: int | None = None) -> list[Case]:
    """Fetch questions in their order, from the position `start` on."""
    rows = SetQuestion.objects.filter(question_set=set_id, position__gte=start).order_by("position")
    return [_build_case(row) for row in with_retries(lambda: list(rows if limit is None else rows[:limit]))]


def iterate_cases(question_set: QuestionSet) -> Iterator[Case]:
    """Yield all questions of a set, fetched some hundreds at a time."""
    for start in range(0, question_set.question_count, ROWS_PER_INSERT):
        yield from fetch_cases(question_set.id, start=start, limit=ROWS_PER_INSERT)


def page_by_position(rows: QuerySet[M], page: Page) -> tuple[list[M], After | None]:
    """Return one page, as `paged`, of rows whose `position` alone orders them."""
    if page.after is not None:
        rows = rows.filter(**{f"position__{'lt' if page.descending else 'gt'}": page.after[0]})
    rows = rows.order_by("-position" if page.descending else "position")
    found = with_retries(lambda: list(rows[: page.limit + 1]))
    last: Any = found[page.limit - 1] if len(found) > page.limit else None
    return found[: page.limit], None if last is None else (last.position, UUID(int=0))


def check_name(name: str) -> str:
    """Return the name without white space around it. Raises InvalidInput."""
    name = check_storable(name, "name").strip()
    if not 0 < len(name) <= MAX_NAME or is_blank(name):
        raise InvalidInput(f"name must be non-blank and at most {MAX_NAME} characters.", field="name")
    try:
        UUID(name)
    except ValueError:
        return name
    raise InvalidInput("name must not look like a UUID.", field="name")


def _check_description(text: str) -> str:
    if len(check_storable(text, "description")) > MAX_DESCRIPTION:
        raise InvalidInput(f"description must be at most {MAX_DESCRIPTION} characters.", field="description")
    return text


def _collection(name_or_id: str | None, access: Access) -> Collection | None:
    if name_or_id is not None:
        collection = find_collection(name_or_id, access=access)
        access.require("write", collection.id)
        return collection
    if access.collection_ids is not None:
        who = "An API key that is bound to collections" if access.user_id is None else "Your account"
        raise Forbidden(
            f"{who} must name the one that the questions are about.", details={"field": "collection"}
        )
    return None


@transaction.atomic
def _store(made: QuestionSet, cases: list[Case], replacing: Access | None) -> None:
    if replacing is not None:
        former = QuestionSet.objects.allowed_to(replacing).filter(name=made.name).first()
        if former is not None:
            replacing.require("write", former.collection_id)
            former.delete()
    made.question_count = len(cases)
    made.save(force_insert=True)
    rows = (SetQuestion(question_set=made, position=n, **_columns(case)) for n, case in enumerate(cases))
    SetQuestion.objects.bulk_create(rows, batch_size=ROWS_PER_INSERT)


def _columns(case: Case) -> dict[str, object]:
    columns = asdict(case)
    return columns | {name: list(columns[name]) for name in _TUPLES}


def _build_case(row: SetQuestion) -> Case:
    values: dict[str, Any] = {name: getattr(row, name) for name in _FIELDS}
    return Case(**values | {name: tuple(values[name]) for name in _TUPLES})
