"""The admin's first page: figures with the lists behind them, in few statements whatever there is."""

from collections.abc import Callable
from datetime import timedelta
from html.parser import HTMLParser

import pytest
from django.contrib.auth.models import Permission, User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from documents.models import Document, IngestItem, IngestJob, Page
from embeddings.models import EmbeddingModel, EmbeddingRequest, VectorIndex
from rag.admin.dashboard import read_dashboard
from rag.models import Query, Response
from tests.admin.conftest import COMPLETED, FAILED

pytestmark = pytest.mark.django_db(transaction=True)
MAX_STATEMENTS = 20  # session, user, the panels; 9 of them are Django's own


def ask(question: str, **fields: object) -> Query:
    values = {"face": "platform", "collection_ids": [], "latency_ms": 100, "answered": True, **fields}
    return Query.objects.create(original_query=question, **values)


class _Links(HTMLParser):
    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        href = dict(attrs).get("href")
        if tag == "a" and href and href.startswith("/admin/"):
            self.found.append(href)


@pytest.fixture
def busy(
    make_document: Callable[..., Document], make_job: Callable[..., IngestJob], model: EmbeddingModel
) -> None:
    """Some of everything that the page tells."""
    make_document("ready.pdf", embedded=2, status="completed")
    unread = make_document("scan.pdf", failed=1, pending=1, status="failed")
    Page.objects.filter(document=unread).update(warnings=["image_only"])
    EmbeddingRequest.objects.create(
        chunk=unread.chunks.get(chunk_index=1), model=model, run=EmbeddingRequest.objects.get().run
    )
    EmbeddingRequest.objects.update(created_at=timezone.now() - timedelta(hours=2))
    make_job(COMPLETED, {**FAILED, "filename": "locked.pdf"}, {"filename": "waits.txt"})
    reading = {"status": "processing", "stage": "extracting", "pages_total": 40, "pages_done": 10}
    make_job({**reading, "started_at": timezone.now() - timedelta(minutes=5), "filename": "long.pdf"})
    make_job({**FAILED, "error_code": "DUPLICATE", "filename": "twice.pdf"})
    VectorIndex.objects.create(
        model=model, number=1, kind="hnsw", storage="vector", rows=9, effort=40, recall=0.8, serves=False,
        exact_below=10, built_at=timezone.now(),
    )  # fmt: skip
    ask("What is known?")
    ask("What is not?", answered=False, reason="below_threshold")
    ask("What broke?", answered=False, error="SYNTHESIS_FAILED")
    ask("Who left?", answered=False, error="CLIENT_LEFT")
    ask("What was asked yesterday?", created_at=timezone.now() - timedelta(days=2))
    bad = ask("What is the <b>worst</b>?")
    Response.objects.create(query=bad, answer="Bad.", faithfulness_score=0.1)


def test_each_panel_tells_its_figures(admin_user: User, busy: None) -> None:
    panels = {panel.title: panel for panel in read_dashboard(admin_user)}

    def figures(title: str) -> dict[str, str]:
        return {figure.name: figure.value for figure in panels[title].figures}

    assert figures("Documents") == {"in all": "2", "ready": "1", "failed to embed": "1"}
    assert figures("Queue") == {"waiting to be read": "1", "being read": "1", "being embedded": "0"}
    assert figures("Documents that failed") == {"in the last 7 days": "1", "in all": "1"}
    assert figures("Questions today") == {
        "asked": "5", "answered": "2", "not enough information": "1", "failed": "1",
    }  # fmt: skip
    assert [line["text"] for line in panels["Documents that failed"].lines] == ["locked.pdf"]
    assert panels["Queue"].lines[0]["note"].startswith("2 of 3 documents")
    assert panels["Queue"].lines[1]["note"] == "0 of 1 document, about 35 min left"
    assert [line["text"] for line in panels["To look at"].lines] == [
        "Workers",
        "Failed embeddings",
        "Embeddings pending",
        "Vector index",
        "Pages that could not be read",
        "What is the <b>worst</b>?",
        "All bad answers, the worst of 7 days above",
    ]


def test_a_failure_says_what_to_do_and_texts_are_escaped(admin_client: Client, busy: None) -> None:
    page = admin_client.get("/admin/").content.decode()

    assert "It holds no text." in page
    assert "Open the file: it may be damaged" in page
    assert "What is the &lt;b&gt;worst&lt;/b&gt;?" in page
    assert "twice.pdf" not in page


def test_every_link_leads_to_the_list_behind_its_figure(admin_client: Client, busy: None) -> None:
    links = set(_Links(admin_client.get("/admin/").content.decode()).found) - {"/admin/logout/"}

    assert {link: admin_client.get(link).status_code for link in links} == dict.fromkeys(links, 200)
    lists = {
        "/admin/documents/document/?status__exact=completed": 1,
        "/admin/documents/document/?warnings=unread": 1,
        "/admin/documents/ingestjob/?state=open": 2,
        "/admin/documents/ingestjob/?state=failed": 1,
        "/admin/embeddings/embeddingrequest/?state=failed": 1,
    }
    assert set(lists) <= links
    for link, count in lists.items():
        assert admin_client.get(link).context["cl"].result_count == count
    (today,) = [link for link in links if "outcome=none" in link]
    assert [row.original_query for row in admin_client.get(today).context["cl"].result_list] == [
        "What is not?"
    ]


def test_its_statements_do_not_grow_with_what_there_is(
    admin_client: Client,
    busy: None,
    make_document: Callable[..., Document],
    make_job: Callable[..., IngestJob],
) -> None:
    admin_client.get("/admin/")
    with CaptureQueriesContext(
        connection,
    ) as first:
        admin_client.get("/admin/")
    for number in range(20):
        make_document(f"more-{number}.pdf", embedded=1, failed=1, pending=1)
        make_job(FAILED, {}, {"status": "processing", "stage": "embedding", "chunks_made": 5})
        Response.objects.create(query=ask(f"Question {number}?"), answer="Bad.", faithfulness_score=0.1)

    with CaptureQueriesContext(connection) as then:
        assert admin_client.get("/admin/").status_code == 200

    assert len(then) == len(first) <= MAX_STATEMENTS


def test_an_empty_knowledge_base_has_its_page_too(admin_client: Client, model: EmbeddingModel) -> None:
    page = admin_client.get("/admin/").content.decode()

    assert "Nothing is being read or embedded." in page
    assert "No document has failed." in page


def test_who_may_not_view_a_list_sees_no_figure_of_it(busy: None) -> None:
    clerk = User.objects.create(username="clerk", is_staff=True)
    clerk.user_permissions.add(Permission.objects.get(codename="view_document"))
    client = Client()
    client.force_login(clerk)

    page = client.get("/admin/")

    assert [panel.title for panel in read_dashboard(clerk)] == ["Documents", "To look at"]
    assert "What is the" not in page.content.decode()
    assert "locked.pdf" not in page.content.decode()


def test_every_page_of_the_admin_leads_to_the_page(admin_client: Client, busy: None) -> None:
    for path in ("", "documents/document/", "documents/ingestjob/", "rag/query/", "rag/query/quality/"):
        assert '<a href="/">' in admin_client.get(f"/admin/{path}").content.decode()


def test_a_duplicate_is_already_here_and_leads_to_its_document(
    admin_client: Client, make_document: Callable[..., Document], make_job: Callable[..., IngestJob]
) -> None:
    document = make_document("first.pdf", embedded=1)
    error = f"Document already ingested: {document.pk}"
    job = make_job({**FAILED, "error_code": "DUPLICATE", "error": error, "duplicate_of": document.pk})

    page = admin_client.get(f"/admin/documents/ingestjob/{job.pk}/change/").content.decode()
    progress = admin_client.get(f"/admin/documents/ingestjob/{job.pk}/progress/").json()

    assert "Already here: the collection has a document with the same bytes." in page
    assert error not in page
    (item,) = progress["items"]
    assert (item["state"], item["error"], item["can_retry"]) == ("duplicate", "", False)
    assert item["url"] == f"/admin/documents/document/{document.pk}/change/"
    assert (progress["state"], progress["failed"], progress["duplicates"]) == ("completed", 0, 1)

    IngestItem.objects.update(duplicate_of=None)  # the first one was deleted since: it can be tried again
    (item,) = admin_client.get(f"/admin/documents/ingestjob/{job.pk}/progress/").json()["items"]
    assert (item["can_retry"], item["error"]) == (True, error)


def test_a_running_job_tells_the_time_that_is_left(
    admin_client: Client, make_job: Callable[..., IngestJob]
) -> None:
    half_read = {"status": "processing", "stage": "extracting", "pages_total": 40, "pages_done": 20}
    job = make_job({**half_read, "started_at": timezone.now() - timedelta(seconds=100)})

    progress = admin_client.get(f"/admin/documents/ingestjob/{job.pk}/progress/").json()
    listed = admin_client.get("/admin/documents/ingestjob/").content.decode()

    assert progress["left"] == "about 5 min"  # a quarter of its work took 100 s
    assert '<progress max="1" value="0.25">' in listed
    assert '<td class="field-left">about 5 min</td>' in listed
