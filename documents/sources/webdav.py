"""A folder on a WebDAV server (Nextcloud, ownCloud …) as a source: PROPFIND and GET of RFC 4918."""

import base64
import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from email.utils import parsedate_to_datetime
from urllib.parse import quote, unquote, urlsplit

from documents.sources.reading import (
    LIST_WITHIN_S,
    RACY_S,
    READ_WITHIN_S,
    SourceFile,
    SourceUnavailable,
    is_hidden,
    storable_path,
)
from documents.sources.web import Site, check_file_reply, iterate_elements, refusal_of
from knowlex.base.errors import InvalidInput

MAX_FOLDERS = 20_000
FOLDER_WITHIN_S = 60.0
_DAV = "{DAV:}"
_ASKED = (
    b'<?xml version="1.0"?><propfind xmlns="DAV:"><prop><resourcetype/><getcontentlength/>'
    b"<getlastmodified/><getetag/></prop></propfind>"
)
_SAFE = "/~!$&'()*+,;=:@"


class WebdavReader:
    """SourceReader of a WebDAV folder. Use as a context manager."""

    def __init__(self, url: str, username: str, password: str, *, allowed_hosts: Collection[str]) -> None:
        self._site = Site(url, allowed_hosts=allowed_hosts)
        self._root = f"{unquote(urlsplit(self._site.target.path).path).rstrip('/')}/"
        credentials = base64.b64encode(f"{username}:{password}".encode()).decode()
        self._headers = [("Authorization", f"Basic {credentials}")] if username else []

    def __enter__(self) -> "WebdavReader":
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._site.__exit__()

    def list_files(self) -> Iterator[SourceFile]:
        """Ask folder by folder, since many servers refuse to list a whole tree at once."""
        ends = time.monotonic() + LIST_WITHIN_S
        waiting, seen = [""], {""}
        while waiting:
            folder = waiting.pop()
            if time.monotonic() > ends:
                raise SourceUnavailable(f"The files could not be listed within {LIST_WITHIN_S / 60:.0f} min.")
            for path, file in self._list_folder(folder):
                if file is not None:
                    yield file
                elif path not in seen and len(seen) < MAX_FOLDERS:
                    seen.add(path)
                    waiting.append(path)
        if len(seen) >= MAX_FOLDERS:
            raise SourceUnavailable(f"The source has more than {MAX_FOLDERS:,} folders.")

    @contextmanager
    def open(self, path: str) -> Iterator[Iterator[bytes]]:
        with self._site.request("GET", self._address(path), self._headers, within_s=READ_WITHIN_S) as reply:
            check_file_reply(reply)
            yield reply.blocks()

    def _list_folder(self, folder: str) -> Iterator[tuple[str, SourceFile | None]]:
        """Yield (path, file) of what lies in the folder itself; None for a folder.

        A folder that went since its parent was listed is empty; one that may not be looked into is a
        SourceFile with `is_folder`.
        """
        headers = [*self._headers, ("Depth", "1"), ("Content-Type", "application/xml")]
        address = self._address(f"{folder}/" if folder else "")
        with self._site.request("PROPFIND", address, headers, _ASKED, within_s=FOLDER_WITHIN_S) as reply:
            if folder and reply.status == 404:
                return
            if folder and reply.status == 403:
                yield folder, SourceFile(folder, problem="The server refuses this folder.", is_folder=True)
                return
            if reply.status != 207:
                raise refusal_of(reply.status)
            now = _seconds(reply.headers.get("date", ""))
            for element in iterate_elements(reply, [f"{_DAV}response"]):
                path = self._path_of(element.findtext(f"{_DAV}href") or "")
                if path is None or path == folder or path.rpartition("/")[0] != folder or is_hidden(path):
                    continue
                if element.find(f".//{_DAV}resourcetype/{_DAV}collection") is not None:
                    yield path, None
                else:
                    yield path, _file(path, element, now)

    def _address(self, path: str) -> str:
        return quote(self._root + path, safe=_SAFE, errors="surrogateescape")

    def _path_of(self, href: str) -> str | None:
        """Return the path below the source; None for an address that is not below it."""
        path = unquote(urlsplit(href).path, errors="surrogateescape")
        if f"{path.rstrip('/')}/" == self._root:
            return ""
        below = path.removeprefix(self._root).rstrip("/") if path.startswith(self._root) else ""
        return below if below and not {"", ".", ".."} & set(below.split("/")) else None


def tell_version(size: str, modified: str, etag: str, now: float | None) -> str:
    """Return size, time and etag; "" where the file changed so lately that its next change may keep them.

    Times have whole seconds here, and many servers make their etags of them. now: by the server's clock.
    """
    changed = _seconds(modified)
    if changed is None and not etag:
        return ""
    if changed is not None and now is not None and now - changed < RACY_S:
        return ""
    return f"{size}-{modified}-{etag.removeprefix('W/')}"


def _file(path: str, element: object, now: float | None) -> SourceFile:
    def value(name: str) -> str:
        return (element.findtext(f".//{_DAV}{name}") or "").strip()  # type: ignore[attr-defined]

    stored, problem = storable_path(path)
    length = value("getcontentlength")
    version = tell_version(length, value("getlastmodified"), value("getetag"), now)
    size = int(length) if length.isdecimal() and len(length) < 19 else 0
    if not length.isdecimal():
        problem = problem or "The server does not tell its size."
    return SourceFile(stored, size, version, problem)


def _seconds(date: str) -> float | None:
    try:
        return parsedate_to_datetime(date).timestamp()
    except (ValueError, TypeError):
        return None


def check_webdav(url: str, username: str) -> None:
    """Raise InvalidInput where the URL or the user name cannot be used."""
    if urlsplit(url.strip()).query or urlsplit(url.strip()).fragment:
        raise InvalidInput("config.url must have no query.", field="config.url")
    if ":" in username:
        raise InvalidInput("config.username must have no colon.", field="config.username")
