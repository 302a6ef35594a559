"""Lists page by page: by a cursor that names the last row seen, so nothing shifts when rows come or go."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeVar, cast
from uuid import UUID

from django.core.signing import BadSignature, Signer
from django.db.models import Model, Q, QuerySet

from knowlex.base.errors import InvalidInput
from knowlex.web.fields import int_parameter

M = TypeVar("M", bound=Model)
After = tuple[Any, UUID]  # of the last row seen: what it is sorted by, and its id

MAX_LIMIT, DEFAULT_LIMIT = 100, 50
_NOT_OURS = "cursor is not one that this list gave out."


@dataclass(frozen=True, slots=True)
class Page:
    """Which rows a client wants to see. after: None for the first page."""

    limit: int = DEFAULT_LIMIT
    sort: str = "created_at"
    descending: bool = True
    after: After | None = None


def read_page(parameters: Mapping[str, Any], *, of: str, sorts: Sequence[str], default: str) -> Page:
    """Read `limit`, `sort` (`name`, or `-name`: descending), `order` (asc, desc) and `cursor`.

    of: what is listed; a cursor serves one list in one order only, which it brings along.
    Raises InvalidInput.
    """
    limit = int_parameter(parameters.get("limit"), "limit", low=1, high=MAX_LIMIT, default=DEFAULT_LIMIT)
    cursor = parameters.get("cursor")
    if not cursor:
        sort, descending = _read_order(parameters, sorts, default)
        return Page(limit, sort, descending)
    sort, descending, after = _read_cursor(cursor, of)
    if ("sort" in parameters or "order" in parameters) and _read_order(parameters, sorts, default) != (
        sort,
        descending,
    ):
        raise InvalidInput("cursor belongs to a list in another order.", field="cursor")
    return Page(limit, sort, descending, after)


def next_cursor(page: Page, after: After | None, *, of: str) -> str | None:
    """Return the cursor of the next page, None if there is none. It is signed: nobody makes one up."""
    if after is None:
        return None
    value, id_ = after
    kind = "time" if isinstance(value, datetime) else "plain"
    plain = value.isoformat() if isinstance(value, datetime) else value
    return _signer(of).sign_object([page.sort, page.descending, kind, plain, str(id_)])


def sign_text_cursor(after: tuple[str, str], *, of: str) -> str:
    """Return the cursor of a list that is in one order only, of rows without a UUID."""
    return _signer(of).sign_object(list(after))


def read_text_cursor(cursor: str, *, of: str) -> tuple[str, str]:
    """Return what `sign_text_cursor` was given. Raises InvalidInput."""
    try:
        value, id_ = _signer(of).unsign_object(cursor)
    except (BadSignature, ValueError, TypeError):
        raise InvalidInput(_NOT_OURS, field="cursor") from None
    return str(value), str(id_)


def paged(rows: QuerySet[M], page: Page, *more: QuerySet[Any]) -> tuple[list[M], After | None]:
    """Return one page of the rows, and its last row's place if more follow. One statement.

    more: rows of the same columns that stand among them; an index can serve each by itself.
    """
    first, *others = (_from_cursor(some, page) for some in (rows, *more))
    found = list(_cut(first.union(*others, all=True), page) if others else first)
    if len(found) <= page.limit:
        return found, None
    last = found[page.limit - 1]
    return found[: page.limit], (getattr(last, page.sort), cast(UUID, last.pk))


def _from_cursor(rows: QuerySet[M], page: Page) -> QuerySet[M]:
    if page.after is not None:
        rows = rows.filter(_after(page.sort, page.descending, page.after))
    return _cut(rows, page)


def _cut(rows: QuerySet[M], page: Page) -> QuerySet[M]:
    sign = "-" if page.descending else ""
    return rows.order_by(sign + page.sort, sign + "id")[: page.limit + 1]


def _after(sort: str, descending: bool, after: After) -> Q:
    value, id_ = after
    sign = "lt" if descending else "gt"
    # The first condition says nothing new, but an index can serve it.
    return Q(**{f"{sort}__{sign}e": value}) & (Q(**{f"{sort}__{sign}": value}) | Q(**{f"id__{sign}": id_}))


def _read_order(parameters: Mapping[str, Any], sorts: Sequence[str], default: str) -> tuple[str, bool]:
    given = str(parameters.get("sort", default))
    sort, descending = given.removeprefix("-"), given.startswith("-")
    if sort not in sorts:
        raise InvalidInput(f"sort must be one of {', '.join(sorts)}, with - for descending.", field="sort")
    order = parameters.get("order")
    if order is None:
        return sort, descending
    if order not in ("asc", "desc"):
        raise InvalidInput("order must be asc or desc.", field="order")
    return sort, order == "desc"


def _read_cursor(cursor: str, of: str) -> tuple[str, bool, After]:
    try:
        sort, descending, kind, value, id_ = _signer(of).unsign_object(cursor)
    except (BadSignature, ValueError, TypeError):
        raise InvalidInput(_NOT_OURS, field="cursor") from None
    return sort, descending, (datetime.fromisoformat(value) if kind == "time" else value, UUID(id_))


def _signer(of: str) -> Signer:
    return Signer(sep=".", salt=f"knowlex.cursor.{of}")
