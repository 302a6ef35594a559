"""Reading files in jailed processes: what comes back, and what hostile files cannot do."""

import os
import random
import re
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from io import BytesIO
from pathlib import Path

import psutil
import pypdf
import pytest

from documents.extractors.job import Job
from documents.extractors.pdf.reader import read_pdf
from documents.extractors.sandbox import wire
from documents.extractors.sandbox.extractor import ForkServer, SandboxedExtractor
from documents.extractors.sandbox.wire import ResultListener
from documents.types import Extraction, ReadingProgress
from knowlex.base.errors import DependencyUnavailable, UnreadableDocument
from tests.extraction import hostile
from tests.support.pdf import make_pdf
from tests.support.waiting import wait_until

Read = Callable[..., Extraction]
NOISE = random.Random(5).randbytes(5000)


@pytest.fixture(scope="module")
def extractor() -> SandboxedExtractor:
    return SandboxedExtractor(processes=2)


@pytest.fixture
def read(extractor: SandboxedExtractor, tmp_path: Path) -> Read:
    def extract(data: bytes, filename: str = "file.pdf") -> Extraction:
        path = tmp_path / "upload"
        path.write_bytes(data)
        return extractor.extract(path, filename=filename)

    return extract


def children() -> list[psutil.Process]:
    """Fork servers and what they have forked; the run's database, broker and servers are children too."""
    running = [child for child in psutil.Process().children() if child.status() != "zombie"]
    servers = [child for child in running if any("fork_server" in word for word in child.cmdline())]
    forked = [child for server in servers for child in server.children(recursive=True)]
    return [child for child in servers + forked if child.status() != "zombie"]


def encrypted(*, user_password: str, algorithm: str) -> bytes:
    writer = pypdf.PdfWriter(BytesIO(make_pdf("The vault is behind the painting.")))
    writer.encrypt(user_password=user_password, owner_password="owner", algorithm=algorithm)
    out = BytesIO()
    writer.write(out)
    return out.getvalue()


def test_pages_cover_the_text_in_order(read: Read) -> None:
    found = read(make_pdf("First page.", "", "Third page."))
    texts = [found.text[page.start_char : page.end_char] for page in found.pages]
    assert texts == ["First page.", "", "Third page."]
    assert found.text == "\n".join(texts)
    assert [page.number for page in found.pages] == [1, 2, 3]
    assert [page.read_by for page in found.pages] == ["pdfium", "none", "pdfium"]
    assert found.pages[1].warnings == ("no_text",)


def test_outline_entries_point_at_their_titles(read: Read) -> None:
    pdf = make_pdf(
        "Preface\nSome words.\n1 Origins\nIt began.", "More of it.",
        title="A Book", outline=[("Origins", 1), ("Not printed", 2)],
    )  # fmt: skip
    found = read(pdf)
    assert [found.text[heading.start_char :].split("\n")[0] for heading in found.headings] == [
        "1 Origins",
        "More of it.",
    ]
    assert found.title == "A Book"
    assert [heading.level for heading in found.headings] == [1, 1]


@pytest.mark.parametrize("algorithm", ["RC4-40", "RC4-128", "AES-128", "AES-256"])
def test_the_empty_password_opens_a_file(read: Read, algorithm: str) -> None:
    assert read(encrypted(user_password="", algorithm=algorithm)).text == "The vault is behind the painting."


@pytest.mark.parametrize("algorithm", ["RC4-40", "RC4-128", "AES-128", "AES-256"])
def test_another_password_is_named_as_the_reason(read: Read, algorithm: str) -> None:
    with pytest.raises(UnreadableDocument, match="password protected"):
        read(encrypted(user_password="secret", algorithm=algorithm))


@pytest.mark.parametrize(
    ("data", "filename"),
    [
        (b"just text", "notes.txt"),
        (b"just text", "fake.pdf"),
        (b"\x89PNG\r\n\x1a\n", "image.md"),
        (b"# Title\x00", "nul.md"),
        (b"\xff\xfe#\x00", "utf16.md"),
        (b"<!DOCTYPE html>\n<html><body>a page</body></html>", "page.md"),
        (b"\xef\xbb\xbf\n<HTML lang='en'><body>a page</body></HTML>", "page.markdown"),
        (b" " * 1020 + make_pdf("Too late."), "late.pdf"),
        (b"", "empty.pdf"),
    ],
)
def test_other_files_are_refused(read: Read, data: bytes, filename: str) -> None:
    with pytest.raises(UnreadableDocument, match="neither a PDF nor a Markdown"):
        read(data, filename)


def test_a_pdf_is_known_by_its_content(read: Read) -> None:
    assert read(b"\n" * 1000 + make_pdf("Late start."), "notes.md").source == "PDF"


@pytest.mark.parametrize(
    ("data", "filename"),
    [
        (make_pdf("", ""), "scan.pdf"),
        (make_pdf("   "), "blank.pdf"),
        (hostile.nul_in_text(b"aaaa"), "nul.pdf"),
        (b" \n\t", "blank.md"),
        ("\u200b\u2060\ufeff\u00ad\u3164\u2800".encode(), "invisible.md"),
        (b"---\ntitle: only this\n---\n", "front.md"),
    ],
)
def test_a_document_without_text_says_so(read: Read, data: bytes, filename: str) -> None:
    with pytest.raises(UnreadableDocument, match="no extractable text"):
        read(data, filename)


@pytest.mark.parametrize("data", [b"%PDF-1.7\n", b"%PDF-1.7\n" + NOISE, hostile.kids_loop()])
def test_a_broken_pdf_is_unreadable(read: Read, data: bytes) -> None:
    with pytest.raises(UnreadableDocument, match=r"damaged|no extractable text"):
        read(data)


def test_nothing_that_cannot_be_stored_comes_out(read: Read) -> None:
    assert read(hostile.nul_in_text()).text == "Hllo, cd!"


def test_a_page_named_a_hundred_thousand_times_is_refused(read: Read) -> None:
    with pytest.raises(UnreadableDocument, match="more than 10,000 pages"):
        read(hostile.one_page_named_often())


@pytest.mark.parametrize("claimed", [3, 20_000, 1_000_000, 10**12])
def test_pages_that_are_only_claimed_are_a_warning(read: Read, claimed: int) -> None:
    extraction = read(hostile.pages_claimed(claimed))
    assert (extraction.text, len(extraction.pages)) == ("Hello there", 1)
    assert extraction.warnings == (f"The PDF says it has {claimed:,} pages; 1 was found.",)


def test_a_page_tree_that_claims_nothing_is_read_by_both_readers() -> None:
    data = hostile.pages_claimed(1).replace(b"/Count 1", b"/Cnt   1")
    for reader in ("pdfium", "pypdf", "auto"):
        extraction = read_pdf(data, reader=reader)
        assert (extraction.text.strip(), extraction.warnings) == ("Hello there", ())


def test_a_claim_hides_no_page_that_is_there(read: Read) -> None:
    extraction = read(hostile.pages_claimed(20_000, 40))
    assert len(extraction.pages) == 40
    assert extraction.warnings == ("The PDF says it has 20,000 pages; 40 were found.",)
    with pytest.raises(UnreadableDocument, match="more than 10,000 pages"):
        read(hostile.pages_claimed(20_000, 10_001))
    with pytest.raises(UnreadableDocument, match="more than 10,000 pages"):
        read(hostile.pages_claimed(10**12, 10_001))


def test_invisible_text_is_kept_as_it_is_how_scans_carry_theirs(read: Read) -> None:
    assert read(hostile.one_page(b"BT 3 Tr /F 9 Tf 9 9 Td (Recognized text) Tj ET")).text == "Recognized text"


def test_rows_of_large_type_that_is_scaled_down_are_lines(read: Read) -> None:
    """As filings are made: PDFium compares their distance with the size before it is scaled."""
    rows = b"(Gross profit 105 99) Tj 0 -352 Td (Operating income 23 20) Tj 0 -352 Td (Net earnings 17 15) Tj"
    content = b"q 0.0125 0 0 0.0125 20 700 cm BT /F 352 Tf 0 0 Td " + rows + b" ET Q"
    lines = ["Gross profit 105 99", "Operating income 23 20", "Net earnings 17 15"]
    assert read(hostile.one_page(content)).text.splitlines() == lines


def test_a_file_that_is_gone_is_our_fault(extractor: SandboxedExtractor, tmp_path: Path) -> None:
    with pytest.raises(DependencyUnavailable):
        extractor.extract(tmp_path / "gone", filename="gone.pdf")


def test_harmless_oddities_do_not_lose_the_text(read: Read) -> None:
    assert read(hostile.deep_nesting()).text == "Hello there"
    assert read(hostile.circular_outline()).text == "Hello there"
    assert len(read(hostile.circular_outline()).headings) == 1


@pytest.mark.parametrize(
    "bomb", [hostile.long_string, pytest.param(hostile.forms_in_forms, marks=pytest.mark.slow)]
)
def test_a_bomb_ends_within_its_limits(read: Read, bomb: Callable[[], bytes]) -> None:
    """If PDFium's process ends quickly, pypdf may find time to read the harmless part of it."""
    data = bomb()
    resident = psutil.Process().memory_info().rss
    try:
        outcome = read(data).text
    except UnreadableDocument as exc:
        outcome = exc.message
    assert re.search("limits of time and memory|more than 20 MB|^Hello there", outcome)
    assert psutil.Process().memory_info().rss - resident < 50 * 1024**2
    wait_until(lambda: len(children()) <= 1, what="the child to be gone")  # the fork server stays


def test_a_killed_extractor_is_an_answer_and_the_next_file_is_read(tmp_path: Path) -> None:
    path = tmp_path / "bomb.pdf"
    path.write_bytes(hostile.forms_in_forms())
    lone = SandboxedExtractor(pdf_reader="pdfium", processes=1)
    with ThreadPoolExecutor(1) as pool:
        outcome = pool.submit(lone.extract, path, filename="bomb.pdf")
        server = wait_until(lambda: lone._sandbox._fork_server._process, what="the fork server")
        victim = wait_until(lambda: psutil.Process(server.pid).children(), what="the extractor")[0]
        victim.send_signal(signal.SIGKILL)
        with pytest.raises(UnreadableDocument):
            outcome.result(timeout=30)
    path.write_bytes(make_pdf("Still here."))
    assert lone.extract(path, filename="good.pdf").text == "Still here."


def test_a_dead_fork_server_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "good.pdf"
    path.write_bytes(make_pdf("Still here."))
    lone = SandboxedExtractor(processes=1)
    lone.extract(path, filename="good.pdf")
    server = lone._sandbox._fork_server._process
    assert server is not None
    server.kill()
    server.wait()
    assert lone.extract(path, filename="good.pdf").text == "Still here."


def test_a_fork_server_without_work_leaves(tmp_path: Path) -> None:
    path = tmp_path / "good.pdf"
    path.write_bytes(make_pdf("Still here."))
    lone = SandboxedExtractor(processes=1)
    lone._sandbox._fork_server = ForkServer(idle_s=0.1)
    lone.extract(path, filename="good.pdf")
    server = lone._sandbox._fork_server._process
    assert server is not None
    wait_until(lambda: not psutil.pid_exists(server.pid), what="the fork server to leave and be reaped")
    assert lone.extract(path, filename="good.pdf").text == "Still here."


@pytest.fixture
def slow_reading(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """Every extraction holds its process until the event is set."""
    release = threading.Event()
    receive = ResultListener.receive

    def receive_later(self: ResultListener, descriptor: int, deadline: float) -> bytes:
        release.wait(30)
        return receive(self, descriptor, deadline)

    monkeypatch.setattr(ResultListener, "receive", receive_later)
    yield release
    release.set()


def test_a_file_waits_for_a_free_process_and_then_gives_up(
    tmp_path: Path, slow_reading: threading.Event
) -> None:
    path = tmp_path / "good.pdf"
    path.write_bytes(make_pdf("Patience."))
    busy = SandboxedExtractor(processes=1, wait_s=0.2)
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(busy.extract, path, filename="good.pdf")
        wait_until(lambda: busy._sandbox._fork_server._process, what="the first file to be read")
        with pytest.raises(DependencyUnavailable) as refused:
            busy.extract(path, filename="good.pdf")
        slow_reading.set()
        assert first.result(timeout=30).text == "Patience."
    assert refused.value.retry_after_s


def test_many_threads_get_their_own_documents(extractor: SandboxedExtractor, tmp_path: Path) -> None:
    def extract(number: int) -> str:
        path = tmp_path / f"{number}.pdf"
        path.write_bytes(make_pdf(f"This is file {number}."))
        return extractor.extract(path, filename="x.pdf").text

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(extract, range(24))) == [f"This is file {number}." for number in range(24)]


@pytest.mark.parametrize("reader", ["auto", "pdfium", "pypdf"])
def test_the_setting_chooses_the_reader(reader: str, tmp_path: Path) -> None:
    path = tmp_path / "good.pdf"
    path.write_bytes(make_pdf("A few words."))
    found = SandboxedExtractor(pdf_reader=reader).extract(path, filename="good.pdf")
    assert (found.text, found.pages[0].read_by) == (
        "A few words.",
        "pypdf" if reader == "pypdf" else "pdfium",
    )


@pytest.mark.parametrize("options", [{"pdf_reader": "acrobat"}, {"processes": 0}])
def test_unusable_settings_are_refused(options: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="must be"):
        SandboxedExtractor(**options)


def test_progress_is_told_page_by_page_and_never_goes_back(
    extractor: SandboxedExtractor, tmp_path: Path
) -> None:
    path = tmp_path / "long.pdf"
    path.write_bytes(make_pdf(*[f"This is page {number}. " * 40 for number in range(400)]))
    told: list[ReadingProgress] = []
    extractor.extract(path, filename="long.pdf", on_progress=told.append)
    done = [progress.pages_done for progress in told]
    assert done == sorted(set(done))
    assert done
    assert {progress.pages_total for progress in told} == {400}


def test_what_a_progress_callback_raises_ends_the_reading(
    extractor: SandboxedExtractor, tmp_path: Path
) -> None:
    path = tmp_path / "good.pdf"
    path.write_bytes(make_pdf("A few words."))

    def cancelled(_: ReadingProgress) -> None:
        raise ConnectionError("deleted meanwhile")

    with pytest.raises(ConnectionError, match="deleted meanwhile"):
        extractor.extract(path, filename="good.pdf", on_progress=cancelled)
    assert extractor.extract(path, filename="good.pdf").text == "A few words."


def test_a_child_that_nobody_waits_for_is_ended_at_once(tmp_path: Path) -> None:
    path = tmp_path / "bomb.pdf"
    path.write_bytes(hostile.forms_in_forms())
    lone = SandboxedExtractor(pdf_reader="pdfium", processes=1)
    with lone._sandbox._child(path, Job("pdfium")) as said:
        assert os.read(said, 1) == wire.STARTED
        server = lone._sandbox._fork_server._process
        assert server is not None
        victim = psutil.Process(server.pid).children()[0]
    wait_until(lambda: not psutil.pid_exists(victim.pid), what="the child to be killed and reaped")
    path.write_bytes(make_pdf("Still here."))
    assert lone.extract(path, filename="good.pdf").text == "Still here."


def test_a_long_file_is_read_once_where_nobody_else_waits(read: Read, monkeypatch: pytest.MonkeyPatch):
    """It needs more CPU than a brief try has."""
    begun: list[Job] = []
    start = ForkServer.start

    def noting(self: ForkServer, job: Job, *descriptors: int) -> None:
        begun.append(job)
        start(self, job, *descriptors)

    monkeypatch.setattr(ForkServer, "start", noting)
    words = "The keeper walked up the stairs every evening and lit the lamp for the ships at sea."
    extraction = read(make_pdf(*[f"{words} " * 30] * 900))
    assert len(extraction.pages) == 900
    assert len(begun) == 1
