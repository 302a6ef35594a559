"""Servers of others in processes of their own, on a port that stays theirs when they are killed."""

import os
import sys
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Self

import httpx

from knowlex.serve import bind_socket
from tests.support import processes
from tests.support.waiting import wait_until


class ServerProcess(ABC):
    """`with ServerProcess(folder): …`; Python code that is given its arguments. Started when entered.

    health: the path that answers 200 once it serves.
    """

    def __init__(self, folder: Path, *, health: str, address: str = "127.0.0.1") -> None:
        self.folder, self._health, self.address = folder, health, address
        self._place = bind_socket(address, 0)  # nobody else is given its port meanwhile
        self.port = int(self._place.getsockname()[1])
        self.url = f"http://{address}:{self.port}"
        self._process: processes.Process | None = None

    @abstractmethod
    def command(self) -> Sequence[str]:
        """What Python is given."""

    def start(self) -> None:
        """Returns when it serves."""
        self.folder.mkdir(parents=True, exist_ok=True)
        command = [sys.executable, *self.command()]
        self._process = processes.start(command, env=dict(os.environ), log=self.log)
        wait_until(self._serves, timeout_s=60, what=f"{type(self).__name__} to serve")

    def kill(self) -> None:
        """kill -9: its connections break off, its port refuses."""
        processes.kill_group(self._process)

    def restart(self) -> None:
        """On the same folder and port, after a kill or instead of one."""
        self.kill()
        self.start()

    def ensure_running(self) -> None:
        if not processes.runs(self._process):
            self.start()

    def pause(self, *, on: bool) -> None:
        """Stop it where it is, so that it accepts connections and never answers; or let it go on."""
        if processes.runs(self._process):
            assert self._process is not None
            processes.pause_group(self._process, on=on)

    def stop(self) -> None:
        if self._process is not None:
            self.pause(on=False)
            processes.terminate(self._process, timeout_s=5)
        self._place.close()

    @property
    def log(self) -> Path:
        return self.folder / "server.log"

    def _serves(self) -> bool:
        assert processes.runs(self._process), self.log.read_text()[-2000:]
        try:
            return httpx.get(self.url + self._health, timeout=5).status_code == 200
        except httpx.TransportError:
            return False

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()


@contextmanager
def port_of_nobody() -> Iterator[int]:
    """A port that refuses, and is given to nobody else meanwhile."""
    with bind_socket("127.0.0.1", 0) as place:
        yield int(place.getsockname()[1])
