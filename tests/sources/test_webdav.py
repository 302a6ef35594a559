"""A folder on a real WebDAV server: in sync, with its password, and refused where a server is not trusted."""

import os
import time
from collections.abc import Iterator
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from urllib.parse import quote

import pytest

from documents.access import FULL
from documents.models import Source
from documents.sources import services
from knowlex.base.errors import Forbidden, InvalidInput
from tests.provider import Provider
from tests.sources.conftest import MakeSource, checksum, finish, killed_at, run, states, stored
from tests.sources.test_runs import counted, note
from tests.support.webdav import PASSWORD, USER, WebdavServer


@pytest.fixture(scope="module")
def _dav(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WebdavServer]:
    with WebdavServer(tmp_path_factory.mktemp("dav")) as server:
        yield server


@pytest.fixture
def dav(_dav: WebdavServer, settings: Any) -> WebdavServer:
    """Empty, and one that URLs may lead to."""
    settings.URL_INGEST = True
    settings.URL_ALLOWED_HOSTS = [f"127.0.0.1:{_dav.port}"]
    _dav.ensure_running()
    for path in sorted(_dav.files.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    return _dav


def write(dav: WebdavServer, *numbers: int, below: str = "") -> None:
    """Files that were written a while ago."""
    folder = dav.files / below
    folder.mkdir(parents=True, exist_ok=True)
    for number in numbers:
        (folder / f"{number}.md").write_bytes(note(number))
        os.utime(folder / f"{number}.md", (then := time.time() - 3600, then))


@pytest.fixture
def source(dav: WebdavServer, make_source: MakeSource) -> Source:
    return make_source("webdav", {"url": f"{dav.url}/dav/", "username": USER}, secret=PASSWORD)


def test_a_folder_stays_in_sync(dav: WebdavServer, source: Source, provider: Provider):
    write(dav, *range(1, 9))
    write(dav, 9, below="Ünter Ordner/100% sicher? #1")
    (dav.files / "bild.png").write_bytes(b"\x89PNG")
    ended = run(source)
    assert (ended.state, counted(ended)) == ("completed", {"added": 9, "skipped": 1})
    assert states(source)["Ünter Ordner/100% sicher? #1/9.md"] == "taken"
    assert len(stored()) == 9
    assert counted(run(source)) == {"unchanged": 9, "skipped": 1}

    provider.forget_log()
    (dav.files / "1.md").write_bytes(note(101))
    (dav.files / "2.md").rename(dav.files / "second.md")
    (dav.files / "3.md").unlink()
    assert counted(run(source)) == {"unchanged": 6, "replaced": 1, "moved": 1, "deleted": 1, "skipped": 1}
    assert set(stored()) == {checksum(note(n)) for n in (101, 2, *range(4, 10))}
    assert provider.asked().total() == 1


def test_a_source_may_be_a_folder_below(dav: WebdavServer, make_source: MakeSource):
    write(dav, 1)
    write(dav, 2, below="some/where")
    source = make_source("webdav", {"url": f"{dav.url}/open/some"})
    run(source)
    assert states(source) == {"where/2.md": "taken"}


@pytest.mark.parametrize(
    ("path", "secret", "words"),
    [("/dav/", "wrong", "password"), ("/dav/nowhere", PASSWORD, "nothing at this address")],
)
def test_what_the_server_refuses_is_told(
    dav: WebdavServer, make_source: MakeSource, path: str, secret: str, words: str
):
    source = make_source("webdav", {"url": dav.url + path, "username": USER}, secret=secret)
    ended = run(source)
    assert ended.state == "failed"
    assert words in ended.error


def test_a_server_that_is_away_deletes_nothing(dav: WebdavServer, source: Source):
    write(dav, *range(1, 4))
    run(source)
    dav.kill()
    ended = run(source)
    assert ended.state == "failed"
    assert "cannot be reached" in ended.error
    assert len(stored()) == 3
    dav.start()
    assert counted(run(source)) == {"unchanged": 3}


def test_an_emptied_folder_asks(dav: WebdavServer, source: Source):
    write(dav, *range(1, 4))
    run(source)
    for path in dav.files.iterdir():
        path.unlink()
    assert run(source).state == "needs_confirmation"
    assert len(stored()) == 3


def test_targets_obey_the_rules_for_urls(dav: WebdavServer, make_source: MakeSource, settings: Any):
    config = {"url": f"{dav.url}/open/"}
    settings.URL_ALLOWED_HOSTS = []
    ended = run(make_source("webdav", config))
    assert ended.state == "failed"
    assert "KNOWLEX_URL_ALLOWED_HOSTS" in ended.error
    settings.URL_INGEST = False
    with pytest.raises(Forbidden, match="KNOWLEX_URL_INGEST"):
        make_source("webdav", config, name="another")
    settings.URL_INGEST = True
    for url in (
        "ftp://example.org/",
        "http://ann:pw@example.org/",
        "http://0x7f.1/",
        "http://example.org/?a=b",
    ):
        with pytest.raises(InvalidInput):
            make_source("webdav", {"url": url}, name="another")


def test_the_secret_is_encrypted_and_lost_with_the_servers_key(
    dav: WebdavServer, source: Source, settings: Any
):
    kept = Source.objects.get(id=source.id).secret
    assert PASSWORD not in kept
    assert kept
    settings.SECRET_KEY = "another one than it was encrypted with"
    ended = run(source)
    assert ended.state == "failed"
    assert "enter it again" in ended.error
    services.change_source(source.name, access=FULL, changes={"secret": PASSWORD})
    assert run(source).state == "completed"


def test_a_kill_while_files_are_fetched_is_safe_to_run_again(dav: WebdavServer, source: Source):
    write(dav, *range(1, 5))
    for moment in (1, 2, 4, 5, 6, 7):
        services.start_run(source.name, access=FULL)
        killed_at(source, moment)
        assert finish(source).state == "completed"
        assert set(stored()) == {checksum(note(n)) for n in range(1, 5)}


BODY = '<d:multistatus xmlns:d="DAV:">{}</d:multistatus>'
ENTRY = (
    "<d:response><d:href>{}</d:href><d:propstat><d:prop><d:resourcetype>{}</d:resourcetype>"
    "<d:getcontentlength>{}</d:getcontentlength><d:getetag>e</d:getetag></d:prop></d:propstat></d:response>"
)


def entry(path: str, size: int = 5) -> str:
    return ENTRY.format(quote(path), "<d:collection/>" if path.endswith("/") else "", size)


class Hostile:
    """A server that answers PROPFIND by path as it is told: (status, body)."""

    def __init__(self) -> None:
        self.replies: dict[str, tuple[int, str]] = {}
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def answer(self) -> None:
                self.rfile.read(int(self.headers.get("Content-Length", 0)))
                status, body = outer.replies.get(self.path, (404, ""))
                self.send_response(status)
                if 300 <= status < 400:
                    self.send_header("Location", "http://169.254.169.254/")
                self.send_header("Content-Length", str(len(body.encode())))
                self.end_headers()
                self.wfile.write(body.encode())

            do_PROPFIND = do_GET = answer

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port = self._server.server_address[1]
        Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def hostile(settings: Any) -> Iterator[Hostile]:
    with closing(Hostile()) as server:
        settings.URL_INGEST = True
        settings.URL_ALLOWED_HOSTS = [f"127.0.0.1:{server.port}"]
        yield server


@pytest.mark.parametrize(
    ("status", "body", "words"),
    [
        (207, "<d:multistatus", "cannot be read"),
        (207, '<!DOCTYPE a [<!ENTITY b "bbb">]>' + BODY.format(entry("/x/a.md") + "&b;"), "document type"),
        (302, "", "redirects"),
        (500, "", "answered 500"),
        (200, "<html>", "answered 200"),
    ],
)
def test_a_server_that_is_none_is_told(
    hostile: Hostile, make_source: MakeSource, status: int, body: str, words: str
):
    hostile.replies["/x/"] = (status, body)
    ended = run(make_source("webdav", {"url": f"http://127.0.0.1:{hostile.port}/x/"}))
    assert ended.state == "failed"
    assert words in ended.error


def test_names_that_lead_elsewhere_are_left_out(hostile: Hostile, make_source: MakeSource):
    strays = ("/etc/passwd.md", "/x/../y.md", "/x/a/b/deep.md", "/x/.hidden.md", "/x/")
    hostile.replies["/x/"] = (207, BODY.format("".join(map(entry, (*strays, "/x/a.md", "/x/loop/")))))
    hostile.replies["/x/loop/"] = (207, BODY.format(entry("/x/") + entry("/x/loop/")))
    hostile.replies["/x/a.md"] = (200, "# A\n\nSome words.")
    source = make_source("webdav", {"url": f"http://127.0.0.1:{hostile.port}/x"})
    assert run(source).state == "completed"
    assert states(source) == {"a.md": "taken"}


def test_what_lies_in_a_folder_that_may_not_be_listed_stays(hostile: Hostile, make_source: MakeSource):
    files = [f"/x/sub/{n}.md" for n in range(4)]
    hostile.replies = {path: (200, f"# Number {path}\n\nSome words.") for path in files}
    hostile.replies["/x/"] = (207, BODY.format(entry("/x/") + entry("/x/sub/")))
    hostile.replies["/x/sub/"] = (207, BODY.format("".join(map(entry, files))))
    source = make_source("webdav", {"url": f"http://127.0.0.1:{hostile.port}/x"})
    assert counted(run(source)) == {"added": 4}
    hostile.replies["/x/sub/"] = (403, "")
    ended = run(source)
    assert (ended.state, ended.counts["gone"], len(stored())) == ("completed", 0, 4)
