"""The document's FastAPI wrapper: as it stands there, and the sample that maps errors, served by uvicorn."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import httpx
import pytest

from knowlex.serve import bind_socket
from tests.provider import Provider
from tests.support.chroma import ChromaServer
from tests.support.environment import PROJECT
from tests.support.waiting import wait_until

QUESTION = "What are the safety protocols for handling chemicals?"
# The document's code to the letter, behind the imports that it leaves out.
DOCUMENTS = """
import os
from typing import Dict, Optional

# FastAPI wrapper (developed by colleague)
from fastapi import FastAPI, HTTPException
from rag_service import RAGService
from pydantic import BaseModel

app = FastAPI()
rag_service = RAGService(
    ollama_host=os.getenv("OLLAMA_HOST"),
    vector_store_url=os.getenv("VECTOR_STORE_URL")
)

class QueryRequest(BaseModel):
    question: str
    filters: Optional[Dict] = None

@app.post("/query")
async def query_endpoint(request: QueryRequest):
    try:
        answer = rag_service.query(
            question=request.question,
            filters=request.filters
        )
        return answer.dict()
    except Exception as e:
        raise HTTPException(status_code=500, detail=str(e))

@app.get("/health")
async def health_endpoint():
    return rag_service.health_check()
"""


class Served:
    """A wrapper in a process of its own, started in a folder where nothing of this project is."""

    def __init__(self, module: str, folder: Path, **env: str) -> None:
        self._place, self._log = bind_socket("127.0.0.1", 0), folder / "log"  # its port stays its own
        port = int(self._place.getsockname()[1])
        known = {k: v for k, v in os.environ.items() if k not in {"DJANGO_SETTINGS_MODULE"}}
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-W", "error", "-m", "uvicorn", module, "--port", str(port)],
                cwd=folder, env={**known, "PYTHONPATH": f"{folder}:{PROJECT}", **env}, stdout=log, stderr=log,
            )  # fmt: skip
        self.client = httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60)
        wait_until(self._serves, 60, "the wrapper to serve")

    def _serves(self) -> bool:
        assert self._process.poll() is None, self.log
        try:
            return self.client.get("/openapi.json").status_code == 200
        except httpx.TransportError:
            return False

    @property
    def log(self) -> str:
        return self._log.read_text()

    def stop(self) -> None:
        self.client.close()
        self._process.terminate()
        self._process.wait(30)
        self._place.close()


Serve = Callable[..., Served]


@pytest.fixture
def serve(ollama: Provider, chroma: ChromaServer, tmp_path: Path) -> Iterator[Serve]:
    with ExitStack() as running:

        def start(module: str, **env: str) -> Served:
            served = Served(module, tmp_path, OLLAMA_HOST=ollama.url, VECTOR_STORE_URL=chroma.url, **env)
            running.callback(served.stop)
            return served

        yield start


def assert_serves(served: Served) -> None:
    reply = served.client.post("/query", json={"question": QUESTION, "filters": {"source_type": "pdf"}})
    assert reply.status_code == 200
    body = reply.json()
    assert set(body) == {
        "answer", "citations", "confidence", "message", "request_id", "processing_time_ms", "error_type",
        "error_details",
    }  # fmt: skip
    assert [citation["text"] for citation in body["citations"]] == ["[safety_manual.pdf, page 5]"]
    assert served.client.get("/health").json()["status"] == "healthy"
    assert "Warning" not in served.log


def test_the_documents_wrapper(serve: Serve, tmp_path: Path):
    (tmp_path / "wrapper.py").write_text(DOCUMENTS)
    assert_serves(serve("wrapper:app"))


def test_the_sample_gives_errors_the_documents_form(serve: Serve, ollama: Provider, chroma: ChromaServer):
    served = serve("samples.fastapi_wrapper:app", OLLAMA_TIMEOUT_SECONDS="1")
    assert_serves(served)
    refused = served.client.post("/query", json={"question": " "})
    ollama.rule("hang", on="chat")
    late = served.client.post("/query", json={"question": QUESTION})
    chroma.kill()
    gone = served.client.post("/query", json={"question": QUESTION})
    health = served.client.get("/health")
    told = [(reply.status_code, reply.json()["error_type"]) for reply in (refused, late, gone)]
    assert told == [(400, "InvalidQuery"), (504, "GenerationTimeout"), (503, "VectorStoreUnavailable")]
    assert (health.status_code, health.json()["status"]) == (503, "unhealthy")
