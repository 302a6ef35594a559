"""Requests to a server that sources lie on: by the rules by which documents are fetched from addresses.

The host is resolved and checked once for a reader, and all connections go to these very addresses.
"""

import ssl
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import httpcore2
from lxml import etree

from documents.ingest.fetch_addresses import Target, parse_target
from documents.ingest.fetching import Deadline, explain_failure, find_addresses, make_pool
from documents.sources.reading import READ_WITHIN_S, FileUnavailable, FileVanished, SourceUnavailable
from knowlex.base.errors import InvalidInput, UnreadableDocument

MAX_XML_BYTES = 64 * 2**20
XML_BLOCK = 64 * 1024
Headers = Sequence[tuple[str, str]]
REFUSED = {
    401: "The server refuses the user name or the password.",
    403: "The server refuses this access.",
    404: "There is nothing at this address.",
    429: "The server asks for fewer requests.",
}


@dataclass(frozen=True, slots=True)
class Reply:
    """A reply of which the body is still to be read. headers: names in lower case."""

    status: int
    headers: dict[str, str]
    stream: httpcore2.Response

    def blocks(self) -> Iterator[bytes]:
        """Yield the body. Raises SourceUnavailable where it breaks off."""
        with _translated():
            yield from self.stream.iter_stream()


class Site:
    """The server of one source. Use as a context manager. url: of the source, where its paths begin."""

    def __init__(self, url: str, *, allowed_hosts: Collection[str]) -> None:
        self.target = parse_target(url)
        self._deadline = Deadline(READ_WITHIN_S)
        try:
            addresses = find_addresses(self.target, self._deadline, allowed_hosts=allowed_hosts)
        except UnreadableDocument as exc:
            raise SourceUnavailable(exc.message) from exc
        except InvalidInput as exc:
            raise SourceUnavailable(
                f"{exc.message} Whoever runs this server can allow it by KNOWLEX_URL_ALLOWED_HOSTS."
            ) from exc
        self._pool = make_pool(addresses, self._deadline)

    def __enter__(self) -> "Site":
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._pool.close()

    @contextmanager
    def request(
        self, method: str, path: str, headers: Headers = (), body: bytes = b"", *, within_s: float
    ) -> Iterator[Reply]:
        """Make one request; redirects are not followed. path: quoted, with the query.

        Raises SourceUnavailable.
        """
        self._deadline.restart(within_s)
        target = Target(self.target.scheme, self.target.host, self.target.port, path)
        url = httpcore2.URL(scheme=target.scheme, host=target.host, port=target.port, target=target.path)
        own = [("Host", target.authority), ("User-Agent", "Knowlex"), ("Accept-Encoding", "identity")]
        length = [("Content-Length", str(len(body)))] if body else []
        with _translated():
            response = self._pool.handle_request(
                httpcore2.Request(method, url, headers=[*own, *length, *headers], content=body)
            )
        try:
            names = {
                name.lower().decode("latin-1"): value.decode("latin-1") for name, value in response.headers
            }
            yield Reply(response.status, names, response)
        finally:
            response.close()


def refusal_of(status: int) -> SourceUnavailable:
    """Return what to raise for a reply that is no success."""
    if 300 <= status < 400:
        return SourceUnavailable("The server redirects; enter the address that it leads to.")
    return SourceUnavailable(REFUSED.get(status, f"The server answered {status}."))


def check_file_reply(reply: Reply) -> None:
    """Raise FileVanished, FileUnavailable or SourceUnavailable unless the reply brings a file."""
    if reply.status in (404, 410):
        raise FileVanished
    if reply.status in (401, 429) or 300 <= reply.status < 400 or reply.status >= 500:
        raise refusal_of(reply.status)
    if reply.status != 200:
        raise FileUnavailable(REFUSED.get(reply.status, f"The server answered {reply.status}."))


def iterate_elements(reply: Reply, tags: Collection[str]) -> Iterator[Any]:
    """Yield the elements of these tags of an XML body as they come; each is forgotten afterwards.

    Entities are not resolved and a document type is refused, so that nothing in it can grow. At most
    MAX_XML_BYTES are read. Raises SourceUnavailable.
    """
    parser = etree.XMLPullParser(
        events=("end",), tag=list(tags), resolve_entities=False, no_network=True, load_dtd=False,
        huge_tree=False,
    )  # fmt: skip
    size = 0
    try:
        for block in reply.blocks():
            size += len(block)
            if size > MAX_XML_BYTES:
                raise SourceUnavailable("The server's list of files is too long.")
            for start in range(0, len(block), XML_BLOCK):
                parser.feed(block[start : start + XML_BLOCK])
                yield from _read_events(parser)
        parser.close()
        yield from _read_events(parser)
    except etree.XMLSyntaxError as exc:
        raise SourceUnavailable("The server's list of files cannot be read.") from exc


def _read_events(parser: Any) -> Iterator[Any]:
    for _, element in parser.read_events():
        if element.getroottree().docinfo.doctype:
            raise SourceUnavailable("The server's list of files has a document type, which is refused.")
        yield element
        element.clear(keep_tail=False)
        while element.getprevious() is not None:
            del element.getparent()[0]


@contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except httpcore2.TimeoutException as exc:
        raise SourceUnavailable("The server did not answer in time.") from exc
    except (httpcore2.NetworkError, httpcore2.ProtocolError, OSError, ssl.SSLError) as exc:
        raise SourceUnavailable(explain_failure(exc)) from exc
