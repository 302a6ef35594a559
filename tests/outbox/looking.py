"""What is in a Chroma server, looked up over its REST API."""

import io
import json
from typing import Any

import httpx
from django.conf import settings
from django.core.management import call_command
from django.core.management.base import CommandError

from tests.support.chroma import ChromaServer
from tests.support.commands import on
from tests.support.stack import Stack
from tests.support.waiting import wait_until

HOME = "/api/v2/tenants/default_tenant/databases/default_database/collections"
PREFIX = "corporate_documents"


class Chroma(ChromaServer):
    def collections(self) -> dict[str, str]:
        """Name -> id."""
        found = self._ask("GET", "").json()
        return {one["name"]: one["id"] for one in found}

    def points(self, model: int | str) -> dict[str, dict[str, Any]]:
        """The payloads of a model's space by chunk id; {} if there is none."""
        return {id_: payload for id_, (_, payload) in self.records(model).items()}

    def records(self, model: int | str) -> dict[str, tuple[list[float], dict[str, Any]]]:
        collection = self.collections().get(f"{PREFIX}_{model}")
        if collection is None:
            return {}
        body = wait_until(lambda: self._read(collection), what="Chroma to read what it has")
        pairs = zip(body["embeddings"], body["metadatas"], strict=True)
        return dict(zip(body["ids"], pairs, strict=True))

    def put(self, model: int | str, *ids: str, like: list[float], payload: dict[str, Any]) -> None:
        """Records that Knowlex has not made."""
        body = {"ids": list(ids), "embeddings": [like] * len(ids), "metadatas": [payload] * len(ids)}
        self._ask("POST", f"/{self.collections()[f'{PREFIX}_{model}']}/upsert", body)

    def make(self, model: int | str) -> None:
        """An empty space."""
        self._ask("POST", "", {"name": f"{PREFIX}_{model}"})

    def remove(self, model: int | str, *ids: str) -> None:
        self._ask("POST", f"/{self.collections()[f'{PREFIX}_{model}']}/delete", {"ids": list(ids)})

    def wipe(self) -> None:
        """No collection is left."""
        for name in self.collections():
            self._ask("DELETE", f"/{name}")

    def _read(self, collection: str) -> dict[str, Any] | None:
        """None where a record went while Chroma read, which it answers with 500, "Error finding id"."""
        body = {"include": ["embeddings", "metadatas"]}
        reply = httpx.post(f"{self.url}{HOME}/{collection}/get", json=body, timeout=20)
        if reply.status_code == 500 and "Error finding id" in reply.text:
            return None
        assert reply.status_code < 300, f"{reply.status_code} {reply.text[:300]}"
        found: dict[str, Any] = reply.json()
        return found

    def _ask(self, method: str, path: str, body: Any = None) -> httpx.Response:
        reply = httpx.request(method, self.url + HOME + path, json=body, timeout=20)
        assert reply.status_code < 300, f"{method} {path}: {reply.status_code} {reply.text[:300]}"
        return reply


def active_model(stack: Stack) -> int:
    return int(stack.sql("SELECT id FROM embeddings_embeddingmodel WHERE active")[0]["id"])


def chunk_ids(stack: Stack) -> set[str]:
    return {str(row["id"]) for row in stack.sql("SELECT id FROM documents_chunk")}


def status(stack: Stack, document_id: str) -> str:
    return str(stack.sql("SELECT status FROM documents_document WHERE id = %s", document_id)[0]["status"])


def compared(stack: Stack, action: str = "check") -> tuple[int, dict[str, Any]]:
    """`manage.py vector_store …`: its exit code, and what it told as JSON.

    In this process, with the stack's store and database: another one would take seconds to start.
    """
    out = io.StringIO()
    parts = settings.KNOWLEX | {"VECTOR_STORE": _store_of(stack)}
    with on(stack, KNOWLEX=parts):
        try:
            call_command("vector_store", action, "--json", stdout=out, stderr=io.StringIO())
        except CommandError as error:
            return error.returncode, {"error": str(error)}
        except SystemExit as end:
            return int(end.code or 0), json.loads(out.getvalue())
    return 0, json.loads(out.getvalue())


def _store_of(stack: Stack) -> dict[str, Any]:
    part: dict[str, Any] = settings.VECTOR_STORES.get(stack.env.get("KNOWLEX_VECTOR_STORE", ""), {})
    env = {
        "url": stack.env.get("VECTOR_STORE_URL"),
        "timeout_s": float(stack.env.get("VECTOR_STORE_TIMEOUT_SECONDS", "10")),
    }
    options = part.get("options", {})
    return {**part, "options": options | {name: env[name] for name in env.keys() & options.keys()}}
