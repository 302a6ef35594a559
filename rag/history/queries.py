"""Past questions: listed, explained, deleted. Not for an event loop; see rag.answering.replay for that."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeVar
from uuid import UUID

from django.conf import settings
from django.db.models import BooleanField, Case, Count, Exists, OuterRef, Q, Subquery, Value, When
from django.db.models.functions import Coalesce, JSONObject, NullIf

from documents.access import Access
from documents.library.collections import find_collection
from documents.models import Chunk, Collection, Document
from knowlex.base.errors import DatabaseUnavailable, NotFound
from knowlex.db.threads import execute, with_retries
from knowlex.web.pagination import After, Page, paged
from rag.history import recorder
from rag.history.recorder import flush_all_loops, is_pending
from rag.models import Citation, Feedback, Query, Response, Retrieval

AT_ONCE, BATCHES = 500, 4

_DELETE_OLD = """
    DELETE FROM rag_query WHERE id IN (
        SELECT id FROM rag_query WHERE created_at < now() - make_interval(days => %s)
        ORDER BY created_at LIMIT %s FOR UPDATE SKIP LOCKED
    ) RETURNING 1
"""


def delete_old_queries() -> int:
    """Delete queries that are older than the settings say, some thousands at most; return how many."""
    count = 0
    for _ in range(BATCHES):
        gone = len(with_retries(lambda: execute(_DELETE_OLD, [settings.QUERY_RETENTION_DAYS, AT_ONCE])))
        count += gone
        if gone < AT_ONCE:
            break
    return count


T = TypeVar("T")
NOT_WRITTEN_YET = "The record of this question is not written yet."


@dataclass(frozen=True, slots=True)
class QueryCriteria:
    """Which queries a list shows; None does not restrict. since, until: of `created_at`, until excluded.

    collection: name or id of one that they read.
    """

    conversation_id: str | None = None
    answered: bool | None = None
    rating: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    collection: str | None = None


@dataclass(frozen=True, slots=True)
class QueryDetails:
    """All that is known of a query. response: None if it failed.

    citations and retrievals carry `status`: current; replaced (the document has a newer version); gone
    (deleted); and `document_name` where it is still there. retrievals: in the order that they were judged in,
    then neighbours; with `title` and `page_number` where they are still there.
    """

    query: Query
    response: Response | None
    citations: list[Any]
    retrievals: list[Any]
    collections: list[Collection]
    own_feedback: Feedback | None


def list_queries(*, access: Access, page: Page, wanted: QueryCriteria) -> tuple[list[Query], After | None]:
    """Return one page of those that the caller may see, with `response` and ratings; one statement.

    Raises NotFound, Forbidden (the collection), DatabaseUnavailable.
    """
    rows = with_ratings(Query.objects.allowed_to(access)).select_related("response")
    rows = rows.filter(_build_condition(wanted, access))
    rows = rows.rated(wanted.rating) if wanted.rating else rows
    flush_all_loops()
    return with_retries(lambda: paged(rows, page))


def get_query(query_id: UUID, *, access: Access, caller: str = "") -> QueryDetails:
    """Return a query with the caller's feedback. Raises NotFound, also for one that the caller may not
    see.
    """
    rows = with_ratings(Query.objects.allowed_to(access)).select_related("response")
    query = _find(query_id, rows.filter(id=query_id).first)
    return with_retries(lambda: _load_details(query, caller))


def ensure_visible(query_id: UUID, *, access: Access) -> None:
    """Raise NotFound unless the caller may see the query."""
    _find(query_id, lambda: Query.objects.allowed_to(access).filter(id=query_id).exists() or None)


def delete_query(query_id: UUID, *, access: Access) -> None:
    """Delete a query with all that belongs to it. Raises NotFound, Forbidden."""
    access.require("write")
    ensure_visible(query_id, access=access)
    with_retries(lambda: Query.objects.filter(id=query_id).delete())


def query_not_found(query_id: UUID) -> NotFound:
    """Make the error; it says so where nothing is recorded at all."""
    why = "" if settings.QUERY_LOG else " (questions are not recorded here: KNOWLEX_QUERY_LOG is off)"
    return NotFound(f"Query not found: {query_id}{why}")


def _find(query_id: UUID, find: Callable[[], T | None]) -> T:
    """Find a query that may not be written yet. Whoever has an answer finds its query, though it is written
    after the answer.

    Raises NotFound; DatabaseUnavailable where it is known and cannot be written.
    """
    flush_all_loops()
    for left_s in recorder.lookup_delays(query_id):
        if (found := with_retries(find)) is not None:
            return found
        if is_pending(query_id):
            raise DatabaseUnavailable(NOT_WRITTEN_YET, retry_after_s=2)
        time.sleep(left_s)
    raise query_not_found(query_id)


def _build_condition(wanted: QueryCriteria, access: Access) -> Q:
    """Build the condition. Raises NotFound, Forbidden."""
    conditions: dict[str, Any] = {
        "conversation_id": wanted.conversation_id,
        "answered": wanted.answered,
        "created_at__gte": wanted.since,
        "created_at__lt": wanted.until,
    }
    chosen = Q(**{name: value for name, value in conditions.items() if value is not None})
    if wanted.collection is not None:
        chosen &= Q(collection_ids__contains=[find_collection(wanted.collection, access=access).id])
    return chosen


def with_ratings(rows: Any) -> Any:
    """Add `thumbs_up` and `thumbs_down`: how many gave each."""
    of_query = Feedback.objects.filter(query=OuterRef("pk")).order_by().values("query")
    counts = {
        rating.value: Coalesce(Subquery(of_query.filter(rating=rating).values(n=Count("*"))), 0)
        for rating in Feedback.Rating
    }
    return rows.annotate(**counts)


def _load_details(query: Query, caller: str) -> QueryDetails:
    response = getattr(query, "response", None)
    cited = Citation.objects.filter(response=response) if response else Citation.objects.none()
    candidates = Retrieval.objects.filter(query=query)
    return QueryDetails(
        query,
        response,
        list(with_document_status(cited).order_by("position")),
        list(
            _with_position(with_document_status(candidates)).order_by(
                _LAST_WITHOUT_RANK, "rank", "context_number"
            )
        ),
        list(Collection.objects.filter(id__in=query.collection_ids)),
        Feedback.objects.filter(query=query, caller=caller).first(),
    )


_LAST_WITHOUT_RANK = Case(
    When(rank__isnull=True, then=Value(True)), default=Value(False), output_field=BooleanField()
)


def with_document_status(rows: Any) -> Any:
    """Add `status`, `document_name` and `checksum`: what became of the chunk and its document.

    where: the document's format, and chapter and section of the chunk; None once the chunk is gone.
    checksum: None once the version that was quoted is no longer there.
    """
    chunk = Chunk.objects.filter(id=OuterRef("chunk_id"))
    document = Document.objects.filter(id=OuterRef("document_id"))
    return rows.annotate(
        status=Case(
            When(~Exists(document), then=Value("gone")),
            When(~Exists(chunk), then=Value("replaced")),
            default=Value("current"),
        ),
        document_name=Subquery(document.values("original_filename")),
        checksum=Case(When(Exists(chunk), then=Subquery(document.values("checksum")))),
        where=Subquery(
            chunk.values(
                place=JSONObject(source="document__source", chapter="chapter", section="section"),
            )
        ),
    )


_SHOWN_TITLE = Coalesce(NullIf("title", Value("")), "original_filename")  # as answers name their sources


def _with_position(rows: Any) -> Any:
    """Add `title` and `page_number`, as the document is now."""
    document = Document.objects.filter(id=OuterRef("document_id"))
    return rows.annotate(
        title=Subquery(document.annotate(shown=_SHOWN_TITLE).values("shown")),
        page_number=Subquery(Chunk.objects.filter(id=OuterRef("chunk_id")).values("page_number")),
    )
