"""POST /v1/feedback."""

from tests.history.asking import Library
from tests.support.api import UNKNOWN_ID, assert_now, assert_problem, together

WRONG = [
    ({}, "rating"),
    ({"comment": " \u200b"}, "rating"),
    ({"rating": "great"}, "rating"),
    ({"rating": None}, "rating"),
    ({"rating": True}, "rating"),
    ({"rating": ["thumbs_up"]}, "rating"),
    ({"rating": "thumbs_up", "comment": 5}, "comment"),
    ({"rating": "thumbs_up", "comment": None}, "comment"),
    ({"rating": "thumbs_up", "comment": "x" * 2001}, "comment"),
    ({"comment": "a\x00"}, "comment"),
    ({"rating": "thumbs_up", "query_id": "x"}, "query_id"),
    ({"rating": "thumbs_up", "query_id": 5}, "query_id"),
    ({"rating": "thumbs_up", "query_id": None}, "query_id"),
]


def test_feedback_is_kept_and_shown(library: Library):
    query_id = library.ask()["query_id"]

    reply = library.rate(query_id, rating="thumbs_up", comment="Just right.")

    assert reply.status_code == 200, reply.text
    body = reply.json()
    assert (body["recorded"], body["query_id"], body["rating"]) == (True, query_id, "thumbs_up")
    assert body["comment"] == "Just right."
    assert_now(body["updated_at"])
    told = library.explained(query_id)
    assert told["feedback"]["rating"] == "thumbs_up"
    assert told["feedback"]["comment"] == "Just right."
    assert told["ratings"] == {"thumbs_up": 1, "thumbs_down": 0}


def test_it_may_be_changed_and_what_is_not_sent_stays(library: Library):
    query_id = library.ask()["query_id"]
    library.rate(query_id, rating="thumbs_up", comment="Just right.")

    library.rate(query_id, rating="thumbs_down")
    told = library.explained(query_id)
    assert (told["feedback"]["rating"], told["feedback"]["comment"]) == ("thumbs_down", "Just right.")
    assert told["ratings"] == {"thumbs_up": 0, "thumbs_down": 1}

    library.rate(query_id, comment="Not quite.")
    assert library.explained(query_id)["feedback"]["comment"] == "Not quite."
    library.rate(query_id, rating="thumbs_up", comment="")
    assert library.explained(query_id)["feedback"]["comment"] is None


def test_many_at_once_are_one(library: Library):
    query_id = library.ask()["query_id"]

    replies = together([lambda: library.rate(query_id, rating="thumbs_up")] * 8)

    assert {reply.status_code for reply in replies} == {200}
    assert library.explained(query_id)["ratings"] == {"thumbs_up": 1, "thumbs_down": 0}


def test_a_comment_alone_is_enough_and_no_rating(library: Library):
    query_id = library.ask()["query_id"]

    assert library.rate(query_id, comment="é" * 2000).json()["rating"] is None
    assert library.explained(query_id)["ratings"] == {"thumbs_up": 0, "thumbs_down": 0}


def test_what_is_wrong_is_refused(library: Library):
    for fields, field in WRONG:
        reply = library.client.post("/v1/feedback", json={"query_id": UNKNOWN_ID, **fields})
        assert_problem(reply, 400, "VALIDATION_ERROR", field=field)


def test_unknown_queries_and_missing_ids(library: Library):
    assert_problem(library.rate(UNKNOWN_ID, rating="thumbs_up"), 404, "NOT_FOUND")
    reply = library.client.post("/v1/feedback", json={"rating": "thumbs_up"})
    assert_problem(reply, 400, "VALIDATION_ERROR", field="query_id")
