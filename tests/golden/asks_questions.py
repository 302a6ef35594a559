"""What is asked of the routes of searching, answering, remembering and measuring, in this order."""

from typing import Any

import httpx

from tests.golden.asks_documents import (
    JSON,
    TOO_LARGE,
    bad_bodies,
    bad_fields,
    bad_ids,
    bad_parameters,
    too_large,
    wrong_method,
)
from tests.golden.exchanges import EVERY_HEADER, Ask
from tests.support.api import UNKNOWN_ID

QUESTION = "What happens to the keys when a node leaves?"
ELSEWHERE = "Which composer wrote the opera about the silver mine?"
STREAM = {"Accept": "text/event-stream"}
FILTERS = {
    "tags": ["radio"],
    "metadata": {"custom.year": {"gte": 1890}},
    "page": {"from": 1, "to": 3},
    "documents": ["<radio>"],
    "date_range": {"start": "2020-01-01", "end": "2100-01-01"},
}
BAD_QUESTIONS: list[dict[str, Any]] = [
    {},
    {"query": ""},
    {"query": 7},
    {"query": "x" * 20_000},
    {"query": "a\u0000b"},
]
BAD_SETTINGS: list[dict[str, Any]] = [
    {"query": "a", "settings": settings}
    for settings in (
        7,
        {"top_k": 0},
        {"top_k": 51},
        {"top_k": "x"},
        {"max_tokens": 0},
        {"mode": "odd"},
        {"rerank": "yes"},
        {"rewrite": 1},
        {"response_format": "xml"},
        {"streaming": "yes"},
    )
]
BAD_FILTERS: list[dict[str, Any]] = [
    {"query": "a", "filters": filters}
    for filters in (
        7,
        {"colour": "red"},
        {"documents": ["seven"]},
        {"documents": [UNKNOWN_ID]},
        {"tags": []},
        {"tags": [7]},
        {"page": 0},
        {"page": {"from": 3, "to": 1}},
        {"page": {"since": 1}},
        {"date_range": {"start": "yesterday"}},
        {"chapter": "a", "chapters": "b"},
        {"metadata": 7},
        {"metadata": {"year": {"above": 1}}},
        {"metadata": {"year": {"gte": True}}},
    )
]
BAD_COLLECTIONS: list[dict[str, Any]] = [
    {"query": "a", "collections": 7},
    {"query": "a", "collections": [7]},
    {"query": "a", "collections": ["nowhere"]},
    {"query": "a", "conversation_id": 7},
]


def _search(title: str, query: str = QUESTION, **fields: Any) -> Ask:
    return Ask(title, "POST", "/v1/search", {"query": query, **fields})


def _ask(title: str, query: str = QUESTION, **fields: Any) -> Ask:
    return Ask(title, "POST", "/v1/query", {"query": query, **fields})


SEARCHES = [
    _search("by both, ranked again", settings={"top_k": 2}),
    _search("by both", settings={"top_k": 2, "rerank": False}),
    _search("by meaning", settings={"mode": "dense", "top_k": 1}),
    _search("by words", settings={"mode": "sparse", "top_k": 1}),
    _search("a string", "each node", settings={"mode": "exact"}),
    _search("in some collections", "Tea", collections=["Handbooks"], settings={"top_k": 1}),
    _search("with filters", "The boat", filters=FILTERS, settings={"top_k": 1}),
    _search("explained", settings={"top_k": 1}, explain="<ring-chunk>"),
    _search("nothing", "zebra", settings={"mode": "sparse"}),
    *bad_bodies("POST", "/v1/search"),
    too_large("POST", "/v1/search"),
    *bad_fields(
        "POST",
        "/v1/search",
        *BAD_QUESTIONS,
        *BAD_SETTINGS,
        *BAD_FILTERS,
        *BAD_COLLECTIONS,
        {"query": "a", "explain": "seven"},
        {"query": "a", "explain": UNKNOWN_ID},
        {"query": "a", "explain": 7},
    ),
    wrong_method("GET", "/v1/search"),
]
ANSWERS = [
    Ask(
        "answered",
        "POST",
        "/v1/query",
        {"query": QUESTION, "conversation_id": "talk"},
        keep=[("query", "query_id")],
    ),
    _ask("not answered", ELSEWHERE),
    _ask(
        "without sources, as JSON",
        "How long is green tea steeped?",
        collections=["Handbooks"],
        settings={"include_sources": False, "response_format": "json", "top_k": 3, "max_tokens": 50},
    ),
    _ask("with filters", "Where was the boat shown?", filters=FILTERS),
    Ask("a stream", "POST", "/v1/query", {"query": QUESTION}, STREAM, shown=EVERY_HEADER),
    Ask("a stream of what is not known", "POST", "/v1/query", {"query": ELSEWHERE}, STREAM),
    _ask("a stream that the body asks for", settings={"streaming": True, "include_sources": False}),
    Ask("a stream that is refused", "POST", "/v1/query", {"query": ""}, STREAM),
    *bad_bodies("POST", "/v1/query"),
    too_large("POST", "/v1/query"),
    *bad_fields("POST", "/v1/query", *BAD_QUESTIONS, *BAD_SETTINGS, *BAD_FILTERS, *BAD_COLLECTIONS),
    wrong_method("GET", "/v1/query"),
]
BAD_OLD_FIELDS: list[dict[str, Any]] = [
    {"query": "a", "topK": 0},
    {"query": "a", "topK": "x"},
    {"query": "a", "maxTokens": 5000},
    {"query": "a", "collection": "nowhere"},
    {"query": "a", "collection": 7},
]
RAG_ASK = [
    Ask("answered", "POST", "/api/v1/rag/ask", {"query": QUESTION, "topK": 2, "maxTokens": 100}),
    Ask("not answered", "POST", "/api/v1/rag/ask", {"query": ELSEWHERE, "topK": 1}),
    Ask("an unknown field", "POST", "/api/v1/rag/ask", {"query": ELSEWHERE, "topK": 1, "colour": "red"}),
    Ask("a stream", "POST", "/api/v1/rag/ask", {"query": QUESTION, "topK": 1}, STREAM),
    *bad_bodies("POST", "/api/v1/rag/ask"),
    too_large("POST", "/api/v1/rag/ask"),
    *bad_fields("POST", "/api/v1/rag/ask", *BAD_QUESTIONS, *BAD_OLD_FIELDS),
    wrong_method("GET", "/api/v1/rag/ask"),
]


def _old_query(path: str) -> list[Ask]:
    return [
        Ask("answered", "POST", path, {"query": QUESTION, "maxSources": 2}),
        Ask("not answered", "POST", path, {"query": ELSEWHERE, "maxSources": 1}),
        Ask("a stream", "POST", path, {"query": QUESTION, "maxSources": 1}, STREAM),
        Ask("a book's question", "POST", path, {"question": QUESTION}),
        Ask("a book's question without answer", "POST", path, {"question": ELSEWHERE}),
        Ask("a stream of a book", "POST", path, {"question": QUESTION}, STREAM),
        *bad_bodies("POST", path),
        too_large("POST", path),
        *bad_fields(
            "POST",
            path,
            *BAD_QUESTIONS,
            *BAD_OLD_FIELDS,
            {"query": "a", "maxSources": 0},
            {"query": "a", "question": "b"},
            {"question": ""},
        ),
        wrong_method("GET", path),
    ]


def _judged(reply: httpx.Response) -> bool:
    return reply.status_code == 200 and bool(reply.json()["faithfulness_judged_at"])


def _healthy(reply: httpx.Response) -> bool:
    """It is looked at from time to time, not for each request."""
    told = reply.json()
    return bool(told["status"] == "healthy" and told["workers"] == 1)


QUERY, RAG_QUERY = _old_query("/query"), _old_query("/api/v1/rag/query")
MEMORY = [
    Ask("one, once it is judged", "GET", "/v1/queries/<query>", until=_judged),
    *bad_ids("GET", "/v1/queries/{}"),
    Ask("what a caller says of it", "POST", "/v1/feedback", {"query_id": "<query>", "rating": "thumbs_up"}),
    Ask("and more", "POST", "/v1/feedback", {"query_id": "<query>", "comment": "Clear."}),
    *bad_bodies("POST", "/v1/feedback"),
    too_large("POST", "/v1/feedback"),
    *bad_fields(
        "POST",
        "/v1/feedback",
        {},
        {"query_id": "seven", "rating": "thumbs_up"},
        {"query_id": UNKNOWN_ID, "rating": "thumbs_up"},
        {"query_id": "<query>"},
        {"query_id": "<query>", "rating": "five"},
        {"query_id": "<query>", "comment": 7},
        {"query_id": "<query>", "comment": "x" * 2001},
    ),
    wrong_method("GET", "/v1/feedback"),
    Ask("a word that is one letter off", "GET", "/v1/spelling?q=Where+was+the+boot+steerd%3F"),
    *bad_parameters("/v1/spelling", "q=", "q=a&collection=nowhere"),
    Ask("conversations", "GET", "/v1/conversations?q=keys+happen&limit=1", without_body=True),
    *bad_parameters("/v1/conversations", "limit=0", "cursor=x"),
    Ask("a conversation", "GET", "/v1/conversations/talk"),
    Ask("nobody's", "GET", "/v1/conversations/nobody"),
    Ask("the list", "GET", "/v1/queries?conversation_id=talk&answered=true&rating=thumbs_up"),
    Ask("an empty list", "GET", "/v1/queries?until=2020-01-01&collection=default&limit=1"),
    *bad_parameters(
        "/v1/queries",
        "limit=0",
        "cursor=x",
        "sort=colour",
        "answered=perhaps",
        "rating=five",
        "since=yesterday",
        "since=2026-01-02&until=2026-01-01",
        "collection=nowhere",
    ),
    Ask("asked again", "POST", "/v1/queries/<query>/replay"),
    *bad_ids("POST", "/v1/queries/{}/replay"),
    Ask("deleted", "DELETE", "/v1/queries/<query>"),
    *bad_ids("DELETE", "/v1/queries/{}"),
    wrong_method("POST", "/v1/queries"),
    wrong_method("PUT", "/v1/queries/<query>"),
    wrong_method("GET", "/v1/queries/<query>/replay"),
]
LINES = {"Content-Type": "application/x-ndjson"}
QUESTION_LINES = (
    b'{"id": "ring", "question": "What happens to the keys when a node leaves?", '
    b'"answers": ["another node"], "doc": "ring.pdf", "page": 1}\n'
    b'{"id": "opera", "question": "Which composer wrote the opera about the silver mine?", '
    b'"answerable": false, "doc": "ring.pdf"}\n'
)
QUESTION_SETS = [
    Ask(
        "made",
        "POST",
        "/v1/question_sets?name=ring&description=Two&collection=default",
        QUESTION_LINES,
        LINES,
        keep=[("set", "id")],
    ),
    Ask(
        "made of one object",
        "POST",
        "/v1/question_sets",
        {"name": "spare", "questions": [{"question": "Who?", "doc": "a.pdf"}]},
        keep=[("spare-set", "id")],
    ),
    Ask("a name that is taken", "POST", "/v1/question_sets?name=ring", QUESTION_LINES, LINES),
    Ask("without a name", "POST", "/v1/question_sets", QUESTION_LINES, LINES),
    Ask("a line that is wrong", "POST", "/v1/question_sets?name=a", QUESTION_LINES + b"{no\n", LINES),
    Ask("a question twice", "POST", "/v1/question_sets?name=a", QUESTION_LINES * 2, LINES),
    Ask("no questions", "POST", "/v1/question_sets?name=a", b"\n", LINES),
    Ask("no collection", "POST", "/v1/question_sets?name=a&collection=nowhere", QUESTION_LINES, LINES),
    *bad_bodies("POST", "/v1/question_sets"),
    too_large("POST", "/v1/question_sets"),
    Ask("a line that is too long", "POST", "/v1/question_sets?name=a", TOO_LARGE, LINES),
    *bad_fields(
        "POST",
        "/v1/question_sets",
        {},
        {"name": "a"},
        {"name": 7, "questions": []},
        {"name": "a", "questions": 7},
        {"name": "a", "questions": [{"doc": "a"}]},
        {"name": "a", "questions": [{"question": "Who?", "doc": "a", "page": "x"}]},
    ),
    Ask("the list", "GET", "/v1/question_sets?sort=name&q=r"),
    *bad_parameters("/v1/question_sets", "limit=0", "cursor=x", "sort=colour"),
    Ask("one", "GET", "/v1/question_sets/<set>"),
    *bad_ids("GET", "/v1/question_sets/{}"),
    *bad_parameters("/v1/question_sets/<set>", "limit=0", "cursor=x"),
    Ask("deleted", "DELETE", "/v1/question_sets/<spare-set>"),
    *bad_ids("DELETE", "/v1/question_sets/{}"),
    wrong_method("DELETE", "/v1/question_sets"),
    wrong_method("PATCH", "/v1/question_sets/<set>"),
]
RUN = {
    "question_set": "ring",
    "collections": ["default"],
    "configurations": [{"name": "plain", "settings": {"mode": "dense", "top_k": 3}}, {"name": "both"}],
    "answers": True,
}
EVALUATIONS = [
    Ask("begun", "POST", "/v1/evaluations", RUN, keep=[("run", "id")]),
    Ask(
        "its end",
        "GET",
        "/v1/evaluations/<run>",
        until=lambda reply: reply.json()["status"] in ("completed", "failed"),
    ),
    Ask("some of its results", "GET", "/v1/evaluations/<run>?limit=1&sort=-position"),
    *bad_ids("GET", "/v1/evaluations/{}"),
    *bad_parameters("/v1/evaluations/<run>", "limit=0", "cursor=x", "failing=odd"),
    Ask("its plot", "GET", "/v1/evaluations/<run>/plot.svg"),
    *bad_ids("GET", "/v1/evaluations/{}/plot.svg"),
    *bad_bodies("POST", "/v1/evaluations"),
    too_large("POST", "/v1/evaluations"),
    *bad_fields(
        "POST",
        "/v1/evaluations",
        {},
        {"question_set": 7},
        {"question_set": "nowhere"},
        {**RUN, "collections": 7},
        {**RUN, "collections": ["nowhere"]},
        {**RUN, "answers": "yes"},
        {**RUN, "configurations": []},
        {**RUN, "configurations": [{"name": "a"}, {"name": "a"}]},
        {**RUN, "configurations": [{"name": "a", "settings": {"mode": "odd"}}]},
        {**RUN, "configurations": [{"name": "a", "settings": {"colour": "red"}}]},
        {**RUN, "configurations": [{"name": "a", "settings": {"embedding_model": "nobody's"}}]},
    ),
    Ask("the list", "GET", "/v1/evaluations?question_set=<set>&limit=1"),
    *bad_parameters("/v1/evaluations", "limit=0", "cursor=x", "status=odd", "question_set=x"),
    Ask("deleted", "DELETE", "/v1/evaluations/<run>"),
    *bad_ids("DELETE", "/v1/evaluations/{}"),
    wrong_method("PUT", "/v1/evaluations"),
    wrong_method("PUT", "/v1/evaluations/<run>"),
    wrong_method("POST", "/v1/evaluations/<run>/plot.svg"),
]
PAGE = {"Accept": "text/html"}
_CHAT, _EMBED = "/v1/chat/completions", "/v1/embeddings"
_MESSAGES = [{"role": "user", "content": QUESTION}]
OPENAI = [  # what it answers holds times and the server's address; tests/platform/test_openai.py reads it
    Ask("models", "GET", "/v1/models", without_body=True),
    Ask("one model", "GET", "/v1/models/knowlex"),
    Ask("no such model", "GET", "/v1/models/gpt-4"),
    Ask("a question", "POST", _CHAT, {"model": "knowlex", "messages": _MESSAGES}, without_body=True),
    Ask("of no model", "POST", _CHAT, {"model": "gpt-4", "messages": _MESSAGES}),
    Ask("without messages", "POST", _CHAT, {"model": "knowlex", "messages": []}),
    Ask("two answers", "POST", _CHAT, {"model": "knowlex", "messages": _MESSAGES, "n": 2}),
    Ask("vectors", "POST", _EMBED, {"input": "a"}, without_body=True),
    Ask("of nothing", "POST", _EMBED, {"input": []}),
]
_DIFY = {"knowledge_id": "default", "query": "Who?", "retrieval_setting": {"top_k": 1, "score_threshold": 0}}
_CONTAINS = {"conditions": [{"name": "year", "comparison_operator": "contains", "value": "1"}]}
DIFY = [
    Ask("passages", "POST", "/v1/dify/retrieval", _DIFY),
    Ask("no such collection", "POST", "/v1/dify/retrieval", _DIFY | {"knowledge_id": "nowhere"}),
    Ask("no question", "POST", "/v1/dify/retrieval", _DIFY | {"query": ""}),
    Ask("without a count", "POST", "/v1/dify/retrieval", _DIFY | {"retrieval_setting": {}}),
    Ask("a condition", "POST", "/v1/dify/retrieval", _DIFY | {"metadata_condition": _CONTAINS}),
    Ask("as Dify tries out an address", "POST", "/v1/dify/retrieval"),
]
EDGES = [
    Ask("health, with every header", "GET", "/health", shown=EVERY_HEADER, until=_healthy),
    wrong_method("POST", "/health"),
    wrong_method("POST", "/metrics"),
    Ask("the front door, to a program", "GET", "/"),
    Ask("the front door, to a browser", "GET", "/", headers=PAGE),
    wrong_method("POST", "/"),
    Ask("the documentation, with every header", "GET", "/api/docs", headers=PAGE, shown=EVERY_HEADER),
    wrong_method("POST", "/api/docs"),
    Ask("the schema", "GET", "/api/schema", without_body=True),
    wrong_method("POST", "/api/schema"),
    Ask("the admin without its slash", "GET", "/admin"),
    Ask("the admin, logged out", "GET", "/admin/"),
    Ask("no route", "GET", "/nothing"),
    Ask("a slash too many", "GET", "/v1/documents/"),
    Ask("a version that is not there", "POST", "/v2/query", {"query": "a"}),
    Ask(
        "a request id of the caller's",
        "GET",
        "/nothing",
        headers={"X-Request-ID": "mine-7"},
        shown=("X-Request-ID",),
    ),
    Ask("no body, only the head", "HEAD", "/v1/documents"),
    Ask("what is allowed", "OPTIONS", "/v1/documents"),
    Ask("what is allowed", "OPTIONS", "/api/v1/documents"),
    Ask(
        "from another site's page",
        "POST",
        "/v1/query",
        {"query": "a"},
        {"Sec-Fetch-Site": "cross-site", "Origin": "https://example.org"},
    ),
    Ask("for another host", "GET", "/health", headers={"Host": "example.org"}),
    Ask("headers that are too large", "GET", "/nothing", headers={"X-Long": "x" * 100_000}),
    Ask("deep JSON", "POST", "/v1/query", b"[" * 5000, JSON),
]
