"""Statements as the server has prepared them, sent and read by libpq itself.

psycopg's cursor finds out anew each time what is known of such a statement, and makes itself ready for much
else: of a short one that is half of all that the process does for it.
"""

import re
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple, TypeAlias

from psycopg import BaseConnection
from psycopg.abc import Params, PQGen
from psycopg.adapt import PyFormat, Transformer
from psycopg.errors import error_from_result
from psycopg.generators import execute
from psycopg.pq import ExecStatus
from psycopg.pq.abc import PGresult
from psycopg.rows import DictRow

KEPT = 64  # of a connection, the last ones asked
DONE = (ExecStatus.TUPLES_OK, ExecStatus.COMMAND_OK)
_PLACEHOLDER = re.compile(rb"%(?:\((?P<name>\w+)\)s|s|%)")

Key: TypeAlias = tuple[str | bytes, tuple[int, ...]]


class Statements:
    """Of one connection. A statement is kept for each combination of its parameters' types."""

    def __init__(self, connection: BaseConnection[Any]) -> None:
        self._pgconn, self._transformer = connection.pgconn, Transformer(connection)
        self._names: OrderedDict[Key, bytes] = OrderedDict()  # b"": it was asked once
        self._unwanted: list[bytes] = []
        self._made = 0

    def rows(self, sql: str | bytes, params: Params) -> PQGen[list[DictRow]]:
        """Raises psycopg.Error; a statement that fails is prepared anew the next time but one."""
        while self._unwanted:
            yield from self._sent(self._pgconn.send_query, b"DEALLOCATE " + self._unwanted.pop())
        result = yield from self._asked(sql, params)
        self._transformer.set_pgresult(result)
        rows = self._transformer.load_rows(0, result.ntuples, _row_maker(result))
        self._transformer.set_pgresult(None)  # it would be held until the next one comes
        return rows

    def _asked(self, sql: str | bytes, params: Params) -> PQGen[PGresult]:
        """What is asked once is not prepared: that would be one more round trip."""
        worded = _worded(sql)
        values = self._transformer.dump_sequence(worded.in_order(params), worded.formats)
        types, formats = self._transformer.types or (), self._transformer.formats
        name = self._names.pop((sql, types), None)
        if name is None:
            result = yield from self._sent(
                self._pgconn.send_query_params, worded.text, values, types, formats
            )
            self._keep((sql, types), b"")
            return result
        name = name or (yield from self._prepared(worded.text, types))
        try:
            result = yield from self._sent(self._pgconn.send_query_prepared, name, values, formats)
        except BaseException:
            self._unwanted.append(name)
            raise
        self._keep((sql, types), name)
        return result

    def _prepared(self, text: bytes, types: Sequence[int]) -> PQGen[bytes]:
        self._made += 1
        name = b"kx_%d" % self._made
        yield from self._sent(self._pgconn.send_prepare, name, text, types)
        return name

    def _sent(self, send: Callable[..., None], *arguments: Any) -> PQGen[PGresult]:
        send(*arguments)
        results: list[PGresult] = yield from execute(self._pgconn)
        (result,) = results
        if result.status not in DONE:
            raise error_from_result(result)
        return result

    def _keep(self, key: Key, name: bytes) -> None:
        self._names[key] = name
        if len(self._names) > KEPT:
            _, left = self._names.popitem(last=False)
            self._unwanted += [left] if left else []


class _Worded(NamedTuple):
    """A statement as the server reads it. names: of its parameters; "" where they come in their order."""

    text: bytes
    names: tuple[str, ...]
    formats: tuple[PyFormat, ...]

    def in_order(self, params: Params) -> Sequence[Any]:
        if isinstance(params, Mapping):
            return [params[name] for name in self.names]
        return params


@lru_cache(maxsize=256)
def _worded(sql: str | bytes) -> _Worded:
    names: list[str] = []

    def numbered(found: re.Match[bytes]) -> bytes:
        if found[0] == b"%%":
            return b"%"
        name = (found["name"] or b"").decode()
        if not name or name not in names:
            names.append(name)
            return b"$%d" % len(names)
        return b"$%d" % (names.index(name) + 1)

    text = _PLACEHOLDER.sub(numbered, sql.encode() if isinstance(sql, str) else sql)
    return _Worded(text, tuple(names), (PyFormat.AUTO,) * len(names))


def _row_maker(result: PGresult) -> Callable[[Sequence[Any]], DictRow]:
    names = [(result.fname(place) or b"").decode() for place in range(result.nfields)]
    return lambda values: dict(zip(names, values, strict=True))
