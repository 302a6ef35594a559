"""Helpers of the document tests: uploads by hand, and files of an exact size."""

from concurrent.futures import ThreadPoolExecutor
from itertools import count
from typing import Any
from uuid import UUID

import httpx

from tests.support.pdf import make_pdf
from tests.support.stack import Stack

URL = "/api/v1/documents"
MAX_BYTES = 52_428_800
UNKNOWN_ID = "01890a5d-ac96-774b-bcce-b302099a8057"
_numbers = count(1)


def markdown(text: str = "") -> bytes:
    """A Markdown file that is unlike all others of this test run."""
    return f"# Harbour notes {next(_numbers)}\n\nThe harbour opens at nine. {text}\n".encode()


def padded_pdf(size: int) -> bytes:
    """A valid PDF of exactly `size` bytes: a comment stands between the file and a second end of it."""
    pdf = make_pdf(f"The lighthouse was built in 1852. Copy {next(_numbers)}.")
    table = pdf.rsplit(b"startxref\n", 1)[1].split(b"\n", 1)[0]
    end = b"\nstartxref\n" + table + b"\n%%EOF\n"
    return pdf + b"%" + b"x" * (size - len(pdf) - len(end) - 1) + end


def upload(server: Stack, content: bytes, name: str = "notes.md", **kwargs: Any) -> httpx.Response:
    """With a connection of its own, so that many threads can upload at once."""
    files = {"file": (name, content)}
    return httpx.post(server.url + URL, files=files, timeout=120, **kwargs)


def upload_raw(
    server: Stack, body: bytes, content_type: str = "multipart/form-data; boundary=b"
) -> httpx.Response:
    return httpx.post(server.url + URL, content=body, headers={"Content-Type": content_type}, timeout=60)


def file_part(content: bytes, disposition: str = 'name="file"; filename="notes.md"') -> bytes:
    return b"--b\r\nContent-Disposition: form-data; " + disposition.encode() + b"\r\n\r\n" + content + b"\r\n"


def ingested(server: Stack, content: bytes | None = None, name: str = "notes.md", **kwargs: Any) -> str:
    """Upload and return the new document's id."""
    response = upload(server, content or markdown(), name, **kwargs)
    assert response.status_code == 201, response.text
    return str(response.json()["documentId"])


def at_once(number: int, call: Any) -> list[httpx.Response]:
    with ThreadPoolExecutor(number) as threads:
        return list(threads.map(call, range(number)))


def assert_problem(
    response: httpx.Response, status: int, code: str, message: str = "", field: str | None = None
) -> dict[str, Any]:
    """The one error body; `message` is a part of its message."""
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/json"
    problem: dict[str, Any] = response.json()
    assert {"status", "error", "message", "details", "timestamp", "requestId"} <= problem.keys()
    assert (problem["status"], problem["error"]) == (status, code)
    assert message in problem["message"]
    if field is not None:
        assert problem["details"]["field"] == field
    return problem


def assert_nothing_stored(server: Stack) -> None:
    assert server.count("documents_document") == 0
    assert server.count("documents_page") + server.count("documents_chunk") == 0
    assert server.stored_files() == []


def is_uuid7(text: str) -> bool:
    return UUID(text).version == 7
