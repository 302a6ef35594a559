"""PostgreSQL's own programs (pg_dump, pg_restore, psql) for the database of the settings, whichever it is.

No password is on a command line, where every account of the machine could read it: the environment has it.
"""

import os
import re
import shutil
import signal
import subprocess
from pathlib import Path
from typing import IO, Any

from django.conf import settings
from django.db import connection
from psycopg.conninfo import make_conninfo
from psycopg.pq import Conninfo

from knowlex.embedded.data_folder import StackError
from knowlex.embedded.processes import die_with_parent
from knowlex.embedded.services import bin_dir

# pg_dump waits so long for a table that a migration has locked, in milliseconds.
LOCK_TIMEOUT_MS = 60_000
_SECRET = {"password", "sslpassword"}


class DatabasePrograms:
    """The programs of one folder that fit the server. Raises StackError if there are none."""

    def __init__(self) -> None:
        with connection.cursor() as cursor:
            server = cursor.connection.info.server_version // 10_000
        self.server_major = server
        self.folder = _choose_folder(server)
        self._target, self._env = _connection_of(connection.get_connection_params())

    def start(self, name: str, *options: str, **pipes: Any) -> subprocess.Popen[bytes]:
        """Start a program, connected unless it is pg_restore; it ends with this process."""
        target = [] if name == "pg_restore" else [f"--dbname={self._target}", "--no-password"]
        return subprocess.Popen(
            [str(self.folder / name), *target, *options],
            env={**os.environ, **self._env},
            preexec_fn=die_with_parent(signal.SIGKILL),
            **pipes,
        )


def finish(process: subprocess.Popen[bytes], errors: IO[bytes], what: str) -> None:
    """Wait for the program. Raises StackError with the last lines of its errors if it failed."""
    if process.wait() != 0:
        errors.seek(max(0, errors.seek(0, os.SEEK_END) - 2000))
        said = errors.read().decode(errors="replace").strip()
        raise StackError(f"{what} failed: {said or f'exit code {process.returncode}'}")


def _choose_folder(server: int) -> Path:
    """Return programs of the server's version: older ones refuse it, newer ones write what it cannot read."""
    versions: dict[int, Path] = {}
    for folder in _folders():
        if all((folder / name).exists() for name in ("pg_dump", "pg_restore", "psql")):
            versions.setdefault(_major_version(folder / "pg_dump"), folder)
    if server in versions:
        return versions[server]
    there = ", ".join(map(str, sorted(versions))) or "none"
    raise StackError(
        f"The database is PostgreSQL {server}, and pg_dump, pg_restore and psql of that version are needed "
        f"(there are: {there}). Put them on the PATH: Debian's package is postgresql-client-{server}."
    )


def _folders() -> list[Path]:
    """Return where programs may be: those of the system first for a database of one's own, which may ask for
    TLS; the wheel's have none.
    """
    system = [Path(program).parent for program in [shutil.which("pg_dump")] if program]
    system += Path("/usr/lib/postgresql").glob("*/bin")  # where Debian has all versions side by side
    try:
        wheel = sorted(bin_dir().parents[1].glob("pginstall*/bin"))
    except StackError:  # not needed with a database of one's own
        wheel = []
    return [*system, *wheel] if settings.ENV.database_url else [*wheel, *system]


def _major_version(program: Path) -> int:
    said = subprocess.run([program, "--version"], capture_output=True, text=True, timeout=30, check=False)
    match = re.search(r"(\d+)\.\d+|(\d+)(?:devel|beta|rc)", said.stdout)
    return int(match[1] or match[2]) if match else 0


def _connection_of(params: dict[str, Any]) -> tuple[str, dict[str, str]]:
    """Return the connection string without secrets, and the environment that has them."""
    known = {option.keyword.decode() for option in Conninfo.get_defaults()}
    public = {name: value for name, value in params.items() if name in known - _SECRET and value is not None}
    password = params.get("password")
    return make_conninfo("", **public), {"PGPASSWORD": str(password)} if password else {}
