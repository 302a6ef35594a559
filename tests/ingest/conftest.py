"""Jobs as their callers see them: `engine` takes documents on, waits, replaces, deletes, in a stack."""

import base64
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.support.environment import PROJECT
from tests.support.stack import Stack

WAIT_S = 60.0


class Refused(Exception):
    """What the service raised; `code` is the error's code."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(f"{code}: {message}")
        self.code, self.message = code, message


def document(data: bytes | str, name: str = "notes.md", **fields: Any) -> dict[str, Any]:
    """A file, as `engine.create` takes it."""
    raw = data.encode() if isinstance(data, str) else data
    return {
        "source_type": "file",
        "filename": name,
        "data": base64.b64encode(raw).decode(),
        **fields,
    }


class Engine:
    """The services of a stack, in a process of their own. Use as a context manager."""

    def __init__(self, stack: Stack) -> None:
        self.stack = stack
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.ingest.worker_process"],
            cwd=PROJECT, env=stack.env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip

    def close(self) -> None:
        assert self._process.stdin
        self._process.stdin.close()
        self._process.wait(20)

    def call(self, verb: str, **fields: Any) -> Any:
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(json.dumps({"verb": verb, **fields}) + "\n")
        self._process.stdin.flush()
        answer = json.loads(self._process.stdout.readline())
        if "error" in answer:
            raise Refused(answer["error"], answer["message"])
        return answer["result"]

    def create(self, *documents: dict[str, Any], collection: str | None = None, **chunking: Any) -> str:
        return str(self.call("create", documents=documents, chunking=chunking, collection=collection))

    def ended(self, job: str, wait_s: float = WAIT_S) -> dict[str, Any]:
        """The job's report when it has ended."""
        report: dict[str, Any] = self.call("report", job=job, wait_s=wait_s)
        assert report["completed_at"], report
        return report

    def look(self, job: str) -> dict[str, Any]:
        return dict(self.call("report", job=job, wait_s=0))

    def ingest(self, *documents: dict[str, Any], **chunking: Any) -> list[str]:
        """Ids of the documents, all completed."""
        report = self.ended(self.create(*documents, **chunking))
        assert [item["status"] for item in report["items"]] == ["completed"] * len(documents), report
        return [item["id"] for item in report["items"]]


MakeEngine = Callable[[Stack], Engine]


@pytest.fixture(scope="session")
def _engines() -> Iterator[MakeEngine]:
    """One process for each stack, however many tests use it."""
    running: dict[str, Engine] = {}

    def of(stack: Stack) -> Engine:
        if stack.database not in running:
            running[stack.database] = Engine(stack)
        return running[stack.database]

    yield of
    for engine in running.values():
        engine.close()


@pytest.fixture
def engine(provider_server: Stack, _engines: MakeEngine) -> Engine:
    """On `provider_server`: every chunk's embedding can be held, refused or counted."""
    return _engines(provider_server)
