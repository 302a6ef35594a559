"""A PostgreSQL of the tests' own that can be stopped, killed and restarted."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import psutil
import psycopg
from psycopg import sql
from psycopg.rows import dict_row

from knowlex.embedded.services import EmbeddedPostgres
from tests.support.environment import database_url

# Tests lose nothing in a power cut, and several stacks share one cluster.
SETTINGS = {"fsync": "off", "full_page_writes": "off", "max_connections": "300", "shared_buffers": "64MB"}


class Postgres:
    """The cluster of one data folder. Start it from the main thread: it dies with the starter."""

    def __init__(self, data_dir: Path, **settings: str) -> None:
        self.data_dir = data_dir
        data_dir.mkdir(parents=True, exist_ok=True)
        self._settings = SETTINGS | settings
        self.start()

    def start(self) -> None:
        self._server = EmbeddedPostgres(self.data_dir)
        options = [word for name, value in self._settings.items() for word in ("-c", f"{name}={value}")]
        self._server.part.command = [*self._server.part.command, *options]
        self._server.start()
        self._server.wait_ready()

    def stop(self, *, crash: bool = False) -> None:
        """crash: no checkpoint, and what was not committed is lost, as after a power cut."""
        if crash:
            self._server.part.stop_signal = signal.SIGQUIT
        self._server.part.stop()

    def restart(self, *, crash: bool = False) -> None:
        self.stop(crash=crash)
        self.start()

    def ensure_running(self) -> None:
        if not self._server.part.running:
            self.start()

    @contextmanager
    def hanging(self) -> Iterator[None]:
        """Every process of it stands still: connections stay open, and nothing answers."""
        server = psutil.Process(int((self.data_dir / "postgres" / "postmaster.pid").read_text().split()[0]))
        server.suspend()  # first, so that it starts no others
        processes = [server, *server.children(recursive=True)]
        try:
            for process in processes:
                with suppress(psutil.NoSuchProcess):  # a backend that was just ending
                    process.suspend()
            yield
        finally:
            for process in processes:
                with suppress(psutil.NoSuchProcess):
                    process.resume()

    def url(self, database: str) -> str:
        return database_url(database, self.data_dir)

    def execute(self, query: str, *params: object, database: str = "postgres") -> list[dict[str, Any]]:
        """Run one statement and return its rows."""
        with psycopg.connect(self.url(database), autocommit=True, row_factory=dict_row) as connection:
            cursor = connection.execute(query.encode(), params or None)
            return cursor.fetchall() if cursor.description else []

    def has_database(self, name: str) -> bool:
        return bool(self.execute("SELECT 1 FROM pg_database WHERE datname = %s", name))

    def create_database(self, name: str, *, template: str = "template1") -> str:
        """A new database, in place of an older one of that name; returns its URL."""
        self.drop_database(name)
        statement = sql.SQL("CREATE DATABASE {} TEMPLATE {}")
        self._admin(statement.format(sql.Identifier(name), sql.Identifier(template)))
        return self.url(name)

    def drop_database(self, name: str) -> None:
        self._admin(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name)))

    def rename_database(self, name: str, new_name: str) -> None:
        self._admin(
            sql.SQL("ALTER DATABASE {} RENAME TO {}").format(sql.Identifier(name), sql.Identifier(new_name))
        )

    def _admin(self, statement: sql.Composed) -> None:
        with psycopg.connect(self.url("postgres"), autocommit=True) as connection:
            connection.execute(statement)
