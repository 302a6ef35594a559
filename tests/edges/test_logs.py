"""A request can be followed through the processes by its id; what it said cannot be read in the logs."""

import json
from collections.abc import Callable

from tests.support.stack import Stack
from tests.support.waiting import wait_until


def test_a_request_id_reaches_the_workers_log(server: Stack, sample_pdf: Callable[..., bytes]) -> None:
    file = {"file": ("a.pdf", sample_pdf("Load balancers distribute private traffic."), "application/pdf")}
    document_id = server.client.post("/api/v1/documents", files=file).json()["documentId"]

    done = server.client.post(
        f"/api/v1/embeddings/generate/{document_id}", headers={"X-Request-ID": "follow-me-1"}
    )

    assert done.status_code == 200, done.text
    wait_until(lambda: "follow-me-1" in server.log("worker"), what="the id in the worker's log")


def test_no_log_holds_a_documents_or_a_questions_text(
    server: Stack, sample_pdf: Callable[..., bytes]
) -> None:
    file = {"file": ("secret-name.pdf", sample_pdf("Zanzibar exports cloves to Antwerp."), "application/pdf")}
    document_id = server.client.post("/api/v1/documents", files=file).json()["documentId"]
    server.client.post(f"/api/v1/embeddings/generate/{document_id}")
    question = "What does Zanzibar export?"
    params = {"name": "ask", "arguments": {"question": question}}
    for path, body in (
        ("/query", {"query": question}),
        ("/v1/chat/completions", {"model": "knowlex", "messages": [{"role": "user", "content": question}]}),
        ("/mcp", {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}),
    ):
        reply = server.client.post(path, json=body, headers={"Accept": "application/json, text/event-stream"})
        assert (reply.status_code, "Antwerp" in reply.text) == (200, True), reply.text
        wait_until(lambda told=f'"{path}"': told in server.log("web"), what=f"an access line of {path}")

    lines = (server.log("web") + server.log("worker")).splitlines()
    assert any(json.loads(line).get("logger") == "knowlex.access" for line in lines if line.startswith("{"))
    assert not [line for line in lines if "Zanzibar" in line or "cloves" in line]
