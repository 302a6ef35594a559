"""make demo: start Knowlex, upload a real PDF, ask it something over HTTP, show the cited answer, stop.

Standard library only: this is also what a first client of the API looks like.
"""

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import textwrap
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

PROJECT = Path(__file__).resolve().parent.parent
PDF = PROJECT / "samples" / "nikola-tesla.pdf"
QUESTION = "Which court restored Tesla's patents in 1943?"
CONFIGURATION = re.compile(r"KNOWLEX_(?!MODELS_DIR).*|(OPENAI|OLLAMA|VECTOR_STORE)_.*|DATABASE_URL|REDIS_URL")
READY = "Knowlex is ready at "


def main() -> None:
    with running_knowlex() as base:
        show(f"2. Uploading {PDF.name} ({PDF.stat().st_size:,} bytes)")
        document = json.loads(post(f"{base}/api/v1/documents", *multipart(PDF)))
        document_id = document["documentId"]
        show(f"   stored as document {document_id}, {document['totalChunks']} chunks")

        show("3. Embedding it, with the local model, in the worker processes")
        show(f"   {post(f'{base}/api/v1/embeddings/generate/{document_id}').decode()}")

        show(f"4. Asking: {QUESTION}")
        body = json.dumps({"query": QUESTION, "topK": 5}).encode()
        answer = json.loads(post(f"{base}/api/v1/rag/ask", body, "application/json"))
        print_answer(answer)
        show("5. Stopping")


@contextmanager
def running_knowlex() -> Iterator[str]:
    """The whole stack on a temporary data folder; yields its address."""
    folder = Path(tempfile.mkdtemp(prefix="knowlex-demo-"))
    show("1. Starting Knowlex: PostgreSQL, Valkey, workers, web server")
    environment = {name: value for name, value in os.environ.items() if not CONFIGURATION.fullmatch(name)}
    command = [sys.executable, "manage.py", "up", "--port", str(free_port()), "--data-dir", str(folder)]
    process = subprocess.Popen(command, cwd=PROJECT, env=environment, stdout=subprocess.PIPE, text=True)
    try:
        yield address_of(process)
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=60)
        shutil.rmtree(folder, ignore_errors=True)


def address_of(process: subprocess.Popen[str]) -> str:
    """Waits for the ready line; `up` ends by itself if it cannot start."""
    for line in process.stdout or ():
        if line.startswith(READY):
            show(f"   {line.strip()}")
            return line.removeprefix(READY).strip()
    sys.exit("Knowlex could not start; what it said stands above.")


def free_port(preferred: int = 8080) -> int:
    """`preferred` if nobody has it, else 0: any free one."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", preferred))
        except OSError:
            return 0
    return preferred


def post(url: str, body: bytes = b"", content_type: str = "") -> bytes:
    """The body of the answer; ends the demo with what the server said if that is an error."""
    request = Request(url, body, {"Content-Type": content_type} if content_type else {}, method="POST")
    try:
        with urlopen(request, timeout=120) as response:
            return bytes(response.read())
    except HTTPError as error:
        sys.exit(f"{url} answered {error.code}: {error.read().decode(errors='replace')}")


def multipart(path: Path) -> tuple[bytes, str]:
    """The body and content type of a form with one file in the field `file`."""
    boundary = uuid.uuid4().hex
    head = (
        f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="{path.name}"\r\n'
        "Content-Type: application/pdf\r\n\r\n"
    )
    body = head.encode() + path.read_bytes() + f"\r\n--{boundary}--\r\n".encode()
    return body, f"multipart/form-data; boundary={boundary}"


def print_answer(answer: dict[str, Any]) -> None:
    """The answer, and for each [k] in it the document, the page and the passage."""
    cited = sorted({int(number) for number in re.findall(r"\[(\d+)\]", answer["answer"])})
    show("", wrapped(answer["answer"], "   "), "")
    for number in cited:
        source = answer["sourceChunks"][number - 1]
        show(f"   [{number}] {PDF.name}, page {source['pageNumber']}:")
        show(wrapped(excerpt(source["content"], answer["answer"]), "       "), "")
    if not cited:
        sys.exit("The demo failed: the answer cites nothing.")


def excerpt(passage: str, answer: str, around: int = 160) -> str:
    """The passage from a little before the place that the answer was taken from."""
    place = max(passage.find(answer[:40]), 0)
    start, end = max(place - around, 0), place + 2 * around
    return ("... " if start else "") + passage[start:end].strip() + (" ..." if end < len(passage) else "")


def wrapped(text: str, margin: str) -> str:
    return textwrap.fill(text, 96, initial_indent=margin, subsequent_indent=margin)


def show(*lines: str) -> None:
    print(*lines, sep="\n", flush=True)


if __name__ == "__main__":
    main()
