"""The SQL that a request sends, as PostgreSQL's own log tells it; nothing of the code is imported for it.

A stack that is started with `LOGGED` in its environment writes every statement with its parameters there.
"""

import re
from pathlib import Path

from tests.support.postgres import Postgres

LOGGED = {"PGOPTIONS": "-c log_statement=all -c log_error_verbosity=default"}
_ENTRY = re.compile(r"^\d{4}-\d\d-\d\d [\d:.]+ UTC \[\d+\] (\w+):  ", re.MULTILINE)
_STATEMENT = re.compile(r"(?:execute [^:]+|statement): ?(.*)", re.DOTALL)
_PARAMETER = re.compile(r"\$(\d+) = (NULL|'(?:[^']|'')*')")
_VECTOR = re.compile(r"'\[[-\d.,e]{200,}\]'")
# Of a connection, or what a server does now and then, not of a search; SET LOCAL stays.
_LEFT_OUT = re.compile(
    r"BEGIN|COMMIT|ROLLBACK|DEALLOCATE|SELECT 1;|SET (?!LOCAL)|SELECT pg_backend_pid"
    r"|INSERT INTO rag_querycount"
)


def log_of(cluster: Postgres) -> Path:
    """Where the test run's PostgreSQL writes its log."""
    return next(cluster.data_dir.rglob("postgres.log"))


def statements_in(log: str) -> list[tuple[str, list[str]]]:
    """Each statement, with a line for each of its parameters."""
    found: list[tuple[str, list[str]]] = []
    _, *parts = _ENTRY.split(log)
    for level, text in zip(parts[::2], parts[1::2], strict=True):
        said = text.replace("\n\t", "\n").strip()
        if level == "DETAIL" and found and said.lower().startswith("parameters: "):
            found[-1][1].extend(
                f"-- ${number} = {_told(value)}" for number, value in _PARAMETER.findall(said)
            )
        elif statement := _STATEMENT.fullmatch(said):
            found.append((_tidy(statement[1]), []))
    return [one for one in found if not _LEFT_OUT.match(one[0])]


def _told(value: str) -> str:
    return _VECTOR.sub(lambda match: f"<vector of {match[0].count(',') + 1} numbers>", value)


def _tidy(sql: str) -> str:
    """Without empty lines; else as it was sent."""
    return "\n".join(line.rstrip() for line in sql.splitlines() if line.strip()).strip() + ";"
