"""make demo: start Knowlex, ingest a real PDF, ask it something over HTTP, show the cited answer, stop."""

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(PROJECT))

from knowlex_client import Knowlex
from knowlex_client.models import QueryAnswer

PDF = PROJECT / "samples" / "nikola-tesla.pdf"
QUESTION = "Which court restored Tesla's patents in 1943?"
CONFIGURATION = re.compile(r"KNOWLEX_(?!MODELS_DIR).*|(OPENAI|OLLAMA|VECTOR_STORE)_.*|DATABASE_URL|REDIS_URL")
READY = "Knowlex is ready at "


def main() -> None:
    with running_knowlex() as address, Knowlex(address) as client:
        show(
            f"2. Ingesting {PDF.name} ({PDF.stat().st_size:,} bytes): read, split and embedded by the workers"
        )
        (document,) = client.ingest(PDF).documents
        if document.status != "completed":
            sys.exit(f"The demo failed: {document.error}")
        show(f"   stored as document {document.id}, {document.chunk_count} chunks")

        show(f"3. Asking: {QUESTION}")
        print_answer(client.ask(QUESTION))
        show("4. Stopping")


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


def print_answer(answer: QueryAnswer) -> None:
    """The answer, and for each [k] in it the document, the page and the quote."""
    show("", wrapped(answer.answer, "   "), "")
    for citation in answer.citations:
        show(f"   [{citation.citation_index}] {citation.document_name}, page {citation.page_number}:")
        show(wrapped(f"{citation.quoted_text} ({citation.support})", "       "), "")
    if not answer.citations:
        sys.exit("The demo failed: the answer cites nothing.")


def wrapped(text: str, margin: str) -> str:
    return textwrap.fill(text, 96, initial_indent=margin, subsequent_indent=margin)


def show(*lines: str) -> None:
    print(*lines, sep="\n", flush=True)


if __name__ == "__main__":
    main()
