"""An oracle of who may read what, and random requests that must show nothing else. It knows no SQL."""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import httpx

from tests.keys.accounts import log_in, make_account
from tests.keys.key_factory import as_key, make_key
from tests.support.api import embed, ingest
from tests.support.stack import Stack

ACCOUNTS: dict[str, tuple[str, ...]] = {
    "ann": ("lawyers",),
    "bob": ("lawyers", "board"),
    "cyd": (),
    "dan": ("board",),
}
VISIBILITIES = ("public", "private", "restricted")
HOUSE = "house"


@dataclass(frozen=True)
class Caller:
    """name: of the account; "" for a key without one. sees_all: no permissions concern it."""

    label: str
    client: httpx.Client
    name: str = ""
    groups: tuple[str, ...] = ()
    sees_all: bool = False


@dataclass(frozen=True)
class Secret:
    """A document. topic: what one may ask about. word: in its text and file name, and in no request."""

    topic: str
    word: str
    text: bytes
    document_id: str
    bringer: str
    visibility: str
    users: tuple[str, ...]
    groups: tuple[str, ...]
    chunk_ids: tuple[str, ...] = ()

    def is_for(self, caller: Caller) -> bool:
        """Tell if the caller may read it, as the documentation says it."""
        if caller.sees_all or self.visibility == "public" or caller.label == self.bringer:
            return True
        return caller.name in self.users or bool(set(caller.groups) & set(self.groups))


@dataclass
class House:
    """One collection with its callers and documents. queries: ids of past questions."""

    stack: Stack
    callers: dict[str, Caller]
    secrets: list[Secret] = field(default_factory=list)
    collection_id: str = ""
    queries: list[str] = field(default_factory=list)
    jobs: list[str] = field(default_factory=list)

    def leaks(self, reply: httpx.Response, caller: Caller, sent: str) -> list[str]:
        """Return what the reply holds of documents that the caller may not read; not what was sent."""
        text = reply.text + str(reply.headers)
        hidden = [secret for secret in self.secrets if not secret.is_for(caller)]
        words = [word for secret in hidden for word in (secret.word, secret.document_id, *secret.chunk_ids)]
        return [word for word in words if word in text and word not in sent]


def build_house(stack: Stack, rng: random.Random, *, documents: int) -> House:
    admin = as_key(stack, make_key(stack, "admin"))
    made = admin.post("/v1/collections", json={"name": HOUSE})
    assert made.status_code == 201, made.text
    for name, groups in ACCOUNTS.items():
        make_account(stack, name, {HOUSE: "write"}, groups=groups)
    make_account(stack, "root", superuser=True)
    callers = [Caller(name, log_in(stack, name), name, groups) for name, groups in ACCOUNTS.items()]
    callers += [
        Caller("root", log_in(stack, "root"), "root", sees_all=True),
        Caller("admin key", admin, sees_all=True),
        Caller("write key", as_key(stack, make_key(stack, "write"))),
        Caller("read key", as_key(stack, make_key(stack, "read"))),
        Caller("bound key", as_key(stack, make_key(stack, "write", collections=[HOUSE]))),
    ]
    house = House(stack, {caller.label: caller for caller in callers}, collection_id=made.json()["id"])
    for number in range(documents):
        house.secrets.append(_bring(house, rng, number))
    assert set_permissions(house, {"visibility": "public"}).status_code == 200
    embed(admin)
    house.secrets = [_with_chunks(admin, secret) for secret in house.secrets]
    return house


def set_permissions(house: House, permissions: dict[str, Any]) -> httpx.Response:
    settings = {"settings": {"default_permissions": permissions}}
    return house.callers["admin key"].client.patch(f"/v1/collections/{house.collection_id}", json=settings)


def _bring(house: House, rng: random.Random, number: int) -> Secret:
    visibility = rng.choice(VISIBILITIES) if number else "private"
    closed = visibility != "public"
    users = tuple(name for name in ACCOUNTS if closed and rng.random() < 0.25)
    groups = tuple(name for name in ("lawyers", "board") if closed and rng.random() < 0.25)
    given = {"visibility": visibility, "allowed_users": list(users), "allowed_groups": list(groups)}
    changed = set_permissions(house, given)
    assert changed.status_code == 200, changed.text
    bringer = rng.choice([*ACCOUNTS, "admin key", "write key", "bound key"])
    topic, word = f"Planet{number:03d}", f"Quelle{number:03d}wort"
    text = f"# About {topic}\n\nThe secret word of {topic} is {word}. Nobody else knows the word.\n".encode()
    client = house.callers[bringer].client
    if rng.random() < 0.5:
        document_id = ingest(client, text, f"{word}.md", collection=HOUSE)["documentId"]
    else:
        document_id = _ingest_by_job(house, client, text, f"{word}.md")
    return Secret(topic, word, text, document_id, bringer, visibility, users, groups)


def _ingest_by_job(house: House, client: httpx.Client, text: bytes, name: str) -> str:
    source = {"type": "text", "content": text.decode(), "filename": name}
    document = {"source": source, "metadata": {"title": name.removesuffix(".md")}}
    body = {"collection_id": house.collection_id, "documents": [document]}
    reply = client.post("/v1/ingest", json=body)
    assert reply.status_code == 200, reply.text
    job = reply.json()
    house.jobs.append(job["job_id"])
    ended = client.get(f"/v1/ingest/{job['job_id']}", params={"wait": 60}).json()
    assert ended["status"] == "completed", ended
    return str(job["documents"][0]["id"])


def _with_chunks(admin: httpx.Client, secret: Secret) -> Secret:
    chunks = admin.get(f"/v1/documents/{secret.document_id}/chunks").json()["chunks"]
    assert chunks, secret
    return Secret(**{**_fields(secret), "chunk_ids": tuple(str(chunk["id"]) for chunk in chunks)})


def _fields(secret: Secret) -> dict[str, Any]:
    return {name: getattr(secret, name) for name in Secret.__dataclass_fields__}


Act = Callable[[House, Caller, Secret, random.Random], httpx.Response]


def _question(secret: Secret) -> str:
    return f"What is the secret word of {secret.topic}?"


def _search(house: House, caller: Caller, secret: Secret, rng: random.Random) -> httpx.Response:
    mode = rng.choice(("hybrid", "dense", "sparse", "exact"))
    query = "secret word" if mode == "exact" else _question(secret)
    settings = {"mode": mode, "top_k": rng.choice((1, 3, 50))}
    body: dict[str, Any] = {"query": query, "settings": settings}
    if rng.random() < 0.3:
        body["filters"] = {"documents": [secret.document_id]}
    elif rng.random() < 0.3:
        body["explain"] = secret.chunk_ids[0]
    if rng.random() < 0.5:
        body["collections"] = [HOUSE]
    return caller.client.post("/v1/search", json=body)


def _ask(house: House, caller: Caller, secret: Secret, rng: random.Random) -> httpx.Response:
    body: dict[str, Any] = {"query": _question(secret)}
    path = rng.choice(("/v1/query", "/query", "/api/v1/rag/ask", "/api/v1/rag/query"))
    if path == "/v1/query":
        if house.queries and rng.random() < 0.3:
            body["conversation_id"] = rng.choice(house.queries)
            body["query"] = "And what else is known of its word?"
    else:
        body["collection"] = HOUSE
    reply = caller.client.post(path, json=body)
    if path == "/v1/query" and reply.status_code == 200:
        house.queries.append(reply.json()["query_id"])
    return reply


def _nearest(house: House, caller: Caller, secret: Secret, rng: random.Random) -> httpx.Response:
    params = {"collection": HOUSE, "k": rng.choice((1, 5, 50))}
    headers = {"Content-Type": "text/plain"}
    return caller.client.post(
        "/api/v1/embeddings/search", params=params, content=_question(secret).encode(), headers=headers
    )


def _list(house: House, caller: Caller, secret: Secret, rng: random.Random) -> httpx.Response:
    params: dict[str, Any] = {}
    path = rng.choice(
        ("/v1/documents", "/api/v1/documents", "/v1/ingest", "/v1/queries", "/v1/conversations")
    )
    if path.endswith("documents"):
        params["collection"] = HOUSE
        if path == "/v1/documents":
            params["q"] = rng.choice(("", "Quelle"))
    return caller.client.get(path, params={name: value for name, value in params.items() if value})


def _show(house: House, caller: Caller, secret: Secret, rng: random.Random) -> httpx.Response:
    parts = ("", "/chunks", "/file", "/highlights?start=0&end=60", "/pages", "/pages/1")
    path = rng.choice([f"/v1/documents/{secret.document_id}{part}" for part in parts])
    if rng.random() < 0.3:
        part = rng.choice(("", "/chunks", "/pages"))
        path = f"/api/v1/documents/{secret.document_id}{part}"
    reply = caller.client.get(path)
    assert (reply.status_code == 200) is secret.is_for(caller) or "/pages" in path, (path, caller, secret)
    return reply


def _look_back(house: House, caller: Caller, secret: Secret, rng: random.Random) -> httpx.Response:
    past = rng.choice(house.queries or [secret.document_id])
    job = rng.choice(house.jobs or [secret.document_id])
    method, path = rng.choice(
        (
            ("GET", f"/v1/queries/{past}"),
            ("POST", f"/v1/queries/{past}/replay"),
            ("GET", f"/v1/conversations/{past}"),
            ("GET", f"/v1/ingest/{job}"),
        )
    )
    return caller.client.request(method, path)


def _count(house: House, caller: Caller, secret: Secret, rng: random.Random) -> httpx.Response:
    expected = sum(other.is_for(caller) for other in house.secrets)
    path = f"/v1/collections/{house.collection_id}"
    shown = caller.client.get(path).json()["document_count"]
    reply = caller.client.get(f"{path}/stats")
    counted = reply.json()["document_count"]
    assert (shown, counted) == (expected, expected), (caller.label, shown, counted, expected)
    return reply


def _change(house: House, caller: Caller, secret: Secret, rng: random.Random) -> httpx.Response:
    """Only what the caller may not read, so that it stays as it is; and the same bytes once more."""
    if secret.is_for(caller) or rng.random() < 0.5:
        file = {"file": (f"{secret.topic}.md", secret.text)}
        return caller.client.post("/api/v1/documents", files=file, data={"collection": HOUSE})
    method, path = rng.choice(
        (
            ("DELETE", f"/v1/documents/{secret.document_id}"),
            ("PUT", f"/v1/documents/{secret.document_id}"),
            ("POST", f"/v1/documents/{secret.document_id}/retry"),
            ("DELETE", f"/api/v1/documents/{secret.document_id}"),
            ("POST", f"/api/v1/embeddings/generate/{secret.document_id}"),
        )
    )
    files = {"files": {"file": ("new.md", b"# New\n\nText.\n")}} if method == "PUT" else {}
    reply = caller.client.request(method, path, **files)
    assert reply.status_code in (403, 404), (method, path, reply.text)
    return reply


ACTS: tuple[Act, ...] = (
    _search,
    _search,
    _ask,
    _ask,
    _nearest,
    _list,
    _show,
    _show,
    _look_back,
    _count,
    _change,
)


# Those whose statements are under row security; a past question is hidden by a function that sees everything.
LOCKED_ACTS: tuple[Act, ...] = (_search, _ask, _nearest, _list, _show, _look_back, _count)


def run_requests(house: House, rng: random.Random, count: int, acts: Sequence[Act] = ACTS) -> None:
    """Send random requests; fail at the first that shows what its caller may not read."""
    for number in range(count):
        caller = rng.choice(list(house.callers.values()))
        secret, act = rng.choice(house.secrets), rng.choice(acts)
        reply = act(house, caller, secret, rng)
        assert reply.status_code < 500, f"{number}: {act.__name__}: {reply.status_code} {reply.text[:300]}"
        sent = f"{reply.request.url} {_body(reply.request)}"
        leaks = house.leaks(reply, caller, sent)
        assert not leaks, f"{number}: {caller.label} {sent} is shown {leaks}: {reply.text[:600]}"


def _body(request: httpx.Request) -> str:
    return (
        request.content.decode(errors="replace")
        if "multipart" not in request.headers.get("Content-Type", "")
        else ""
    )
