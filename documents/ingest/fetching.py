"""A client for documents that lie on the web, guarded against being sent where it must not go.

The host is resolved once for each request, every address it has is checked, and the connection is made to
one of those very addresses: an answer of the name server that changes afterwards changes nothing. TLS is
still verified against the name. Proxies, cookies and other state of the environment are not used.
"""

import socket
import ssl
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from email.message import Message
from pathlib import PurePosixPath
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any
from urllib.parse import unquote

import httpcore2
import truststore

from documents.ingest.fetch_addresses import (
    REFUSED,
    Target,
    check_port,
    follow_redirect,
    is_listed,
    is_public,
    parse_target,
)
from documents.library.storage import Staging
from documents.text.characters import clean_filename
from knowlex.base.errors import InvalidInput, PayloadTooLarge, UnreadableDocument


class Deadline:
    """One limit for many steps, by the monotonic clock."""

    def __init__(self, limit_s: float) -> None:
        self.restart(limit_s)

    def restart(self, limit_s: float) -> None:
        """Let the next steps take so long from now on."""
        self._ends = time.monotonic() + limit_s

    def left_s(self) -> float:
        """Return the seconds left, at least a millisecond: 0 would mean "do not block"."""
        return max(0.001, self._ends - time.monotonic())

    def check(self) -> None:
        """Raise httpcore2.ReadTimeout once time is up."""
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
        for position, address in enumerate(self._addresses):
            self._deadline.check()
            share_s = self._deadline.left_s() / (len(self._addresses) - position)
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


MAX_BYTES = 10 * 1024 * 1024
LIMIT_S = 10.0  # for all of it: names, connections, redirects and the document
MAX_REDIRECTS = 5
REDIRECTS = {301, 302, 303, 307, 308}
SUFFIXES = {
    "application/pdf": ".pdf",
    "text/html": ".html",
    "application/xhtml+xml": ".html",
    "text/markdown": ".md",
    "text/plain": ".txt",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": ".docx",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": ".xlsx",
    "application/vnd.openxmlformats-officedocument.presentationml.presentation": ".pptx",
    "application/vnd.oasis.opendocument.text": ".odt",
    "application/epub+zip": ".epub",
    "application/vnd.ms-outlook": ".msg",
    "application/rtf": ".rtf",
    "message/rfc822": ".eml",
    "text/csv": ".csv",
}
KNOWN_SUFFIXES = {
    *SUFFIXES.values(), ".htm", ".xhtml", ".markdown", ".mdown", ".mkd", ".text", ".tsv", ".tab"
}  # fmt: skip
NO_DOCUMENTS = {"audio", "font", "image", "model", "video"}
_HEADERS = [("User-Agent", "Knowlex"), ("Accept", "*/*"), ("Accept-Encoding", "identity")]
Resolve = Callable[[str, int], Sequence[str]]  # host, port -> addresses


@dataclass(frozen=True, slots=True)
class Fetched:
    """A document that was fetched.

    final_url: after redirects. filename: cleaned, with a suffix that tells the type where it is known.
    media_type: as the server names it, in lower case and without parameters, "" if it does not.
    """

    final_url: str
    filename: str
    media_type: str


def check_url(url: str) -> str:
    """Return the URL without white space around it. Checks only what needs no network.

    Raises InvalidInput: not http(s), no host, credentials in it, malformed.
    """
    parse_target(url)
    return url.strip()


def resolve(host: str, port: int) -> list[str]:
    """Return all addresses of the host by the system's resolver. Raises OSError."""
    entries = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in entries))


def fetch(
    url: str, staging: Staging, *, allowed_hosts: Collection[str], resolver: Resolve = resolve
) -> Fetched:
    """Write the document at the address to `staging`: at most 10 MB, within 10 s; blocking, for workers.

    allowed_hosts: `host` or `host:port` that may be private. resolver: for tests.
    Raises InvalidInput for an address that is not fetched from, UnreadableDocument when nothing usable comes,
    PayloadTooLarge, StorageUnavailable. No message names an address that the caller did not name.
    """
    deadline, target = Deadline(LIMIT_S), parse_target(url)
    for _ in range(MAX_REDIRECTS + 1):
        addresses = find_addresses(target, deadline, allowed_hosts=allowed_hosts, resolver=resolver)
        outcome = _request(target, addresses, staging, deadline)
        if isinstance(outcome, Fetched):
            return outcome
        target = outcome
    raise UnreadableDocument(f"The address redirects more than {MAX_REDIRECTS} times.")


def find_addresses(
    target: Target, deadline: Deadline, *, allowed_hosts: Collection[str], resolver: Resolve = resolve
) -> Sequence[str]:
    """Return the addresses that may be connected to. Raises InvalidInput, UnreadableDocument."""
    listed = is_listed(target, allowed_hosts)
    check_port(target, listed=listed)
    addresses = _resolve_in_time(target, resolver, deadline)
    if not addresses:
        raise UnreadableDocument("The host of the address is not known.")
    if not listed and not all(map(is_public, addresses)):
        raise InvalidInput(REFUSED, field="url")
    return addresses


def make_pool(addresses: Sequence[str], deadline: Deadline) -> httpcore2.ConnectionPool:
    """Make a pool whose connections go to these addresses alone, and whose every step has the deadline."""
    return httpcore2.ConnectionPool(
        ssl_context=truststore.SSLContext(ssl.PROTOCOL_TLS_CLIENT),
        network_backend=PinnedBackend(addresses, deadline),
    )


def post(
    url: str,
    body: bytes,
    headers: Mapping[str, str],
    *,
    allowed_hosts: Collection[str],
    resolver: Resolve = resolve,
) -> int:
    """Send JSON to an address and return the answer's status, within 10 s; blocking, for workers.

    What the answer says is not read, and no redirect is followed. The rules for addresses are those of
    `fetch`. Raises InvalidInput for one that is refused, UnreadableDocument when no answer comes.
    """
    deadline, target = Deadline(LIMIT_S), parse_target(url)
    addresses = find_addresses(target, deadline, allowed_hosts=allowed_hosts, resolver=resolver)
    sent = {"Host": target.authority, "User-Agent": "Knowlex", "Content-Type": "application/json", **headers}
    place = httpcore2.URL(scheme=target.scheme, host=target.host, port=target.port, target=target.path)
    try:
        with (
            make_pool(addresses, deadline) as pool,
            pool.stream("POST", place, headers=list(sent.items()), content=body) as response,
        ):
            return response.status
    except httpcore2.TimeoutException as exc:
        raise UnreadableDocument(f"The address did not answer within {LIMIT_S:.0f} s.") from exc
    except (httpcore2.NetworkError, httpcore2.ProtocolError, OSError) as exc:
        raise UnreadableDocument(explain_failure(exc)) from exc


def _resolve_in_time(target: Target, resolver: Resolve, deadline: Deadline) -> list[str]:
    """Resolve the host in a thread of its own, since the system's resolver knows no time limit."""
    answer: SimpleQueue[list[str]] = SimpleQueue()

    def run() -> None:
        try:
            answer.put(list(resolver(target.host, target.port)))
        except (OSError, UnicodeError):
            answer.put([])

    Thread(target=run, name="resolve", daemon=True).start()
    try:
        return answer.get(timeout=deadline.left_s())
    except Empty:
        raise _too_slow_error() from None


def _request(
    target: Target, addresses: Sequence[str], staging: Staging, deadline: Deadline
) -> Fetched | Target:
    """Make one request; return the document, or the Target that a redirect leads to."""
    url = httpcore2.URL(scheme=target.scheme, host=target.host, port=target.port, target=target.path)
    headers = [("Host", target.authority), *_HEADERS]
    try:
        with make_pool(addresses, deadline) as pool, pool.stream("GET", url, headers=headers) as response:
            return _receive(target, response, staging)
    except httpcore2.TimeoutException as exc:
        raise _too_slow_error() from exc
    except (httpcore2.NetworkError, httpcore2.ProtocolError, OSError) as exc:
        raise UnreadableDocument(explain_failure(exc)) from exc


def _receive(target: Target, response: httpcore2.Response, staging: Staging) -> Fetched | Target:
    headers = {name.lower().decode("latin-1"): _decode(value) for name, value in response.headers}
    if response.status in REDIRECTS and "location" in headers:
        return follow_redirect(target, headers["location"])
    if response.status != 200:
        raise UnreadableDocument(f"The server of the address answered {response.status}.")
    media_type = headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type.partition("/")[0] in NO_DOCUMENTS:
        raise UnreadableDocument(f"The address holds no document but {media_type[:80]}.")
    if headers.get("content-encoding", "").strip().lower() not in ("", "identity"):
        raise UnreadableDocument("The server of the address sends compressed, which was not asked for.")
    _write(response, staging, headers.get("content-length", ""))
    filename = _choose_filename(target, headers.get("content-disposition", ""), media_type)
    return Fetched(target.url, filename, media_type)


def _write(response: httpcore2.Response, staging: Staging, content_length: str) -> None:
    if content_length.isdecimal() and int(content_length[:20]) > MAX_BYTES:
        raise _too_large_error()
    size = 0
    for block in response.iter_stream():
        size += len(block)
        if size > MAX_BYTES:
            raise _too_large_error()
        staging.write(block)
    if not size:
        raise UnreadableDocument("The address holds an empty document.")


def _choose_filename(target: Target, disposition: str, media_type: str) -> str:
    """Return the name that the server gives, else the last part of the path, else the host."""
    message = Message()
    message["Content-Disposition"] = disposition.replace("\r", " ").replace("\n", " ")
    try:
        given = message.get_filename() or ""
    except (LookupError, ValueError):  # an unknown character set in filename*
        given = ""
    last = unquote(PurePosixPath(target.path.partition("?")[0]).name)
    name = clean_filename(given or last or target.host)
    if PurePosixPath(name).suffix.lower() in KNOWN_SUFFIXES:
        return name
    return clean_filename(name + SUFFIXES.get(media_type, ""))


def _decode(value: bytes) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value.decode("latin-1")


def explain_failure(exc: BaseException) -> str:
    """Return why a request failed, in words that name no address."""
    cause: BaseException | None = exc
    while cause is not None:
        if isinstance(cause, ssl.SSLCertVerificationError):
            return "The certificate of the address's server is not valid."
        cause = cause.__cause__ or cause.__context__
    if isinstance(exc, httpcore2.ProtocolError):
        return "The server of the address does not answer in proper HTTP."
    return "The server of the address cannot be reached, or broke off."


def _too_slow_error() -> UnreadableDocument:
    return UnreadableDocument(f"The address did not give its document within {LIMIT_S:.0f} s.")


def _too_large_error() -> PayloadTooLarge:
    return PayloadTooLarge(f"The address holds more than {MAX_BYTES // 2**20} MB.")
