"""Lists page by page: by a cursor that names the last row seen, so nothing shifts when rows come or go."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, ClassVar, TypeVar, cast
from uuid import UUID

from django.core.signing import BadSignature, Signer
from django.db.models import Model, Q, QuerySet
from pydantic import Field
from pydantic.json_schema import SkipJsonSchema

from knowlex.base.errors import InvalidInput
from knowlex.web.shapes import InputShape, Rule, number_text

M = TypeVar("M", bound=Model)
After = tuple[Any, UUID]  # of the last row seen: what it is sorted by, and its id

MAX_LIMIT, DEFAULT_LIMIT = 100, 50
_NOT_OURS = "cursor is not one that this list gave out."


@dataclass(frozen=True, slots=True)
class Page:
    """Which rows a client wants to see. after: None for the first page. of: what is listed."""

    limit: int = DEFAULT_LIMIT
    sort: str = "created_at"
    descending: bool = True
    after: After | None = None
    of: str = ""

    def next_cursor(self, after: After | None) -> str | None:
        """Return the cursor of the next page, None if there is none. It is signed: nobody makes one up."""
        if after is None:
            return None
        value, id_ = after
        kind = "time" if isinstance(value, datetime) else "plain"
        plain = value.isoformat() if isinstance(value, datetime) else value
        return _signer(self.of).sign_object([self.sort, self.descending, kind, plain, str(id_)])


def sorting(*names: str) -> Rule:
    """Check a name to sort by, with - before it for descending."""

    def check(value: str) -> str:
        if value.removeprefix("-") not in names:
            raise ValueError(f"must be one of {', '.join(names)}, with - for descending")
        return value

    orders = [order for name in names for order in (name, f"-{name}")]
    return Rule(check, {"type": "string", "enum": orders, "description": "With - for descending."})


def _check_order(value: str) -> str:
    if value not in ("asc", "desc"):
        raise ValueError("must be asc or desc")
    return value


class PageParameters(InputShape):
    """The parameters of a list that comes in pages. A subclass says what it can be sorted by."""

    default_sort: ClassVar[str] = "-created_at"

    limit: Annotated[int, number_text(1, MAX_LIMIT)] = DEFAULT_LIMIT
    cursor: Annotated[str, Field(description="`next_cursor` of the page before.")] = ""
    sort: Annotated[str, sorting("created_at")] = ""
    order: SkipJsonSchema[Annotated[str, Rule(_check_order, {})]] = ""

    def page(self, of: str) -> Page:
        """Return the page. of: what is listed; a cursor serves one list in one order, which it brings along.

        Raises InvalidInput.
        """
        wanted = self._order()
        if not self.cursor:
            return Page(self.limit, *wanted, of=of)
        sort, descending, after = _read_cursor(self.cursor, of)
        if self.model_fields_set & {"sort", "order"} and wanted != (sort, descending):
            raise InvalidInput("cursor belongs to a list in another order.", field="cursor")
        return Page(self.limit, sort, descending, after, of)

    def _order(self) -> tuple[str, bool]:
        """Return what to sort by, and whether descending."""
        sort = self.sort or self.default_sort
        descending = self.order == "desc" if self.order else sort.startswith("-")
        return sort.removeprefix("-"), descending


class PositionParameters(PageParameters):
    """The parameters of a list that its rows' positions put in order."""

    default_sort = "position"
    sort: Annotated[str, sorting("position")] = ""


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


def _read_cursor(cursor: str, of: str) -> tuple[str, bool, After]:
    try:
        sort, descending, kind, value, id_ = _signer(of).unsign_object(cursor)
    except (BadSignature, ValueError, TypeError):
        raise InvalidInput(_NOT_OURS, field="cursor") from None
    return sort, descending, (datetime.fromisoformat(value) if kind == "time" else value, UUID(id_))


def _signer(of: str) -> Signer:
    return Signer(sep=".", salt=f"knowlex.cursor.{of}")
