"""Past questions, what people say of them, and the charts over time."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from django.utils.html import escape

from documents.models import Chunk, Collection, Document
from knowlex.base.ids import new_id
from rag.models import Candidates, Citation, Feedback, Query, Response
from rag.relevance import answers
from rag.types import claims as faithfulness

pytestmark = pytest.mark.django_db(transaction=True)
LIST, FEEDBACK = "/admin/rag/query/", "/admin/rag/feedback/"
QUALITY = f"{LIST}quality/"
EVIL = "<script>alert(1)</script>"
SETTINGS = {"mode": "hybrid", "top_k": 5, "threshold": 0.8}
RESPONSE = ("answer", "faithfulness_score", "verification", "contradicted", "answer_relevance")
MakeDocument = Callable[..., Document]


def asked(text: str = "How tall is it?", *, said: str = "", comment: str = "", **fields: Any) -> Query:
    """A question answered in 640 ms, unless told otherwise; its response unless it failed."""
    answer = {name: fields.pop(name) for name in RESPONSE if name in fields}
    given = {
        "face": "platform",
        "collection_ids": [],
        "settings": SETTINGS,
        "answered": True,
        "latency_ms": 640,
    }
    query = Query.objects.create(original_query=text, stage_ms={"retrieve": 40.5}, **{**given, **fields})
    if not query.error:
        judged = timezone.now() if answer.get("faithfulness_score") is not None else None
        Response.objects.create(
            query=query, model="chatty-1", faithfulness_judged_at=judged, **{"answer": "54 m [1].", **answer}
        )
    if said or comment:
        Feedback.objects.create(query=query, caller=f"address:{new_id()}", rating=said, comment=comment)
    return query


def listed(page: Any) -> list[str]:
    return [row.original_query for row in page.context["cl"].result_list]


@pytest.fixture
def library() -> dict[str, Query]:
    rows = [
        asked("good", faithfulness_score=1.0, answer_relevance=0.9, said="thumbs_up", face="book"),
        asked("half", faithfulness_score=0.5, latency_ms=7000),
        asked("invented", faithfulness_score=0.0),
        asked("disliked", faithfulness_score=0.9, said="thumbs_down", comment="It is wrong."),
        asked("beside", answer_relevance=0.2),
        asked("contrary", faithfulness_score=0.8, verification=counts(exact=4, contradicted=1)),
        asked("unknown", answered=False, reason="below_threshold", answer=""),
        asked("broken", answered=False, error="SYNTHESIS_FAILED"),
        asked("again", cached=True),
    ]
    return {row.original_query: row for row in rows}


@pytest.mark.parametrize(
    ("chosen", "expected"),
    [
        ({"worst": "first"}, ["disliked", "contrary", "invented", "beside", "half"]),
        ({"outcome": "none"}, ["unknown"]),
        ({"outcome": "below_threshold"}, ["unknown"]),
        ({"outcome": "failed"}, ["broken"]),
        ({"faithfulness": "low"}, ["invented"]),
        ({"faithfulness": "part"}, ["contrary", "disliked", "half"]),
        ({"faithfulness": "full"}, ["good"]),
        ({"faithfulness": "none"}, ["again", "beside"]),
        ({"answers": "hardly"}, ["beside"]),
        ({"answers": "well"}, ["good"]),
        ({"feedback": "down"}, ["disliked"]),
        ({"feedback": "up"}, ["good"]),
        ({"feedback": "comment"}, ["disliked"]),
        ({"latency": "5"}, ["half"]),
        ({"face": "book"}, ["good"]),
        ({"cached__exact": "1"}, ["again"]),
        ({"q": "INVENT"}, ["invented"]),
        ({}, ["again", "broken", "unknown", "contrary", "beside", "disliked", "invented", "half", "good"]),
        ({"o": "-7"}, ["half"]),
    ],
)
def test_questions_are_chosen_and_sorted(
    admin_client: Client, library: dict[str, Query], chosen: dict[str, str], expected: list[str]
) -> None:
    found = listed(admin_client.get(LIST, chosen))

    assert found[: len(expected)] == expected
    assert len(found) == (9 if chosen in ({}, {"o": "-7"}) else len(expected))


def counts(**states: int) -> dict[str, int]:
    names = ("exact", "supported", "unverified", "contradicted", "uncited")
    return dict.fromkeys(names, 0) | states


@pytest.mark.parametrize(
    ("chosen", "expected"),
    [
        ("contradicted", ["wrong"]),
        ("unverified", ["doubtful", "partly"]),
        ("half", ["doubtful"]),
        ("uncited", ["bare"]),
        ("verified", ["good"]),
        ("nonsense", ["before", "bare", "wrong", "doubtful", "partly", "good"]),
    ],
)
def test_questions_are_chosen_by_what_was_found_of_their_claims(
    admin_client: Client, chosen: str, expected: list[str]
) -> None:
    asked("good", verification=counts(exact=1, supported=2))
    asked("partly", verification=counts(exact=1, supported=1, unverified=1))
    asked("doubtful", verification=counts(supported=1, unverified=1))
    asked("wrong", verification=counts(supported=1, contradicted=2))
    asked("bare", verification=counts(exact=1, uncited=1))
    asked("before")  # of a release that did not count

    page = admin_client.get(LIST, {"claims": chosen})

    assert listed(page) == expected
    if chosen == "contradicted":
        assert ">✗ 2 contradicted</span>" in page.content.decode()


def test_each_claim_is_shown_with_its_state_in_words_and_a_sign(
    admin_client: Client, make_document: MakeDocument
) -> None:
    make_document("tower.pdf", embedded=1, title="Towers")
    chunk = Chunk.objects.get()
    query = asked(
        answer="It is tall [1]. It is red [1]. It is old.",
        verification=counts(supported=1, unverified=1, contradicted=1),
        contradicted=[
            {"text": "It is old", "answer_start": 30, "answer_end": 39, "missing": ["old", "1874"]}
        ],
        answer_relevance=0.25,
    )
    cite(query, chunk, answer_start=0, answer_end=10, support="supported")
    cite(
        query, chunk, position=2, answer_start=16, answer_end=25, support="unverified",
        verdict="contradicted", judged_by="chatty-2",
    )  # fmt: skip

    page = admin_client.get(f"{LIST}{query.pk}/change/").content.decode()

    assert '<td><span class="kx-state kx-completed">✓ supported</span></td><td>–</td>' in page
    assert '<span class="kx-state kx-stalled">? unverified</span>' in page
    assert '<span class="kx-state kx-failed">✗ contradicted</span> by chatty-2' in page
    assert '<td class="rq-cell">It is old</td><td class="rq-cell">old · 1874</td>' in page
    assert "? 1 unverified" in page
    assert '<dt>Answers the question</dt><dd><span class="kx-state kx-stalled">0.25</span></dd>' in page


def test_questions_of_one_collection(admin_client: Client, collection: Collection) -> None:
    asked("mine", collection_ids=[collection.id, new_id()])
    asked("other", collection_ids=[new_id()])

    assert listed(admin_client.get(LIST, {"collection": str(collection.id)})) == ["mine"]
    assert len(listed(admin_client.get(LIST, {"collection": "nonsense"}))) == 2


def test_the_list_tells_how_each_question_went(admin_client: Client, library: dict[str, Query]) -> None:
    page = admin_client.get(LIST).content.decode()

    for shown in (
        "below threshold",
        "synthesis failed",
        "0.50",
        "7.0 s",
        "640 ms",
        ">down 1</span>",
        ">answered</span>",
        "chatty-1",
    ):
        assert shown in page
    assert f"{LIST}{library['good'].pk}/change/" in page


def test_lists_take_as_many_statements_however_many_rows(admin_client: Client) -> None:
    def statements(url: str) -> int:
        with CaptureQueriesContext(connection) as seen:
            assert admin_client.get(url).status_code == 200
        return len(seen)

    asked("one", said="thumbs_down", comment="no", faithfulness_score=0.5)
    urls = (LIST, f"{LIST}?worst=first", FEEDBACK, QUALITY)
    before = [statements(url) for url in urls]
    for n in range(20):
        asked(f"more {n}", said="thumbs_down", comment="no", faithfulness_score=0.5)

    assert [statements(url) for url in urls] == before
    assert max(before) <= 10


def test_a_question_is_explained(
    admin_client: Client, make_document: MakeDocument, django_assert_max_num_queries: Any
) -> None:
    document = make_document("tower.pdf", embedded=1, title="Towers")
    chunk = Chunk.objects.get()
    chunk.content = "The tower is 54 metres tall."
    chunk.save()
    claims = "The tower is 54 metres tall [1]. It was built by Napoleon."
    query = asked(
        answer=claims,
        said="thumbs_down",
        comment="Napoleon?",
        collection_ids=[document.collection_id],
        verification=counts(exact=1, uncited=1),
    )
    cite(query, chunk, quoted_text=chunk.content, answer_start=0, answer_end=27)
    found(query, chunk, times=20)

    with django_assert_max_num_queries(18):
        page = admin_client.get(f"{LIST}{query.pk}/change/").content.decode()

    assert "The tower is 54 metres tall</td>" in page
    assert f"<q>{chunk.content}</q>" in page
    assert f'/admin/documents/document/{document.pk}/change/">Towers</a>' in page
    assert '<li class="rq-unsupported">It was built by Napoleon</li>' in page
    for shown in ("Napoleon?", "0.123", "40 ms", "640 ms", "default", "top_k"):
        assert shown in page
    assert 'name="_save"' not in page


def test_what_a_deleted_document_said_is_not_shown(admin_client: Client, make_document: MakeDocument) -> None:
    document = make_document("secret.pdf", embedded=1, title="Secret title")
    chunk = Chunk.objects.get()
    query = asked(answer="The secret word is Quellenwort [1].")
    cite(query, chunk, title="Secret title", quoted_text="Quellenwort")
    found(query, chunk)
    document.delete()

    page = admin_client.get(f"{LIST}{query.pk}/change/").content.decode()

    assert "was deleted, and its words with it" in page
    assert "Quellenwort" not in page
    assert "Secret title" not in page


def test_hostile_text_stays_text(admin_client: Client, make_document: MakeDocument) -> None:
    make_document("x.pdf", embedded=1, title=EVIL)
    chunk = Chunk.objects.get()
    texts = {
        "rewritten_query": EVIL,
        "conversation_id": EVIL,
        "answer": f"{EVIL} is it [1].",
        "reason": EVIL[:32],
    }
    wrong = [{"text": EVIL, "answer_start": 0, "answer_end": 9, "missing": [EVIL]}]
    query = asked(
        EVIL, said="thumbs_down", comment=EVIL, filters={EVIL: EVIL}, faithfulness_score=0.1,
        contradicted=wrong, **texts,
    )  # fmt: skip
    cite(query, chunk, title=EVIL, quoted_text=EVIL, answer_end=10, judged_by=EVIL)
    found(query, chunk)
    said = Feedback.objects.get()

    for url in (LIST, f"{LIST}{query.pk}/change/", FEEDBACK, f"{FEEDBACK}{said.pk}/change/", QUALITY):
        reply = admin_client.get(url)
        assert (reply.status_code, EVIL in reply.content.decode()) == (200, False)
    for url in (f"{LIST}{query.pk}/change/", FEEDBACK, f"{FEEDBACK}{said.pk}/change/"):
        assert "&lt;script&gt;alert(1)&lt;/script&gt;" in admin_client.get(url).content.decode()


def test_feedback_is_listed_filtered_and_searched(admin_client: Client) -> None:
    asked("tall?", said="thumbs_down", comment="Too tall by far.")
    asked("wide?", said="thumbs_up")

    def told(**chosen: str) -> list[str]:
        rows = admin_client.get(FEEDBACK, chosen).context["cl"].result_list
        return [row.query.original_query for row in rows]

    assert told() == ["wide?", "tall?"]
    assert told(rating__exact="thumbs_down") == told(commented="yes") == told(q="by far") == ["tall?"]
    assert told(commented="no") == ["wide?"]


def test_a_question_is_deleted_with_all_that_is_its_and_nothing_is_changed(admin_client: Client) -> None:
    query = asked(said="thumbs_down")

    assert admin_client.get(f"{LIST}add/").status_code == 403
    assert admin_client.post(f"{LIST}{query.pk}/change/", {"original_query": "other"}).status_code == 403
    reply = admin_client.post(f"{LIST}{query.pk}/delete/", {"post": "yes"})

    assert reply.headers["Location"] == LIST
    assert not any(model.objects.exists() for model in (Query, Response, Feedback))


def test_one_that_is_not_there_is_said_to_be(admin_client: Client) -> None:
    for missing in (new_id(), "nonsense"):
        assert admin_client.get(f"{LIST}{missing}/change/").status_code == 302


def test_charts_tell_how_answers_were_over_time(admin_client: Client, library: dict[str, Query]) -> None:
    library["half"].created_at = timezone.now() - timedelta(days=10)
    library["half"].save()
    page = admin_client.get(QUALITY)
    today = timezone.now().date()

    text = page.content.decode()
    for mark in ("answered 5", "answered from the cache 1", "below threshold 1", "failed 1", "thumbs down 1"):
        assert f"<title>{today}: {mark}</title>" in text
    assert f"<title>{today - timedelta(days=10)}: median 7 s</title>" in text
    assert [row.original_query for row in page.context["worst"]] == [
        "disliked", "contrary", "invented", "beside", "half",
    ]  # fmt: skip
    assert {"Mean faithfulness": "0.64", "Mean answer relevance": "0.55"}.items() <= dict(
        page.context["sums"]
    ).items()
    assert all(text_of in text for text_of in (escape(faithfulness.HOW), escape(answers.HOW)))
    assert len(page.context["rows"]) == 30
    assert page.context["charts"][1].ticks[-1][1] == "8 s"
    assert "<script" not in text.split('id="content-main"')[1]


def test_charts_of_few_days_of_one_collection_and_of_nothing(
    admin_client: Client, collection: Collection
) -> None:
    def sums(**chosen: str) -> str:
        return str(dict(admin_client.get(QUALITY, chosen).context["sums"])["Questions"])

    asked("mine", collection_ids=[collection.id], said="thumbs_up")
    asked("old", collection_ids=[collection.id], created_at=timezone.now() - timedelta(days=8))
    asked("other", collection_ids=[new_id()])

    assert [sums(), sums(days="7"), sums(days="9999"), sums(days="x")] == ["3", "2", "3", "3"]
    assert sums(collection=str(collection.id)) == "2"
    assert sums(collection=str(UUID(int=1))) == "3"  # none of the choices
    Query.objects.all().delete()
    assert "Nothing in these days." in admin_client.get(QUALITY).content.decode()


def test_only_who_may_see_questions_sees_the_charts(client: Client) -> None:
    assert client.get(QUALITY).status_code == 302


def cite(query: Query, chunk: Chunk, **fields: Any) -> None:
    given = {"position": 1, "citation_index": 1, "title": "Towers", "quoted_text": "", "start_char": 0}
    given |= {"end_char": 9, "answer_start": 0, "answer_end": 9, "support": "exact"}
    owner = {"response": query.response, "chunk_id": chunk.id, "document_id": chunk.document_id}
    Citation.objects.create(**{**given, **owner, **fields})


def found(query: Query, chunk: Chunk, *, times: int = 1) -> None:
    """The last of them is the one of the context."""
    scores = {
        name: times * [0.1234] for name in ("dense_scores", "sparse_scores", "fused_scores", "rerank_scores")
    }
    Candidates.objects.create(
        query=query, judged=times, chunk_ids=times * [chunk.id], document_ids=times * [chunk.document_id],
        relevances=times * [0.9], results=[], context=[times], **scores,
    )  # fmt: skip
