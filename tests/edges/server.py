"""One web process on loopback, and a plain socket to speak to it byte by byte."""

import os
import signal
import socket
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import httpx

from knowlex.serve import bind_socket
from tests.support import processes
from tests.support.waiting import wait_until


class WebProcess:
    """`tests.edges.probe_settings` served as `up` serves: knowlex.asgi by uvicorn with our protocol."""

    def __init__(self, folder: Path, env: Mapping[str, str]) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self._listener = bind_socket("127.0.0.1", 0)
        self.port = int(self._listener.getsockname()[1])
        self.url = f"http://127.0.0.1:{self.port}"
        self.client = httpx.Client(base_url=self.url, timeout=30)
        self._log = folder / "web.log"
        defaults = {
            "DJANGO_SETTINGS_MODULE": "tests.edges.probe_settings",
            "KNOWLEX_DATA_DIR": str(folder),
            "KNOWLEX_RATE_LIMIT": "off",
        }
        self.process = processes.start(
            [sys.executable, "-m", "knowlex.serve", "--fd", str(self._listener.fileno())],
            env={**os.environ, **defaults, **env}, log=self._log, pass_fds=[self._listener.fileno()],
        )  # fmt: skip
        wait_until(self._answers, 60, f"the web process\n{self.log}")

    def _answers(self) -> bool:
        assert self.process.poll() is None, self.log
        try:
            return self.client.get("/api/v1/probe/report").status_code in (200, 429)
        except httpx.TransportError:
            return False

    @property
    def log(self) -> str:
        return self._log.read_text(errors="replace")

    @property
    def report(self) -> dict[str, Any]:
        """Counters of the probe views, and the process's threads and spooled files."""
        body: dict[str, Any] = self.client.get("/api/v1/probe/report").json()
        return body

    def connect(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), timeout=30)

    def raw(self, request: bytes) -> tuple[int, bytes, bytes]:
        """(status, headers, body) of what is answered to these bytes until the server closes."""
        with self.connect() as connection:
            connection.sendall(request)
            return read_response(connection)

    def stop(self) -> int:
        self.client.close()
        self.process.send_signal(signal.SIGTERM)
        self._listener.close()
        return self.process.wait(30)


def read_response(connection: socket.socket) -> tuple[int, bytes, bytes]:
    received = b""
    while block := connection.recv(65536):
        received += block
    head, _, body = received.partition(b"\r\n\r\n")
    return int(head.split(b" ")[1]), head.lower(), body
