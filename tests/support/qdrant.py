"""Qdrant for tests: its REST interface over its client's local mode (tests.support.qdrant_bridge)."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import httpx

from tests.support.servers import ServerProcess


class QdrantServer(ServerProcess):
    """`with QdrantServer(folder) as qdrant: QdrantClient(qdrant.url)`; its points survive a kill."""

    def __init__(self, folder: Path, *, api_key: str = "") -> None:
        super().__init__(folder, health="/healthz")
        self._api_key = api_key

    def command(self) -> Sequence[str]:
        place = ["--path", str(self.folder), "--port", str(self.port), "--api-key", self._api_key]
        return ["-m", "tests.support.qdrant_bridge", *place]

    def misbehave(self, fault: str, **fields: Any) -> None:
        """fault: "delay" (seconds), "status" (status, retry_after), "hang_up", "cut", "not_json", "strange",
        "huge" (1 MB), "key" (key: the only one it takes). path: a part of those of the requests that it
        strikes. times: how many, 1 if it is not said.
        """
        self._command([{"fault": fault} | fields])

    def behave(self) -> None:
        """No more faults, and nothing in the log."""
        self._command([])

    def requests(self) -> list[str]:
        """Since the last command, such as "PUT /collections/x/points"."""
        found: list[str] = httpx.get(f"{self.url}/_log", timeout=10).json()
        return found

    def _command(self, faults: list[dict[str, Any]]) -> None:
        httpx.post(f"{self.url}/_faults", json=faults, timeout=10).raise_for_status()
