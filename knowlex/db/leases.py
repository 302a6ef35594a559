"""Work that lies in a table, shared by workers: who has which row, for how long, and how often it was tried.

A worker claims rows for a lease: an id that it makes up, and a time at which the lease ends by the clock of
the database. It renews the lease while it works, and every statement that records a result asks whether the
lease is still its own. A worker that dies holds nobody up for longer than a lease; a row that has ended its
workers too often is given up. Celery only tells workers that there is work.
"""

# ruff: noqa: S608 - the statements are put together from the constants that a queue is defined by

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from knowlex.db.threads import execute

Row = tuple[Any, ...]
_NOTHING: Mapping[str, object] = {}


class LeaseLost(Exception):
    """The row was deleted, or another worker has taken it over: what was done is thrown away."""


@dataclass(frozen=True, slots=True)
class LeaseQueue:
    """A table that holds work, with the SQL that tells its rows apart.

    table: has the columns `lease uuid`, `leased_until timestamptz` and `attempts int`, or those that
    `lease_column` ("" for none: then only the clock tells who has a row), `until_column` and
    `attempts_column` name. key: its primary key. In all SQL the table is called `w`.
    waiting: whether a row is still to be done, whoever has it.
    max_attempts: how often a row is claimed; None for any number.
    given_up, freed: what else is set in a row that is given up, or that is free again.
    """

    table: str
    key: tuple[str, ...]
    waiting: str
    lease_s: int
    max_attempts: int | None = None
    given_up: str = ""
    freed: str = ""
    lease_column: str = "lease"
    until_column: str = "leased_until"
    attempts_column: str = "attempts"
    # SQL that is made of the above.
    expired: str = field(init=False)
    unheld: str = field(init=False)
    free: str = field(init=False)
    until: str = field(init=False)
    release_columns: str = field(init=False)

    def __post_init__(self) -> None:
        def define(name: str, sql: str) -> None:
            object.__setattr__(self, name, sql)

        define("until", f"clock_timestamp() + make_interval(secs => {self.lease_s})")
        define("expired", f"w.{self.until_column} < clock_timestamp()")
        unclaimed = f"w.{self.lease_column or self.until_column} IS NULL"
        define("unheld", f"({self.waiting} AND ({unclaimed} OR {self.expired}))")
        # What has ended its workers too often is not claimed again: it is given up.
        again = self.expired
        if self.max_attempts is not None:
            again += f" AND w.{self.attempts_column} < {self.max_attempts}"
        define("free", f"({self.waiting} AND ({unclaimed} OR ({again})))")
        columns = [f"{name} = NULL" for name in (self.lease_column, self.until_column) if name]
        define("release_columns", ", ".join(columns))

    def claim_sql(self, chosen: str, *, returning: str, changes: str = "") -> str:
        """Return the statement that claims the rows whose keys the query `chosen` selects.

        chosen: selects the columns of the key, from rows that are `free`. changes: what else is set.
        Parameters: those of `chosen` and `changes`, and `lease` where the table has that column.
        """
        key = ", ".join(self.key)
        joined = " AND ".join(f"w.{name} = chosen.{name}" for name in self.key)
        sets = [
            f"{self.lease_column} = %(lease)s" if self.lease_column else "",
            f"{self.until_column} = {self.until}",
            f"{self.attempts_column} = w.{self.attempts_column} + 1",
            changes,
        ]
        return (
            f"WITH chosen ({key}) AS MATERIALIZED ({chosen}) UPDATE {self.table} w "
            f"SET {', '.join(filter(None, sets))} FROM chosen WHERE {joined} RETURNING {returning}"
        )

    def leased_sql(self, changes: str, *, where: str, returning: str = "1") -> str:
        """Return the statement that changes those rows of `lease` for which `where` holds."""
        return (
            f"UPDATE {self.table} w SET {changes} WHERE {where} AND w.{self.lease_column} = %(lease)s "
            f"RETURNING {returning}"
        )

    def renew(self, lease: UUID, *, key: UUID | None = None) -> None:
        """Let the lease last from now on as long as a new one; nothing happens where it was lost.

        key: of the one row that is leased; needed where the table has no index of leases.
        """
        self._change(f"{self.until_column} = {self.until}", lease, key)

    def release(self, lease: UUID, *, key: UUID | None = None) -> None:
        """Give back what is still held; nothing happens where the lease was lost."""
        self._change(self.release_columns, lease, key)

    def _change(self, changes: str, lease: UUID, key: UUID | None) -> None:
        where = "true" if key is None else f"w.{self.key[0]} = %(key)s"
        execute(self.leased_sql(changes, where=where), {"lease": lease, "key": key})

    def give_up_hopeless(self, values: Mapping[str, object] = _NOTHING, *, returning: str = "1") -> list[Row]:
        """End the rows that were claimed too often; `values` are the parameters of `given_up`."""
        return execute(
            f"UPDATE {self.table} w SET {self.given_up}, {self.release_columns} WHERE {self.waiting} "
            f"AND {self.expired} AND w.{self.attempts_column} >= {self.max_attempts} RETURNING {returning}",
            values,
        )

    def free_expired(self) -> None:
        """Make those free again whose worker has not renewed its lease."""
        changes = ", ".join(filter(None, (self.release_columns, self.freed)))
        execute(f"UPDATE {self.table} w SET {changes} WHERE {self.waiting} AND {self.expired}")

    def count_unheld(self, *, limit: int) -> int:
        """Count the rows that nobody holds, up to `limit`: those to be claimed, and those to be given up."""
        counted = f"SELECT FROM {self.table} w WHERE {self.unheld} LIMIT %(limit)s"
        return int(execute(f"SELECT count(*) FROM ({counted}) unheld", {"limit": limit})[0][0])


def change_leased(statement: str, values: Mapping[str, object]) -> list[Row]:
    """Run a statement on leased rows and return its rows. Raises LeaseLost if it changed none."""
    rows = execute(statement, values)
    if not rows:
        raise LeaseLost
    return rows
