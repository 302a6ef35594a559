"""The admin's first page: what is there, what is under way, what failed, and what to look at."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlencode

from django.conf import settings
from django.db.models import Count, Exists, Min, OuterRef, Q
from django.urls import reverse
from django.utils import timezone

from documents.admin.words import count_noun, state_badge
from documents.models import Document, IngestItem, IngestJob
from documents.models import Page as DocumentPage
from documents.types import UNREAD_WARNINGS
from embeddings.admin.display import estimate_left, format_duration, job_state, with_progress
from embeddings.models import EmbeddingRequest, OutsideStore, VectorIndex
from knowlex.runtime.liveness import count_alive_now
from rag.admin.quality_page import find_worst_answers
from rag.history.records import CLIENT_LEFT
from rag.models import Query

SHOWN = 5
WORST_OF_DAYS = 7
UNREAD_AMONG = 500  # of the newest documents the pages are looked through
LONG_PENDING = timedelta(minutes=10)
ADVICE = {
    "UNPROCESSABLE": "Open the file: it may be damaged, locked or without text. Send one that opens.",
    "UNSUPPORTED_MEDIA_TYPE": "Save it as PDF, DOCX or another format that is read, and send that.",
    "PAYLOAD_TOO_LARGE": "Split the file, or raise the limit in the configuration.",
    "INSUFFICIENT_STORAGE": "Make room on the disk, then retry.",
    "EMBEDDING_FAILED": "Look at the embedding model (manage.py doctor), then retry.",
    "SERVICE_UNAVAILABLE": "Retry when the service that it needs answers again (manage.py doctor).",
    "NOT_FOUND": "Send the file again.",
}
RETRY = "Retry; if it fails again, the worker's log says more."


@dataclass(frozen=True, slots=True)
class Figure:
    """A number with the list behind it. kind: the class of its colour, "" for none."""

    name: str
    value: str
    url: str = ""
    kind: str = ""


@dataclass(frozen=True, slots=True)
class Panel:
    """A part of the page. lines: what stands below the figures. empty: said where there are none."""

    title: str
    url: str
    figures: Sequence[Figure] = ()
    lines: Sequence[dict[str, Any]] = field(default_factory=list)
    empty: str = ""


def read_dashboard(user: Any) -> list[Panel]:
    """Read the panels of what the user may view, in a number of statements that depends on nothing."""
    panels = [
        ("documents.view_document", _read_documents),
        ("documents.view_ingestjob", _read_queue),
        ("documents.view_ingestjob", _read_failures),
        ("rag.view_query", _read_questions),
    ]
    shown = [read() for permission, read in panels if user.has_perm(permission)]
    return [*shown, _read_concerns(user)]


def _read_documents() -> Panel:
    counts = dict(Document.objects.current().order_by().values_list("status").annotate(Count("id")))
    kinds = {"completed": "kx-completed", "processing": "kx-processing", "failed": "kx-failed"}
    names = {
        "completed": "ready",
        "processing": "being embedded",
        "pending": "not embedded",
        "failed": "failed to embed",
    }
    figures = [Figure("in all", f"{sum(counts.values()):,}", _list_url("documents_document"))]
    for status, name in names.items():
        count = counts.get(status, 0)
        url = _list_url("documents_document", status__exact=status)
        if count or status == "completed":
            figures.append(Figure(name, f"{count:,}", url, kinds.get(status, "")))
    return Panel("Documents", _list_url("documents_document"), figures)


def _read_queue() -> Panel:
    """Read the jobs under way, the oldest first."""
    open_items = IngestItem.objects.open()
    counts = open_items.aggregate(
        jobs=Count("job", distinct=True),
        waiting=Count("id", filter=Q(status="pending")),
        reading=Count("id", filter=Q(status="processing") & ~Q(stage="embedding")),
        embedding=Count("id", filter=Q(status="processing", stage="embedding")),
    )
    jobs = IngestJob.objects.filter(Exists(open_items.filter(job=OuterRef("pk"))))
    lines = [_describe_job(job) for job in with_progress(jobs).order_by("created_at")[:SHOWN]]
    url = _list_url("documents_ingestjob", state="open")
    figures = [
        Figure("waiting to be read", f"{counts['waiting']:,}", url),
        Figure("being read", f"{counts['reading']:,}", url, "kx-processing" if counts["reading"] else ""),
        Figure(
            "being embedded", f"{counts['embedding']:,}", url, "kx-processing" if counts["embedding"] else ""
        ),
    ]
    if counts["jobs"] > len(lines):
        lines.append({"text": f"and {count_noun(counts['jobs'] - len(lines), 'job')} more", "url": url})
    return Panel("Queue", url, figures, lines, "Nothing is being read or embedded.")


def _describe_job(job: Any) -> dict[str, Any]:
    progress = job.progress
    left = estimate_left(progress)
    documents = f"{progress['ended']:,} of {count_noun(progress['total'], 'document')}"
    return {
        "text": f"Job of {job.created_at:%Y-%m-%d %H:%M}, by {job.origin}",
        "url": reverse("admin:documents_ingestjob_change", args=[job.pk]),
        "badge": state_badge(job_state(progress)),
        "done": progress["done"],
        "of": progress["total"] or 1,
        "note": f"{documents}, {left} left" if left else documents,
    }


def _read_failures() -> Panel:
    """Read what failed and was not deleted since; a duplicate is no failure."""
    failed = IngestItem.objects.filter(status="failed", deleted_at__isnull=True).exclude(
        error_code__in=("DUPLICATE", "SUPERSEDED", "DELETED")
    )
    since = timezone.now() - timedelta(days=7)
    counts = failed.aggregate(all=Count("id"), week=Count("id", filter=Q(ended_at__gte=since)))
    newest = failed.order_by("-ended_at").only("job_id", "filename", "source_url", "error", "error_code")
    lines = [
        {
            "text": item.filename or item.source_url,
            "url": reverse("admin:documents_ingestjob_change", args=[item.job_id]),
            "note": item.error,
            "advice": ADVICE.get(item.error_code, RETRY),
        }
        for item in newest[:SHOWN]
    ]
    url = _list_url("documents_ingestjob", state="failed")
    kind = "kx-failed" if counts["week"] else ""
    figures = [
        Figure("in the last 7 days", f"{counts['week']:,}", url, kind),
        Figure("in all", f"{counts['all']:,}", url),
    ]
    return Panel("Documents that failed", url, figures, lines, "No document has failed.")


def _read_questions() -> Panel:
    today = timezone.localtime().replace(hour=0, minute=0, second=0, microsecond=0)
    is_failed = ~Q(error__in=("", CLIENT_LEFT))
    counts = Query.objects.filter(created_at__gte=today).aggregate(
        questions=Count("id"),
        answers=Count("id", filter=Q(answered=True)),
        refusals=Count("id", filter=Q(answered=False, error="")),
        failures=Count("id", filter=is_failed),
    )
    span = {"created_at__gte": today, "created_at__lt": today + timedelta(days=1)}
    figures = [
        Figure("asked", f"{counts['questions']:,}", _list_url("rag_query", **span)),
        Figure(
            "answered",
            f"{counts['answers']:,}",
            _list_url("rag_query", outcome="answered", **span),
            "kx-completed" if counts["answers"] else "",
        ),
        Figure(
            "not enough information",
            f"{counts['refusals']:,}",
            _list_url("rag_query", outcome="none", **span),
        ),
        Figure(
            "failed",
            f"{counts['failures']:,}",
            _list_url("rag_query", outcome="failed", **span),
            "kx-failed" if counts["failures"] else "",
        ),
    ]
    return Panel("Questions today", reverse("admin:rag_query_quality"), figures)


def _read_concerns(user: Any) -> Panel:
    """Read what an operator should look at: only what is not as it should be."""
    lines: list[dict[str, Any]] = [*_describe_workers()]
    if user.has_perm("embeddings.view_embeddingrequest"):
        lines += _describe_requests()
    if user.has_perm("embeddings.view_vectorindex"):
        lines += _describe_indexes()
    if user.has_perm("documents.view_document"):
        lines += _describe_unread_pages()
    if user.has_perm("rag.view_query"):
        lines += _describe_worst_answers()
    return Panel("To look at", "", lines=lines, empty="Nothing: all is as it should be.")


def _describe_workers() -> list[dict[str, Any]]:
    alive = count_alive_now()
    if alive >= settings.WORKERS:
        return []
    if not alive:
        note = "No worker is alive: nothing is read or embedded. Is `manage.py up` running, and the broker?"
        return [{"text": "Workers", "note": note, "bad": True}]
    note = f"{alive} of {settings.WORKERS} worker processes (KNOWLEX_WORKERS) are alive."
    return [{"text": "Workers", "note": note}]


def _describe_requests() -> list[dict[str, Any]]:
    """Describe chunks without a vector: those that failed, and those that wait for long."""
    counts = EmbeddingRequest.objects.filter(model__active=True).aggregate(
        waiting=Count("id", filter=Q(failed_at__isnull=True)),
        failed=Count("id", filter=Q(failed_at__isnull=False)),
        oldest=Min("created_at", filter=Q(failed_at__isnull=True)),
    )
    lines = []
    if counts["failed"]:
        url = _list_url("embeddings_embeddingrequest", state="failed")
        note = (
            f"{count_noun(counts['failed'], 'chunk')} could not be embedded: no search by meaning finds them."
        )
        lines.append({"text": "Failed embeddings", "url": url, "note": note, "bad": True})
    if counts["waiting"] and _is_long_ago(counts["oldest"]):
        url = _list_url("embeddings_embeddingrequest", state="waiting")
        since = format_duration(counts["oldest"], None)
        note = f"{count_noun(counts['waiting'], 'chunk')} wait for a vector, the first for {since}."
        lines.append({"text": "Embeddings pending", "url": url, "note": note})
    return lines


def _is_long_ago(moment: datetime) -> bool:
    return timezone.now() - moment > LONG_PENDING


def _describe_indexes() -> list[dict[str, Any]]:
    """Describe an index that finds too little, and an outside store that does not answer."""
    lines: list[dict[str, Any]] = [
        {
            "text": "Vector index",
            "url": _list_url("embeddings_indexmeasurement"),
            "note": f"recall@10 is {index.recall:.3f}: searches of {index.model} are exact instead.",
        }
        for index in VectorIndex.objects.filter(model__active=True, serves=False, recall__isnull=False)
        .select_related("model")
        .order_by("model")
    ]
    for store in OutsideStore.objects.filter(failures__gt=0):
        url = _list_url("embeddings_outsidestore")
        lines.append({"text": "Vector store", "url": url, "note": store.error, "bad": True})
    return lines


def _describe_unread_pages() -> list[dict[str, Any]]:
    newest = Document.objects.current().order_by("-created_at").values("id")[:UNREAD_AMONG]
    counts = DocumentPage.objects.filter(
        document__in=newest, warnings__has_any_keys=sorted(UNREAD_WARNINGS)
    ).aggregate(pages=Count("id"), documents=Count("document", distinct=True))
    if not counts["pages"]:
        return []
    note = (
        f"{count_noun(counts['pages'], 'page')} in {count_noun(counts['documents'], 'document')} of the "
        f"newest {UNREAD_AMONG}: pictures without recognisable text, or letters in an unknown encoding."
    )
    url = _list_url("documents_document", warnings="unread")
    return [{"text": "Pages that could not be read", "url": url, "note": note}]


def _describe_worst_answers() -> list[dict[str, Any]]:
    worst = find_worst_answers(WORST_OF_DAYS)[:SHOWN]
    lines: list[dict[str, Any]] = [
        {
            "text": query.original_query,
            "url": reverse("admin:rag_query_change", args=[query.pk]),
            "query": query,
        }
        for query in worst
    ]
    if lines:
        url = _list_url("rag_query", worst="first")
        lines.append({"text": f"All bad answers, the worst of {WORST_OF_DAYS} days above", "url": url})
    return lines


def _list_url(model: str, **filters: Any) -> str:
    url = reverse(f"admin:{model}_changelist")
    return f"{url}?{urlencode(filters)}" if filters else url
