"""GET and DELETE /v1/queries, and the replay."""

from datetime import UTC, datetime, timedelta

from tests.history.asking import FACT, QUESTION, UNKNOWN, Library
from tests.platform import talk
from tests.support.api import (
    NO_ANSWER,
    UNKNOWN_ID,
    ask,
    assert_now,
    assert_problem,
    book,
    embed,
    ingest,
    query,
    together,
)


def test_an_answer_is_explained(library: Library):
    settings = {"top_k": 3, "max_tokens": 200, "rerank": False}
    answered = library.ask(conversation_id="mine", settings=settings, collections=["default"])

    told = library.explained(answered["query_id"])

    same = ("query_id", "conversation_id", "answer", "usage", "latency_ms", "reason", "relevance", "cached")
    assert {name: told[name] for name in same} == {name: answered[name] for name in same}
    assert told["conversation_id"] == "mine"
    assert (told["query"], told["original_query"], told["rewritten_query"]) == (QUESTION, QUESTION, None)
    assert (told["face"], told["answered"]) == ("platform", True)
    assert (told["error"], told["replay_of"]) == (None, None)
    assert [one["name"] for one in told["collections"]] == ["default"]
    assert told["settings"] == {
        "mode": "hybrid", "top_k": 3, "max_tokens": 200, "rerank": False, "rewrite": None, "threshold": 0.8,
    }  # fmt: skip
    assert told["filters"] == {}
    assert list(told["stage_times_ms"].items()) == list(answered["stage_times_ms"].items())
    assert (told["feedback"], told["ratings"]) == (None, {"thumbs_up": 0, "thumbs_down": 0})
    assert_now(told["created_at"])


def test_it_has_the_objects_of_the_query_schema(library: Library):
    answered = library.ask()

    told = library.explained(answered["query_id"])

    times, usage = told["stage_times_ms"], told["usage"]
    assert (told["id"], told["total_latency_ms"]) == (answered["query_id"], answered["latency_ms"])
    assert told["input"] == {"original": QUESTION, "rewritten": None}
    assert told["retrieval"]["latency_ms"] == times["retrieve"]
    assert told["response"] == {
        "answer": answered["answer"],
        "citations": told["citations"],
        **{name: usage[name] for name in ("input_tokens", "output_tokens", "model")},
        "latency_ms": times["synthesize"],
    }
    assert set(told["quality"]) == {"faithfulness", "answer_relevance", "relevance", "feedback"}


def test_its_citations_are_those_that_were_sent(library: Library):
    answered = library.ask()
    assert FACT in [one["quoted_text"] for one in answered["citations"]]

    told = library.explained(answered["query_id"])

    later = {"verdict": None, "judged_by": None, "status": "current", "message": None}
    assert told["citations"] == [{**one, **later} for one in answered["citations"]]
    assert (told["verification"], told["contradicted"]) == (answered["verification"], [])
    text = library.client.get(f"/v1/documents/{library.towers}").json()["content"]
    for one in told["citations"]:
        assert text[one["start_char"] : one["end_char"]] == one["quoted_text"]
        assert told["answer"][one["answer_start"] : one["answer_end"]].strip()
        assert told["answer"][one["answer_end"] :].startswith(" [")  # its markers


def test_its_candidates_stand_in_the_order_they_were_judged_in_with_all_scores(library: Library):
    answered = library.ask()
    searched = library.client.post("/v1/search", json={"query": QUESTION}).json()["results"]

    candidates = library.explained(answered["query_id"])["retrieval"]["chunks"]

    assert [one["rank"] for one in candidates] == list(range(1, len(candidates) + 1))
    results = sorted((one for one in candidates if one["result_rank"]), key=lambda one: one["result_rank"])
    shown = ["chunk_id", "document_id", "title", "document_name", "page_number", "relevance"]
    shown += ["dense_score", "sparse_score", "fused_score", "rerank_score"]
    assert [[one[name] for name in shown] for one in results] == [
        [one[name] for name in shown] for one in searched
    ]
    numbers = [one["context_number"] for one in candidates if one["context_number"]]
    assert sorted(numbers) == list(range(1, len(numbers) + 1))
    assert {one["status"] for one in candidates} == {"current"}


def test_a_document_without_a_title_goes_by_its_file_name_as_in_answers(library: Library):
    document = talk.stored(library.client, talk.text("The pier of Wyk is 90 metres long.", "pier.txt"))
    answered = library.ask("How long is the pier of Wyk?")
    assert answered["sources"][0]["title"] == "pier.txt"

    told = library.explained(answered["query_id"])

    assert told["citations"][0]["title"] == "pier.txt"
    assert {one["title"] for one in told["retrieval"]["chunks"] if one["document_id"] == document} == {
        "pier.txt"
    }


def test_every_face_is_recorded_and_what_was_not_answered_says_why(library: Library):
    replies = [ask(library.client, QUESTION), query(library.client, QUESTION), book(library.client, UNKNOWN)]
    assert {reply.status_code for reply in replies} == {200}

    listed = library.client.get("/v1/queries").json()["queries"]

    assert [(one["face"], one["answered"], one["query"]) for one in listed] == [
        ("book", False, UNKNOWN), ("query", True, QUESTION), ("ask", True, QUESTION),
    ]  # fmt: skip
    assert (listed[0]["answer"], listed[0]["reason"]) == (NO_ANSWER, "below_threshold")


def test_reading_right_after_asking_always_finds_it(library: Library):
    def ask_and_read() -> bool:
        query_id = library.ask()["query_id"]
        return library.explained(query_id)["query_id"] == query_id and query_id in library.listed(limit=100)

    assert all(ask_and_read() for _ in range(5))
    assert all(together([ask_and_read] * 8))


def test_lists_are_narrowed_and_paged(library: Library):
    began = datetime.now(UTC)
    first = library.ask(conversation_id="a")["query_id"]
    second = library.ask(UNKNOWN, conversation_id="b")["query_id"]
    third = library.ask(conversation_id="b")["query_id"]
    library.rate(first, rating="thumbs_down")

    assert library.listed() == [third, second, first]
    assert library.listed(conversation_id="b") == [third, second]
    assert library.listed(answered="false") == [second]
    assert library.listed(answered="true", conversation_id="b") == [third]
    assert library.listed(rating="thumbs_down") == [first]
    assert library.listed(rating="thumbs_up") == []
    assert library.listed(collection="default") == [third, second, first]
    now = datetime.now(UTC)
    days = {"since": began.date().isoformat(), "until": now.date().isoformat()}  # two of them at midnight
    assert library.listed(**days) == [third, second, first]
    assert library.listed(since=(now + timedelta(hours=1)).isoformat()) == []
    assert library.listed(until=(now - timedelta(hours=1)).isoformat()) == []
    assert library.listed(sort="created_at") == [first, second, third]
    page = library.client.get("/v1/queries", params={"limit": 2}).json()
    assert [one["query_id"] for one in page["queries"]] == [third, second]
    assert library.listed(cursor=page["next_cursor"]) == [first]


def test_what_a_list_cannot_do_is_refused(library: Library):
    get = library.client.get
    for field, value in (
        ("answered", "yes"), ("rating", "5"), ("since", "yesterday"), ("until", "2026-02-30"),
        ("sort", "latency_ms"), ("limit", "0"), ("cursor", "x"), ("conversation_id", "\x00"),
    ):  # fmt: skip
        assert_problem(get("/v1/queries", params={field: value}), 400, "VALIDATION_ERROR", field=field)
    backwards = {"since": "2026-02-01", "until": "2026-01-01"}
    assert_problem(get("/v1/queries", params=backwards), 400, "VALIDATION_ERROR", field="since")
    assert_problem(get("/v1/queries", params={"collection": "none"}), 404, "NOT_FOUND")


def test_unknown_and_malformed_ids(library: Library):
    client = library.client
    for method, path in (("GET", ""), ("DELETE", ""), ("POST", "/replay")):
        assert_problem(client.request(method, f"/v1/queries/{UNKNOWN_ID}{path}"), 404, "NOT_FOUND")
        reply = client.request(method, f"/v1/queries/{UNKNOWN_ID[:-1]}{path}")
        assert_problem(reply, 400, "VALIDATION_ERROR", field="query_id")


def test_an_id_of_a_year_that_no_date_can_tell_is_unknown(library: Library):
    response = library.client.get("/v1/queries/ffffffff-ffff-ffff-ffff-ffffffffffff")
    assert response.status_code == 404


def test_a_deleted_query_is_gone_with_all_that_belongs_to_it(library: Library):
    kept, query_id = library.ask()["query_id"], library.ask()["query_id"]
    library.rate(query_id, rating="thumbs_up")

    assert library.client.delete(f"/v1/queries/{query_id}").json() == {"deleted": True}

    assert_problem(library.client.get(f"/v1/queries/{query_id}"), 404, "NOT_FOUND")
    assert_problem(library.client.delete(f"/v1/queries/{query_id}"), 404, "NOT_FOUND")
    assert library.listed() == [kept]
    for table in ("rag_retrieval", "rag_feedback"):
        assert library.stack.count(table, f"query_id = '{query_id}'") == 0
    assert library.stack.count("rag_citation", f"response_id = '{query_id}'") == 0


def test_a_replay_asks_the_same_with_the_same_settings(library: Library):
    asked = library.ask(settings={"top_k": 2, "mode": "sparse"}, filters={"documents": [library.towers]})

    replayed = library.replayed(asked["query_id"])

    assert replayed["replay_of"] == asked["query_id"] != replayed["query_id"]
    assert (replayed["answer"], replayed["citations"]) == (asked["answer"], asked["citations"])
    assert (replayed["sources"], replayed["cached"]) == (asked["sources"], False)
    assert replayed["changes"] == {
        "same_answer": True, "same_verification": True, "verification_before": asked["verification"],
        "added": [], "gone": [], "moved": [],
    }  # fmt: skip
    told, before = (library.explained(one["query_id"]) for one in (replayed, asked))
    assert (told["face"], told["replay_of"]) == ("replay", asked["query_id"])
    assert (told["settings"], told["filters"]) == (before["settings"], before["filters"])


def test_a_replay_tells_what_changed(library: Library):
    asked = library.ask()
    library.client.delete(f"/v1/documents/{library.ships}")
    text = "# New\n\nThe lighthouse of Norderney is 55 metres tall since 2020.\n"
    new = ingest(library.client, text.encode(), "new.md")["documentId"]
    embed(library.client)

    changes = library.replayed(asked["query_id"])["changes"]

    assert [one["document_id"] for one in changes["added"]] == [new]
    assert (changes["added"][0]["place_before"], changes["added"][0]["title"]) == (None, "New")
    assert changes["added"][0]["document_name"] == "new.md"
    assert {one["document_id"] for one in changes["gone"]} == {library.ships}
    assert all(one["place_now"] is None and one["title"] is None for one in changes["gone"])
    assert all(one["document_name"] is None for one in changes["gone"])
    for one in changes["moved"]:
        assert (one["place_before"], one["relevance_before"]) != (one["place_now"], one["relevance_now"])


def test_a_deleted_documents_past_citations_say_that_it_is_gone(library: Library):
    asked, other = library.ask(), library.ask("How often does the ferry sail to Juist?")
    library.client.delete(f"/v1/documents/{library.towers}")

    told = library.explained(asked["query_id"])

    assert told["citations"]
    for citation in told["citations"]:
        assert (citation["status"], citation["quoted_text"], citation["title"]) == ("gone", None, None)
        assert "deleted" in citation["message"]
    assert (told["answer"], told["answer_gone"], told["answered"]) == (None, True, True)
    assert "deleted" in told["message"]
    assert "54 metres" not in str(told)
    assert "Towers" not in str(told)
    assert library.explained(other["query_id"])["answer"] == other["answer"]
    replayed = library.replayed(asked["query_id"])
    assert replayed["changes"]["same_answer"] is None


def test_an_answer_out_of_the_cache_is_a_query_of_its_own(library: Library):
    first, second = library.ask(), library.ask()
    assert (first["cached"], second["cached"]) == (False, True)

    before, told = (library.explained(one["query_id"]) for one in (first, second))

    assert (told["cached"], told["answer"]) == (True, first["answer"])
    assert told["citations"] == before["citations"] != []
    assert told["retrieval"]["chunks"] == before["retrieval"]["chunks"] != []
    assert library.replayed(second["query_id"])["cached"] is False


def test_deleting_a_collection_takes_what_its_documents_said(library: Library):
    client = library.client
    client.post("/v1/collections", json={"name": "tides"})
    text = b"# Tides\n\nThe spring tide at Emden rises 3.4 metres.\n"
    ingest(client, text, "tides.md", collection="tides")
    embed(client)
    asked = library.ask("How high is the spring tide at Emden?", collections=["tides"])
    assert asked["citations"]

    collections = client.get("/v1/collections", params={"q": "tides"}).json()["collections"]
    assert client.delete(f"/v1/collections/{collections[0]['id']}").status_code == 200

    told = library.explained(asked["query_id"])
    assert (told["answer_gone"], {one["status"] for one in told["citations"]}) == (True, {"gone"})
    assert told["collections"] == []
