"""Connections for fetching: only to addresses that were checked, and all of them within one deadline."""

import ssl
import time
from collections.abc import Iterable, Sequence
from typing import Any

import httpcore2


class Deadline:
    """One limit for many steps, by the monotonic clock."""

    def __init__(self, limit_s: float) -> None:
        self._ends = time.monotonic() + limit_s

    def left_s(self) -> float:
        """Seconds, at least a millisecond: 0 would mean "do not block"."""
        return max(0.001, self._ends - time.monotonic())

    def check(self) -> None:
        """Raises httpcore2.ReadTimeout once time is up."""
        if time.monotonic() >= self._ends:
            raise httpcore2.ReadTimeout("the deadline has passed")


class PinnedBackend(httpcore2.NetworkBackend):
    """Connects to the given addresses, in order, whatever the host is called; no name is resolved here."""

    def __init__(self, addresses: Sequence[str], deadline: Deadline) -> None:
        self._addresses, self._deadline = addresses, deadline
        self._inner = httpcore2.SyncBackend()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.NetworkStream:
        failure: Exception = httpcore2.ConnectError("no address")
        for place, address in enumerate(self._addresses):
            self._deadline.check()
            share_s = self._deadline.left_s() / (len(self._addresses) - place)
            try:
                stream = self._inner.connect_tcp(address, port, timeout=share_s)
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout) as exc:
                failure = exc
            else:
                return TimedStream(stream, self._deadline)
        raise failure


class TimedStream(httpcore2.NetworkStream):
    """A stream whose every step ends with the deadline: a byte a second does not hold a worker."""

    def __init__(self, inner: httpcore2.NetworkStream, deadline: Deadline) -> None:
        self._inner, self._deadline = inner, deadline

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        self._deadline.check()
        return self._inner.read(max_bytes, timeout=self._deadline.left_s())

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._deadline.check()
        self._inner.write(buffer, timeout=self._deadline.left_s())

    def close(self) -> None:
        self._inner.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore2.NetworkStream:
        left_s = self._deadline.left_s()
        return TimedStream(self._inner.start_tls(ssl_context, server_hostname, left_s), self._deadline)

    def get_extra_info(self, info: str) -> Any:
        return self._inner.get_extra_info(info)
