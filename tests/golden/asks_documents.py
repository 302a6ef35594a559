"""What is asked of the routes of documents, collections and jobs, in this order."""

import base64
from collections.abc import Mapping
from typing import Any

import httpx

from tests.golden.exchanges import Ask
from tests.search.conftest import BREAD, HASHING, RADIO, TEA
from tests.support.api import UNKNOWN_ID
from tests.support.pdf import make_pdf
from tests.support.texts import markdown

PDF = make_pdf(
    HASHING, "Round robin hands each request to the next server.", title="Ring", outline=[("Ring", 1)]
)
KITCHEN = markdown("Kitchen", [("Bread", BREAD), ("Tea", TEA)])
TOO_LARGE = b'"' + b"x" * 1_200_000 + b'"'
JSON = {"Content-Type": "application/json"}
TEXT = {"Content-Type": "text/plain; charset=utf-8"}


def bad_bodies(method: str, path: str) -> list[Ask]:
    """What no route takes for its JSON body."""
    return [
        Ask("no JSON", method, path, b"{no", JSON),
        Ask("no object", method, path, b"[1]", JSON),
        Ask("a key twice", method, path, b'{"name": "a", "name": "b"}', JSON),
        Ask("no number of JSON", method, path, b'{"name": NaN}', JSON),
        Ask("no UTF-8", method, path, b'{"name": "\xff"}', JSON),
        Ask("no body", method, path),
        Ask("another media type", method, path, b"name: a", {"Content-Type": "application/yaml"}),
    ]


def too_large(method: str, path: str) -> Ask:
    return Ask("too large", method, path, TOO_LARGE, JSON)


def bad_ids(method: str, path: str, body: Any = None) -> list[Ask]:
    """path: with `{}` where the id belongs."""
    return [
        Ask("no id", method, path.format("seven"), body),
        Ask("an id that nobody has", method, path.format(UNKNOWN_ID), body),
    ]


def bad_fields(method: str, path: str, *bodies: Mapping[str, Any]) -> list[Ask]:
    return [Ask("a field that is wrong", method, path, body) for body in bodies]


def bad_parameters(path: str, *queries: str) -> list[Ask]:
    return [Ask("a parameter that is wrong", "GET", f"{path}?{query}") for query in queries]


def wrong_method(method: str, path: str) -> Ask:
    return Ask("a method that is not there", method, path)


def _upload(title: str, name: str, content: bytes, kind: str, query: str = "", **more: Any) -> Ask:
    files = {"file": (name, content, kind)}
    return Ask(title, "POST", f"/api/v1/documents{query}", files=files, **more)


def _source(kind: str, **fields: Any) -> dict[str, Any]:
    return {"source": {"type": kind, **fields}}


def _completed(reply: httpx.Response) -> bool:
    return bool(reply.json()["status"] == "completed")


def _ingest(title: str, documents: Any, *, to: str = "default", **more: Any) -> Ask:
    body = {"collection_id": to, "documents": documents}
    return Ask(title, "POST", "/v1/ingest", body, **more)


METADATA = {"title": "The boat", "tags": ["radio"], "custom": {"year": 1898}}
NEW_RADIO = {
    **_source("text", content=f"{RADIO} The public took it for magic.", filename="radio.txt"),
    "metadata": METADATA,
}
COLLECTIONS = [
    Ask("the list of a new server", "GET", "/v1/collections", keep=[("default", "collections.0.id")]),
    Ask(
        "made",
        "POST",
        "/v1/collections",
        {"name": "Manuals", "description": "How things work", "settings": {"chunk_size": 300}},
        keep=[("manuals", "id")],
    ),
    Ask("made by its name alone", "POST", "/v1/collections", {"name": "Spare"}, keep=[("spare", "id")]),
    Ask(
        "an unknown field", "POST", "/v1/collections", {"name": "Odd", "colour": "red"}, keep=[("odd", "id")]
    ),
    Ask("a name that is taken", "POST", "/v1/collections", {"name": "Manuals"}),
    *bad_bodies("POST", "/v1/collections"),
    too_large("POST", "/v1/collections"),
    *bad_fields(
        "POST",
        "/v1/collections",
        {},
        {"name": ""},
        {"name": 7},
        {"name": "x" * 300},
        {"name": "a\u0000b"},
        {"name": "a", "description": 7},
        {"name": "a", "settings": []},
        {"name": "a", "settings": {"chunk_size": "large"}},
        {"name": "a", "settings": {"chunk_size": 1}},
        {"name": "a", "settings": {"chunk_overlap": 100_000}},
        {"name": "a", "settings": {"chunk_strategy": "magic"}},
        {"name": "a", "settings": {"colour": "red"}},
    ),
    Ask("the list", "GET", "/v1/collections"),
    Ask("a page of the list", "GET", "/v1/collections?limit=1&sort=-created_at&q=a"),
    *bad_parameters("/v1/collections", "limit=0", "limit=x", "cursor=x", "sort=colour", f"q={'x' * 256}"),
    Ask("one", "GET", "/v1/collections/<manuals>"),
    *bad_ids("GET", "/v1/collections/{}"),
    Ask(
        "changed",
        "PATCH",
        "/v1/collections/<manuals>",
        {"name": "Handbooks", "settings": {"chunk_overlap": 20}},
    ),
    *bad_ids("PATCH", "/v1/collections/{}", {"name": "Other"}),
    *bad_bodies("PATCH", "/v1/collections/<manuals>"),
    *bad_fields("PATCH", "/v1/collections/<manuals>", {}, {"name": "Spare"}, {"settings": 7}),
    Ask("deleted", "DELETE", "/v1/collections/<spare>"),
    *bad_ids("DELETE", "/v1/collections/{}"),
    Ask("the other is deleted, too", "DELETE", "/v1/collections/<odd>"),
    wrong_method("PUT", "/v1/collections"),
    wrong_method("POST", "/v1/collections/<manuals>"),
    wrong_method("POST", "/v1/collections/<manuals>/stats"),
]
JOBS = [
    _ingest(
        "a text",
        [{**_source("text", content=RADIO, filename="radio.txt"), "metadata": METADATA}],
        keep=[("radio-job", "job_id"), ("radio", "documents.0.id")],
    ),
    Ask("how it went", "GET", "/v1/ingest/<radio-job>?wait=60", until=_completed),
    _ingest(
        "a file",
        [_source("file", content=base64.b64encode(PDF).decode(), filename="ring.pdf")],
        headers={"Idempotency-Key": "ring"},
        keep=[("ring-job", "job_id"), ("ring", "documents.0.id")],
    ),
    Ask("how it went", "GET", "/v1/ingest/<ring-job>?wait=60", until=_completed),
    _ingest(
        "the same again",
        [_source("file", content=base64.b64encode(PDF).decode(), filename="ring.pdf")],
        headers={"Idempotency-Key": "ring"},
    ),
    _ingest(
        "another request with its key",
        [_source("text", content="Other words.")],
        headers={"Idempotency-Key": "ring"},
    ),
    _ingest(
        "a key that is wrong",
        [_source("text", content="Other words.")],
        headers={"Idempotency-Key": "x" * 300},
    ),
    _ingest(
        "documents that cannot be read, and one that is there already",
        [
            _source("file", content=base64.b64encode(b"%PDF-1.4 broken").decode(), filename="broken.pdf"),
            _source("file", content=base64.b64encode(b"\x00\x01").decode(), filename="odd.bin"),
            _source("file", content=base64.b64encode(b"x" * 1_200_000).decode(), filename="large.txt"),
            _source("text", content=RADIO, filename="again.txt"),
        ],
        keep=[
            ("failed-job", "job_id"),
            ("broken", "documents.0.id"),
            ("odd", "documents.1.id"),
            ("large", "documents.2.id"),
            ("again", "documents.3.id"),
        ],
    ),
    Ask(
        "how it went",
        "GET",
        "/v1/ingest/<failed-job>?wait=60",
        until=lambda reply: bool(reply.json()["completed_at"]),
    ),
    *bad_ids("GET", "/v1/ingest/{}"),
    *bad_parameters("/v1/ingest/<ring-job>", "wait=61", "wait=-1", "wait=x"),
    Ask("the list", "GET", "/v1/ingest"),
    Ask("of one status", "GET", "/v1/ingest?status=failed&collection=default&limit=1"),
    *bad_parameters("/v1/ingest", "status=odd", "collection=", "collection=nowhere", "limit=0", "cursor=x"),
    Ask("nothing to be tried again", "POST", "/v1/ingest/<ring-job>/retry"),
    Ask("tried again", "POST", "/v1/ingest/<failed-job>/retry"),
    Ask(
        "how it went",
        "GET",
        "/v1/ingest/<failed-job>?wait=60",
        until=lambda reply: bool(reply.json()["completed_at"]),
    ),
    *bad_ids("POST", "/v1/ingest/{}/retry"),
    *bad_bodies("POST", "/v1/ingest"),
    *bad_fields(
        "POST",
        "/v1/ingest",
        {},
        {"documents": []},
        {"documents": 7},
        {"documents": [7]},
        {"documents": [{}]},
        {"documents": [_source("text", content="a")], "collection_id": "nowhere"},
        {"documents": [_source("text", content="a")], "collection_id": UNKNOWN_ID},
        {"documents": [_source("text", content="a")], "collection_id": 7},
        {"documents": [_source("text", content="a")], "settings": {"chunk_size": 1}},
        {"documents": [_source("tape", content="a")]},
        {"documents": [_source("text")]},
        {"documents": [_source("text", content="")]},
        {"documents": [_source("text", content="a", filename=7)]},
        {"documents": [_source("file", content="no base64!")]},
        {"documents": [_source("url", content="https://example.org/")]},
        {"documents": [{**_source("text", content="a"), "metadata": 7}]},
        {"documents": [{**_source("text", content="a"), "metadata": {"title": 7}}]},
        {"documents": [{**_source("text", content="a"), "metadata": {"note": "x" * 20_000}}]},
        {"documents": [_source("text", content="a")], "colour": "red"},
    ),
    Ask("too large", "POST", "/v1/ingest", b'"' + b"x" * 8_000_000 + b'"', JSON),
    wrong_method("DELETE", "/v1/ingest"),
    wrong_method("PUT", "/v1/ingest/<ring-job>"),
    wrong_method("GET", "/v1/ingest/<ring-job>/retry"),
]
DOCUMENTS = [
    Ask("the list", "GET", "/v1/documents?job_id=<radio-job>"),
    Ask("chosen", "GET", "/v1/documents?status=completed&type=PDF&sort=-created_at&limit=1&q=ring"),
    Ask("those that failed", "GET", "/v1/documents?status=failed&sort=created_at&job_id=<failed-job>"),
    *bad_parameters(
        "/v1/documents",
        "status=odd",
        "type=odd",
        "sort=colour",
        "limit=0",
        "cursor=x",
        "job_id=x",
        "collection=",
        "collection=nowhere",
    ),
    Ask("one", "GET", "/v1/documents/<ring>"),
    Ask("one that failed", "GET", "/v1/documents/<broken>"),
    *bad_ids("GET", "/v1/documents/{}"),
    Ask("its chunks", "GET", "/v1/documents/<ring>/chunks?limit=1", keep=[("ring-chunk", "chunks.0.id")]),
    *bad_ids("GET", "/v1/documents/{}/chunks"),
    *bad_parameters("/v1/documents/<ring>/chunks", "limit=0", "cursor=x", "sort=colour"),
    Ask("its pages", "GET", "/v1/documents/<ring>/pages"),
    *bad_ids("GET", "/v1/documents/{}/pages"),
    Ask("one page", "GET", "/v1/documents/<ring>/pages/1"),
    Ask("a page that is not there", "GET", "/v1/documents/<ring>/pages/9"),
    Ask("a picture", "GET", "/v1/documents/<ring>/pages/1/image?width=400", without_body=True),
    Ask("a picture of no PDF", "GET", "/v1/documents/<radio>/pages/1/image"),
    *bad_parameters("/v1/documents/<ring>/pages/1/image", "width=5", "width=x", "checksum=other"),
    Ask("where a quote stands", "GET", "/v1/documents/<ring>/highlights?start=65&end=123"),
    Ask("in a text", "GET", "/v1/documents/<radio>/highlights?start=0&end=20"),
    *bad_parameters("/v1/documents/<ring>/highlights", "start=5", "start=9&end=5", "start=0&end=30000"),
    Ask("the file", "GET", "/v1/documents/<radio>/file"),
    *bad_ids("GET", "/v1/documents/{}/file"),
    Ask("nothing to be tried again", "POST", "/v1/documents/<ring>/retry"),
    Ask("tried again", "POST", "/v1/documents/<broken>/retry"),
    *bad_ids("POST", "/v1/documents/{}/retry"),
    Ask(
        "replaced",
        "PUT",
        "/v1/documents/<radio>",
        NEW_RADIO,
        keep=[("new-radio-job", "job_id")],
    ),
    Ask("how it went", "GET", "/v1/ingest/<new-radio-job>?wait=60", until=_completed),
    Ask(
        "replaced by the same",
        "PUT",
        "/v1/documents/<radio>",
        NEW_RADIO,
    ),
    Ask("replaced by what another one holds", "PUT", "/v1/documents/<radio>?filename=ring.pdf", PDF, JSON),
    Ask(
        "replaced by the bytes of another one",
        "PUT",
        "/v1/documents/<radio>?filename=ring.pdf",
        _source("file", content=base64.b64encode(PDF).decode()),
    ),
    *bad_ids("PUT", "/v1/documents/{}", _source("text", content="a")),
    *bad_bodies("PUT", "/v1/documents/<radio>"),
    *bad_fields("PUT", "/v1/documents/<radio>", {}, {"source": 7}, _source("tape"), _source("text")),
    _ingest(
        "another text",
        [_source("text", content="Soon gone.", filename="gone.txt")],
        keep=[("gone-job", "job_id"), ("gone", "documents.0.id")],
    ),
    Ask("how it went", "GET", "/v1/ingest/<gone-job>?wait=60", until=_completed),
    Ask("deleted", "DELETE", "/v1/documents/<gone>"),
    Ask("deleted twice", "DELETE", "/v1/documents/<gone>"),
    *bad_ids("DELETE", "/v1/documents/{}"),
    wrong_method("POST", "/v1/documents"),
    wrong_method("PATCH", "/v1/documents/<ring>"),
    wrong_method("DELETE", "/v1/documents/<ring>/chunks"),
    wrong_method("DELETE", "/v1/documents/<ring>/pages"),
    wrong_method("GET", "/v1/documents/<ring>/retry"),
    Ask("what a collection holds", "GET", "/v1/collections/<default>/stats"),
    *bad_ids("GET", "/v1/collections/{}/stats"),
]
UPLOADS = [
    _upload(
        "uploaded",
        "kitchen.md",
        KITCHEN,
        "text/markdown",
        "?collection=Handbooks",
        headers={"Idempotency-Key": "kitchen"},
        keep=[("kitchen", "documentId")],
    ),
    _upload(
        "the same again",
        "kitchen.md",
        KITCHEN,
        "text/markdown",
        "?collection=Handbooks",
        headers={"Idempotency-Key": "kitchen"},
    ),
    _upload(
        "another file with its key",
        "tea.md",
        b"# Tea\n\nGreen.",
        "text/markdown",
        "?collection=Handbooks",
        headers={"Idempotency-Key": "kitchen"},
    ),
    _upload("ingested already", "kitchen.md", KITCHEN, "text/markdown", "?collection=Handbooks"),
    _upload("to `default`", "tea.md", b"# Tea\n\nGreen.", "text/markdown", keep=[("tea", "documentId")]),
    _upload("broken", "broken.pdf", b"%PDF-1.4 broken", "application/pdf"),
    _upload("without text", "empty.pdf", make_pdf(""), "application/pdf"),
    _upload("of an unknown type", "odd.bin", b"\x00\x01", "application/octet-stream"),
    _upload("empty", "empty.md", b"", "text/markdown"),
    _upload("too large", "large.txt", b"x" * 1_200_000, "text/plain"),
    _upload("too large by far", "large.txt", b"x" * 3_200_000, "text/plain"),
    _upload("to a collection that is not there", "a.md", b"# A", "text/markdown", "?collection=nowhere"),
    _upload(
        "to two collections",
        "a.md",
        b"# A",
        "text/markdown",
        "?collection=default",
        data={"collection": "Handbooks"},
    ),
    Ask("without a file", "POST", "/api/v1/documents", files={"other": ("a.md", b"# A", "text/markdown")}),
    Ask("no form", "POST", "/api/v1/documents", {"file": "a.md"}),
    Ask("no boundary", "POST", "/api/v1/documents", b"x", {"Content-Type": "multipart/form-data"}),
    Ask("the list", "GET", "/api/v1/documents?collection=Handbooks"),
    Ask("a page of the list", "GET", "/api/v1/documents?limit=1&offset=1"),
    *bad_parameters(
        "/api/v1/documents", "limit=0", "limit=x", "offset=-1", "collection=nowhere", "collection="
    ),
    Ask("one", "GET", "/api/v1/documents/<kitchen>"),
    *bad_ids("GET", "/api/v1/documents/{}"),
    Ask("its chunks", "GET", "/api/v1/documents/<kitchen>/chunks"),
    *bad_ids("GET", "/api/v1/documents/{}/chunks"),
    Ask("its pages", "GET", "/api/v1/documents/<kitchen>/pages"),
    *bad_ids("GET", "/api/v1/documents/{}/pages"),
    Ask("deleted", "DELETE", "/api/v1/documents/<tea>"),
    *bad_ids("DELETE", "/api/v1/documents/{}"),
    wrong_method("PATCH", "/api/v1/documents"),
    wrong_method("PUT", "/api/v1/documents/<kitchen>"),
    wrong_method("POST", "/api/v1/documents/<kitchen>/chunks"),
    wrong_method("POST", "/api/v1/documents/<kitchen>/pages"),
]
GENERATE, SEARCH = "/api/v1/embeddings/generate", "/api/v1/embeddings/search"
EMBEDDINGS = [
    Ask("one document", "POST", f"{GENERATE}/<kitchen>"),
    Ask("one that is embedded", "POST", f"{GENERATE}/<kitchen>"),
    Ask("all", "POST", GENERATE),
    Ask("without waiting", "POST", GENERATE, headers={"Prefer": "respond-async"}),
    *bad_ids("POST", f"{GENERATE}/{{}}"),
    wrong_method("GET", GENERATE),
    wrong_method("DELETE", f"{GENERATE}/<kitchen>"),
    Ask("found", "POST", f"{SEARCH}?k=2&collection=Handbooks", b"How long is tea steeped?", TEXT),
    Ask("nothing found", "POST", f"{SEARCH}?collection=<manuals>&k=1", b"Tea?", TEXT),
    Ask("no question", "POST", SEARCH, b"  ", TEXT),
    Ask("no UTF-8", "POST", SEARCH, b"\xff", TEXT),
    Ask("too long", "POST", SEARCH, b"x" * 20_000, TEXT),
    Ask("too large", "POST", SEARCH, TOO_LARGE, TEXT),
    Ask("another media type", "POST", SEARCH, {"query": "Tea?"}),
    Ask("another character set", "POST", SEARCH, b"Tea?", {"Content-Type": "text/plain; charset=latin-1"}),
    *(
        Ask("a parameter that is wrong", "POST", f"{SEARCH}?{query}", b"Tea?", TEXT)
        for query in ("k=0", "k=51", "k=x", "collection=nowhere", "collection=")
    ),
    wrong_method("GET", SEARCH),
]

_HOOK = "https://hooks.example/knowlex"
WEBHOOKS = [  # nothing ends while there is one
    Ask("made", "POST", "/v1/webhooks", {"url": _HOOK, "events": ["job.ended"]}, keep=[("hook", "id")]),
    *bad_bodies("POST", "/v1/webhooks"),
    too_large("POST", "/v1/webhooks"),
    *bad_fields(
        "POST",
        "/v1/webhooks",
        {},
        {"url": 7},
        {"url": f"{_HOOK}/{'x' * 2048}"},
        {"url": "ftp://hooks.example/"},
        {"url": "http://ann:secret@hooks.example/"},
        {"url": "http://hooks.example:8080/"},
        {"url": "http://10.0.0.1/"},
        {"url": _HOOK, "events": []},
        {"url": _HOOK, "events": ["job.began"]},
        {"url": _HOOK, "events": "job.ended"},
    ),
    Ask("the list", "GET", "/v1/webhooks?limit=1"),
    *bad_parameters("/v1/webhooks", "limit=0", "cursor=x", "sort=url"),
    Ask("one", "GET", "/v1/webhooks/<hook>"),
    *bad_ids("GET", "/v1/webhooks/{}"),
    Ask("changed", "PATCH", "/v1/webhooks/<hook>", {"events": ["evaluation.ended", "sync.ended"]}),
    *bad_ids("PATCH", "/v1/webhooks/{}", {"url": _HOOK}),
    *bad_fields("PATCH", "/v1/webhooks/<hook>", {}, {"url": "http://127.0.0.1/"}, {"events": []}),
    Ask("deleted", "DELETE", "/v1/webhooks/<hook>"),
    *bad_ids("DELETE", "/v1/webhooks/{}"),
    wrong_method("PUT", "/v1/webhooks"),
    wrong_method("POST", "/v1/webhooks/<hook>"),
]
NEW_SOURCE = {
    "name": "handbooks",
    "collection": "default",
    "kind": "folder",
    "config": {"path": "/srv/knowlex/handbooks"},  # is not there
}
SOURCES = [
    Ask("made", "POST", "/v1/sources", NEW_SOURCE, keep=[("source", "id")]),
    Ask("a name that is taken", "POST", "/v1/sources", NEW_SOURCE),
    *bad_bodies("POST", "/v1/sources"),
    too_large("POST", "/v1/sources"),
    *bad_fields(
        "POST",
        "/v1/sources",
        {},
        {**NEW_SOURCE, "name": ""},
        {**NEW_SOURCE, "collection": "nowhere"},
        {**NEW_SOURCE, "kind": "ftp"},
        {**NEW_SOURCE, "config": 7},
        {**NEW_SOURCE, "config": {}},
        {**NEW_SOURCE, "config": {"path": "/etc"}},
        {**NEW_SOURCE, "kind": "webdav", "config": {"url": "https://example.org/dav"}},
        {**NEW_SOURCE, "secret": 7},
        {**NEW_SOURCE, "every_minutes": 0},
    ),
    Ask("the list", "GET", "/v1/sources"),
    *bad_parameters("/v1/sources", "limit=0", "cursor=x", "sort=colour", "collection=nowhere"),
    Ask("changed", "PATCH", "/v1/sources/<source>", {"name": "manuals"}),
    *bad_ids("PATCH", "/v1/sources/{}", {"name": "other"}),
    *bad_bodies("PATCH", "/v1/sources/<source>"),
    *bad_fields("PATCH", "/v1/sources/<source>", {"config": {"path": "/"}}, {"every_minutes": "x"}),
    Ask("run", "POST", "/v1/sources/<source>/sync", {"dry_run": True}),
    Ask(
        "its end",
        "GET",
        "/v1/sources/<source>",
        until=lambda reply: reply.json()["state"] not in ("pending", "running"),
    ),
    *bad_ids("POST", "/v1/sources/{}/sync", {}),
    *bad_bodies("POST", "/v1/sources/<source>/sync"),
    *bad_fields(
        "POST", "/v1/sources/<source>/sync", {"dry_run": 1}, {"dry_run": True, "confirm_deletions": True}
    ),
    *bad_ids("GET", "/v1/sources/{}"),
    Ask("its files", "GET", "/v1/sources/<source>/items"),
    *bad_ids("GET", "/v1/sources/{}/items"),
    *bad_parameters("/v1/sources/<source>/items", "limit=0", "cursor=x", "state=odd"),
    Ask("a parameter that is wrong", "DELETE", "/v1/sources/<source>?documents=some"),
    Ask("deleted", "DELETE", "/v1/sources/<source>"),
    *bad_ids("DELETE", "/v1/sources/{}"),
    wrong_method("PUT", "/v1/sources/<source>"),
    wrong_method("GET", "/v1/sources/<source>/sync"),
]
