"""What the public API shows of past answers and of the chunks that they cite."""

import time
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

import httpx2

from rag.verification.faults import ChunkLocation, compute_page_ends

A_PAGE = 100
KEPT_DOCUMENTS, KEPT_CHUNKS = 2, 512
TIMEOUT_S = 30.0
MOST_RESTS, LONGEST_REST_S = 20, 60.0


class ServerFailed(Exception):
    """In words for whoever runs the command."""


class AnswerLibrary:
    """Reads page by page; holds the texts of a few documents and chunks at a time."""

    def __init__(self, url: str, api_key: str = "") -> None:
        headers = {"Authorization": f"Bearer {api_key}"} if api_key else {}
        self._client = httpx2.Client(base_url=url, headers=headers, timeout=TIMEOUT_S)
        self._documents: OrderedDict[str, Mapping[str, Any] | None] = OrderedDict()
        self._places: OrderedDict[str, ChunkLocation] = OrderedDict()

    def close(self) -> None:
        self._client.close()

    def answers(self, since: datetime | None, limit: int | None) -> Iterator[dict[str, Any]]:
        """Each answered query in full, newest first, at most `limit`. Raises ServerFailed."""
        wanted = {"answered": "true", "limit": str(min(A_PAGE, limit or A_PAGE))}
        if since is not None:
            wanted["since"] = since.isoformat()
        for number, summary in enumerate(self._all("/v1/queries", "queries", wanted)):
            if number == limit:
                return
            found = self._get(f"/v1/queries/{summary['query_id']}")
            if found is not None:  # it may have been deleted meanwhile
                yield found

    def language(self, document_id: str) -> str:
        document = self._document(document_id)
        return (document or {}).get("language") or ""

    def place(self, chunk_id: str, document_id: str) -> ChunkLocation | None:
        """None if the document or the chunk is not there any more. Raises ServerFailed."""
        if chunk_id not in self._places:
            document = self._document(document_id)
            if document is None:
                return None
            for chunk in self._all(f"/v1/documents/{document_id}/chunks", "chunks", {"limit": str(A_PAGE)}):
                self._keep(chunk, document)
                if chunk["id"] == chunk_id:
                    break
        return self._places.get(chunk_id)

    def _keep(self, chunk: Mapping[str, Any], document: Mapping[str, Any]) -> None:
        where = chunk["position"]
        self._places[chunk["id"]] = ChunkLocation(
            chunk["content"],
            where["start_char"],
            where["page_number"],
            where["last_page"],
            document["content"],
            document["ends"],
        )
        while len(self._places) > KEPT_CHUNKS:
            self._places.popitem(last=False)

    def _document(self, document_id: str) -> Mapping[str, Any] | None:
        if document_id not in self._documents:
            found = self._get(f"/v1/documents/{document_id}")
            if found is not None:
                pages = (self._get(f"/v1/documents/{document_id}/pages") or {}).get("pages", [])
                characters = [page["characters"] for page in pages]
                text = found.get("content")
                found = {
                    **found,
                    "content": text,
                    "ends": compute_page_ends(text, characters) if text else [],
                }
            self._documents[document_id] = found
            while len(self._documents) > KEPT_DOCUMENTS:
                self._documents.popitem(last=False)
        return self._documents[document_id]

    def _all(self, path: str, of: str, wanted: Mapping[str, str]) -> Iterator[dict[str, Any]]:
        cursor: str | None = None
        while True:
            body = self._get(path, wanted if cursor is None else {**wanted, "cursor": cursor})
            if body is None:
                return
            yield from body[of]
            cursor = body["next_cursor"]
            if cursor is None:
                return

    def _reply(self, path: str, wanted: dict[str, str]) -> httpx2.Response:
        """Waits where the server's rate limit asks for it."""
        for _ in range(MOST_RESTS):
            try:
                reply = self._client.get(path, params=wanted)
            except (httpx2.HTTPError, httpx2.InvalidURL) as exc:
                raise ServerFailed(f"{self._client.base_url} cannot be reached: {exc}") from exc
            if reply.status_code != 429:
                break
            time.sleep(_rest_s(reply))
        return reply

    def _get(self, path: str, wanted: Mapping[str, str] | None = None) -> dict[str, Any] | None:
        """The body; None for a 404."""
        reply = self._reply(path, dict(wanted or {}))
        if reply.status_code == 404 and path != "/v1/queries":
            return None
        if reply.status_code != 200:
            raise ServerFailed(f"{path} answers with HTTP {reply.status_code}: {_message(reply)}")
        try:
            body: dict[str, Any] = reply.json()
        except ValueError as exc:
            raise ServerFailed(f"{path} answers with something else than JSON: is this Knowlex?") from exc
        return body


def _rest_s(reply: httpx2.Response) -> float:
    after = reply.headers.get("Retry-After", "")
    return min(float(after), LONGEST_REST_S) if after.isdigit() else 1.0


def _message(reply: httpx2.Response) -> str:
    try:
        return str(reply.json()["message"])
    except (ValueError, KeyError, TypeError):
        return reply.text[:200]
