"""Running `manage.py up` and other commands as a user does: processes, exit codes, what they print."""

import os
import re
import signal
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import httpx
import psutil

from tests.support import processes
from tests.support.environment import PROJECT
from tests.support.waiting import wait_until

READY = re.compile(r"^Knowlex is ready at (http://(?:127\.0\.0\.1|0\.0\.0\.0):\d+)$", re.MULTILINE)


def environment(**settings: str) -> dict[str, str]:
    """The test run's environment with nothing configured from outside but `settings`."""
    kept = {name: value for name, value in os.environ.items() if name not in {"DATABASE_URL", "REDIS_URL"}}
    return kept | settings


def manage(*words: str, timeout_s: float = 60.0, **settings: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "manage.py", *words],
        cwd=PROJECT,
        env=environment(**settings),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=timeout_s,
    )


@dataclass
class Up:
    """One `manage.py up` on `data_dir`, with everything that it started."""

    data_dir: Path
    output: Path
    process: processes.Process

    @classmethod
    def start(cls, data_dir: Path, *words: str, **settings: str) -> "Up":
        data_dir.parent.mkdir(parents=True, exist_ok=True)
        output = data_dir.with_name(f"{data_dir.name}.out")
        output.unlink(missing_ok=True)
        command = [sys.executable, "manage.py", "up", "--port", "0", "--data-dir", str(data_dir), *words]
        return cls(data_dir, output, processes.start(command, env=environment(**settings), log=output))

    @property
    def said(self) -> str:
        return self.output.read_text()

    def ready(self) -> str:
        """Waits for the ready line; returns the address in it."""

        def line() -> str:
            assert self.process.poll() is None, self.said
            found = READY.search(self.said)
            return found[1] if found else ""

        return wait_until(line, 60, "the ready line")

    def line(self, beginning: str) -> str:
        """The first one that begins so; "" as long as there is none."""
        return next((line for line in self.said.splitlines() if line.startswith(beginning)), "")

    def family(self) -> list[psutil.Process]:
        return psutil.Process(self.process.pid).children(recursive=True)

    def part(self, word: str) -> psutil.Process:
        """The direct child with `word` in its command line."""
        children = psutil.Process(self.process.pid).children()
        return next(child for child in children if word in " ".join(child.cmdline()))

    def parts(self) -> dict[str, psutil.Process]:
        """What runs of it now, by the names that /health has for the parts."""
        words = {"postgres": "database", "valkey-server": "broker", "celery": "workers"}
        parts = {}
        for child in psutil.Process(self.process.pid).children():
            with suppress(psutil.NoSuchProcess):
                command = " ".join(child.cmdline())
                if "knowlex.serve" in command:
                    parts[f"web-{child.environ()['KNOWLEX_WEB_PROCESS']}"] = child
                for word, name in words.items():
                    if word in command:
                        parts[name] = child
        return parts

    def end(self, number: signal.Signals = signal.SIGTERM) -> int:
        self.process.send_signal(number)
        return self.process.wait(30)


def all_gone(family: list[psutil.Process]) -> bool:
    return not any(member.is_running() and member.status() != psutil.STATUS_ZOMBIE for member in family)


def documents(base: str) -> list[str]:
    return [document["originalFilename"] for document in httpx.get(f"{base}/api/v1/documents").json()]
