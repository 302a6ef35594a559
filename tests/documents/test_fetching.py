"""Fetching documents from the web: what comes, what is refused, and that nobody is led astray.

The servers are real, on loopback; only the name server is made up.
"""

import datetime
import ssl
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event, Thread
from typing import Any

import httpcore2
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from documents.ingest import fetching
from documents.ingest.fetch_addresses import is_public, normalize_host
from documents.ingest.fetching import Fetched, check_url, fetch
from documents.library.storage import Staging
from knowlex.base.errors import InvalidInput, KnowlexError, PayloadTooLarge, UnreadableDocument

Answer = Callable[[BaseHTTPRequestHandler], None]
PUBLIC = "93.184.215.14"


class Site:
    """A web server: `pages` says what each path answers, `hosts` which Host headers came."""

    def __init__(self, certificate: Path | None = None) -> None:
        self.pages: dict[str, Answer] = {}
        self.hosts: list[str] = []
        site = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                site.hosts.append(self.headers["Host"])
                site.pages[self.path](self)

            def log_message(self, *_: Any) -> None: ...

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate)
            self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        self.port = self.server.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}"
        Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()


def page(body: bytes = b"Some words.", status: int = 200, **headers: str) -> Answer:
    def answer(request: BaseHTTPRequestHandler) -> None:
        request.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **headers}.items():
            request.send_header(name.replace("_", "-"), value)
        request.end_headers()
        request.wfile.write(body)

    return answer


@pytest.fixture
def site() -> Iterator[Site]:
    running = Site()
    yield running
    running.close()


def names(**known: str) -> Callable[[str, int], Sequence[str]]:
    """A name server that knows these (dots as `_`), and addresses as themselves."""
    table = {name.replace("_", "."): address.split() for name, address in known.items()}
    return lambda host, port: table.get(host, [host] if host[0].isdigit() or ":" in host else [])


def get(url: str, *allowed: str, **options: Any) -> tuple[Fetched, bytes]:
    with Staging(max_bytes=50 * 2**20) as staging:
        found = fetch(url, staging, allowed_hosts=allowed, **options)
        return found, staging.finish().path.read_bytes()


def refusal(url: str, *allowed: str, **options: Any) -> KnowlexError:
    with pytest.raises(KnowlexError) as refused:
        get(url, *allowed, **options)
    return refused.value


def test_a_document_of_a_listed_host_is_fetched(site: Site):
    site.pages["/papers/report.pdf?v=2"] = page(b"%PDF-1.7 and more", Content_Type="application/pdf")

    found, body = get(f"{site.url}/papers/report.pdf?v=2#page=3", f"127.0.0.1:{site.port}")

    assert body == b"%PDF-1.7 and more"
    assert found == Fetched(f"{site.url}/papers/report.pdf?v=2", "report.pdf", "application/pdf")
    assert site.hosts == [f"127.0.0.1:{site.port}"]


@pytest.mark.parametrize(
    ("path", "headers", "name"),
    [
        ("/a/b.md", {}, "b.md"),
        ("/", {"Content_Type": "text/html; charset=utf-8"}, "127.0.0.1.html"),
        ("/wiki/Tesla", {"Content_Type": "text/html"}, "Tesla.html"),
        ("/index.php", {"Content_Type": "text/html"}, "index.php.html"),
        ("/caf%C3%A9.txt", {}, "café.txt"),
        ("/prices.tsv", {"Content_Type": "text/plain"}, "prices.tsv"),
        ("/read.mkd", {"Content_Type": "text/plain"}, "read.mkd"),
        ("/page.xhtml", {"Content_Type": "application/xhtml+xml"}, "page.xhtml"),
        ("/x", {"Content_Disposition": 'attachment; filename="../../etc/report.pdf"'}, "report.pdf"),
        ("/x", {"Content_Disposition": "attachment; filename*=UTF-8''na%C3%AFve.docx"}, "naïve.docx"),
        ("/y.pdf", {"Content_Disposition": "attachment; filename*=klingon''z%FF"}, None),
    ],
)
def test_the_name_is_the_servers_else_the_paths(site: Site, path: str, headers: dict[str, str], name: str):
    site.pages[path] = page(**headers)
    found, _ = get(site.url + path, "127.0.0.1")
    assert found.filename == name if name else found.filename


@pytest.mark.parametrize(
    "url",
    [
        *("http://127.0.0.1/", "http://127.1/", "http://2130706433/", "http://0x7f.1/", "http://0177.0.0.1/"),
        *("http://127.0.0.1./", "http://127.0.0.1../", "http://１２７.0.0.1/", "http://127。0。0。1/"),
        *("http://10.1.2.3/", "http://172.16.0.1/", "http://192.168.1.1/", "http://169.254.169.254/"),
        *("http://100.64.0.1/", "http://0.0.0.0/", "http://224.0.0.1/", "http://255.255.255.255/"),
        *("http://[::1]/", "http://[::]/", "http://[::ffff:127.0.0.1]/", "http://[::127.0.0.1]/"),
        *("http://[fe80::1]/", "http://[fe80::1%25eth0]/", "http://[fc00::1]/", "http://[ff02::1]/"),
        *("http://[2002:7f00:1::]/", "http://[64:ff9b::7f00:1]/", "http://[64:ff9b:1::7f00:1]/"),
        *("http://[2001:0:4136:e378:8000:63bf:3fff:fdd2]/", "http://[2001:db8::1]/", "http://[fec0::1]/"),
        *(
            "file:///etc/passwd",
            "ftp://example.com/x",
            "gopher://example.com/",
            "//example.com/",
            "example.com",
        ),
        *("http://user:pw@example.com/", "http://user@example.com/", "http://@example.com/", "http:///x"),
        *("http://exa\tmple.com/", "http://example.com\\@127.0.0.1/", "http://example.com:99999/"),
        *("http://example.com:0/", "http://example.com:22/", "https://example.com:80/", "http://[::1/", ""),
        *(
            "http://a..b/",
            "http://-a.com/",
            "http://a b.com/",
            "http://exämple\u200b\u0301-.com/",
            "http://0x/",
        ),
    ],
)
def test_what_is_no_public_web_address_is_refused(url: str):
    asked = []

    def resolver(host: str, port: int) -> list[str]:
        asked.append(host)
        return [host] if host[0].isdigit() or ":" in host else [PUBLIC]

    refused = refusal(url, resolver=resolver)

    assert isinstance(refused, InvalidInput)
    assert refused.details == {"field": "url"}
    assert "127.0" not in refused.message


@pytest.mark.parametrize("addresses", ["127.0.0.1", f"{PUBLIC} 10.0.0.1", "::1", "::ffff:10.0.0.1"])
def test_a_name_with_one_inner_address_is_refused_without_a_connection(site: Site, addresses: str):
    refused = refusal(f"http://inner.example:{site.port}/", resolver=names(inner_example=addresses))
    assert isinstance(refused, InvalidInput)
    refused = refusal("http://inner.example/", resolver=names(inner_example=addresses))
    assert isinstance(refused, InvalidInput)
    assert site.hosts == []


def test_the_connection_goes_to_the_address_that_was_checked(monkeypatch: pytest.MonkeyPatch):
    answers, connected = iter([[PUBLIC], ["127.0.0.1"], ["127.0.0.1"]]), []

    def connect(self: object, host: str, port: int, **_: Any) -> httpcore2.NetworkStream:
        connected.append((host, port))
        raise httpcore2.ConnectError

    monkeypatch.setattr(httpcore2.SyncBackend, "connect_tcp", connect)
    refused = refusal("http://rebound.example/", resolver=lambda host, port: next(answers))

    assert connected == [(PUBLIC, 80)]
    assert isinstance(refused, UnreadableDocument)
    assert len(list(answers)) == 2  # asked once


def test_the_name_stays_in_the_host_header(site: Site):
    site.pages["/"] = page()
    get(
        f"http://Intranet.Example.:{site.port}/",
        f"intranet.example:{site.port}",
        resolver=names(intranet_example="127.0.0.1"),
    )
    assert site.hosts == [f"intranet.example:{site.port}"]


def test_one_listed_port_opens_no_other(site: Site):
    refused = refusal(f"{site.url}/", f"127.0.0.1:{site.port + 1}", "127.0.0.2", "localhost")
    assert isinstance(refused, InvalidInput)


@pytest.mark.parametrize("listed", ["[::1]:8080", "::1"])
def test_an_ipv6_host_can_be_listed(listed: str):
    refused = refusal("http://[::1]:8080/", listed, resolver=lambda host, port: [])
    assert isinstance(refused, UnreadableDocument)  # past the rules


def test_redirects_on_the_same_host_are_followed_five_times(site: Site):
    for step in range(7):
        site.pages[f"/{step}"] = page(b"", 302, Location=f"{step + 1}")
    site.pages["/7"] = page(b"the end")
    assert get(f"{site.url}/2", "127.0.0.1")[1] == b"the end"
    assert "5 times" in refusal(f"{site.url}/1", "127.0.0.1").message


@pytest.mark.parametrize(
    "location",
    [
        *("http://169.254.169.254/latest/", "http://localhost/", "//other.example/", "ftp://127.0.0.1/"),
        *("file:///etc/passwd", "http://127.0.0.1:1/", "http://user@127.0.0.1/", "http://2130706433/"),
    ],
)
def test_redirects_elsewhere_are_not(site: Site, location: str):
    site.pages["/"] = page(b"", 301, Location=location)
    refused = refusal(f"{site.url}/", "127.0.0.1", "localhost")
    assert isinstance(refused, InvalidInput)
    assert "169.254" not in refused.message
    assert len(site.hosts) == 1


def test_each_redirect_is_resolved_and_checked_anew(site: Site):
    answers = iter([["127.0.0.1"], []])
    site.pages["/"] = page(b"", 307, Location="/next")
    refused = refusal(
        f"http://a.example:{site.port}/", "a.example", resolver=lambda host, port: next(answers)
    )
    assert isinstance(refused, UnreadableDocument)
    assert len(site.hosts) == 1


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (page(b"gone", 404), "answered 404"),
        (page(b""), "empty"),
        (page(Content_Type="image/png"), "image/png"),
        (page(Content_Encoding="gzip"), "compressed"),
        (lambda request: request.wfile.write(b"SSH-2.0-OpenSSH\r\n"), "proper HTTP"),
        (lambda request: None, "proper HTTP"),
    ],
)
def test_what_gives_no_document_is_told(site: Site, answer: Answer, told: str):
    site.pages["/"] = answer
    refused = refusal(f"{site.url}/", "127.0.0.1")
    assert isinstance(refused, UnreadableDocument)
    assert told in refused.message


def test_a_body_that_breaks_off_is_no_document(site: Site):
    site.pages["/"] = page(b"half", Content_Length="400")
    assert isinstance(refusal(f"{site.url}/", "127.0.0.1"), UnreadableDocument)


def test_ten_megabytes_go_in_and_one_byte_more_does_not(site: Site):
    def endless(request: BaseHTTPRequestHandler) -> None:
        request.send_response(200)
        request.end_headers()
        try:
            for _ in range(1000):
                request.wfile.write(b"x" * 2**20)
        except OSError:
            pass

    site.pages["/full"] = page(b"x" * fetching.MAX_BYTES)
    site.pages["/more"] = page(b"x" * (fetching.MAX_BYTES + 1))
    site.pages["/endless"] = endless

    assert len(get(f"{site.url}/full", "127.0.0.1")[1]) == fetching.MAX_BYTES
    for path in ("/more", "/endless"):
        assert isinstance(refusal(site.url + path, "127.0.0.1"), PayloadTooLarge)


def test_a_slow_server_is_given_up_in_time(site: Site, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(fetching, "LIMIT_S", 0.5)

    given_up, never = Event(), Event()

    def drip(request: BaseHTTPRequestHandler) -> None:
        request.wfile.write(b"HTTP/1.1 200 OK\r\nX-Slow: y")
        with suppress(OSError):
            while not given_up.wait(0.1):
                request.wfile.write(b"e")

    site.pages["/"] = drip
    began = time.monotonic()
    assert "within" in refusal(f"{site.url}/", "127.0.0.1").message
    given_up.set()
    assert "within" in refusal("http://a.example/", resolver=lambda host, port: [str(never.wait(30))]).message
    assert time.monotonic() - began < 20
    never.set()


def test_proxies_of_the_environment_are_not_used(site: Site, monkeypatch: pytest.MonkeyPatch):
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.delenv("NO_PROXY", raising=False)
    site.pages["/"] = page()
    assert get(f"{site.url}/", "127.0.0.1")[1] == b"Some words."


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    """Of `docs.example`, signed by itself."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "docs.example")])
    now = datetime.datetime.now(datetime.UTC)
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("docs.example")]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    file = tmp_path / "site.pem"
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    file.write_bytes(private + made.public_bytes(serialization.Encoding.PEM))
    return file


def test_tls_is_verified_against_the_name_not_the_address(certificate: Path, monkeypatch: pytest.MonkeyPatch):
    site = Site(certificate)
    site.pages["/"] = page(b"safe")
    known = names(docs_example="127.0.0.1", other_example="127.0.0.1")
    try:
        untrusted = refusal(f"https://docs.example:{site.port}/", "docs.example", resolver=known)
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
        found, body = get(f"https://docs.example:{site.port}/", "docs.example", resolver=known)
        misnamed = refusal(f"https://other.example:{site.port}/", "other.example", resolver=known)
    finally:
        site.close()
    assert body == b"safe"
    assert found.final_url == f"https://docs.example:{site.port}/"
    for refused in (untrusted, misnamed):
        assert "certificate" in refused.message


def test_the_door_looks_at_the_url_alone():
    assert check_url(" https://example.com/a b?q=ä#x ") == "https://example.com/a b?q=ä#x"
    with pytest.raises(InvalidInput):
        check_url("ftp://example.com/")


def test_public_addresses_and_names_pass():
    assert is_public(PUBLIC)
    assert is_public("2606:2800:21f:cb07:6820:80da:af6b:8b2c")
    assert normalize_host("BÜCHER.example.") == "xn--bcher-kva.example"
