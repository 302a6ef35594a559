"""What a jailed child may tell its parent, and what the parent does not believe."""

import os
import struct
import time
from collections.abc import Callable
from dataclasses import replace

import pytest

from documents.extractors.job import Job
from documents.extractors.sandbox.wire import (
    BrokenResult,
    NeverStarted,
    PipeReporter,
    ResultListener,
    pack,
    unpack,
)
from documents.types import (
    ALL_SOURCES,
    Block,
    ExtractedPage,
    Extraction,
    Heading,
    PagePicture,
    ReadingProgress,
)

EXTRACTION = Extraction(
    source="HTML",
    text="Title\n\na | b",
    pages=(ExtractedPage(1, 0, 12, "text"),),
    headings=(Heading(1, "Title", 0),),
    blocks=(Block(7, 12, "table"),),
)


def receive(sent: bytes | Callable[[PipeReporter], None], listener: ResultListener | None = None) -> bytes:
    """Return what the parent receives when a child sends this and ends."""
    read_end, write_end = os.pipe()
    try:
        if isinstance(sent, bytes):
            os.write(write_end, sent)
        else:
            sent(PipeReporter(write_end))
    finally:
        os.close(write_end)
    try:
        return (listener or ResultListener()).receive(read_end, time.monotonic() + 10)
    finally:
        os.close(read_end)


def test_progress_pictures_and_the_result_arrive_in_order() -> None:
    received: list[object] = []
    picture = PagePicture(3, 2, 2, b"\x00\x40\x80\xff")

    def child(report: PipeReporter) -> None:
        report.started()
        report.progress(1, 9)
        report.progress(2, 9)  # too soon after the first one to be worth a frame
        report.picture(picture)
        report.result(pack(EXTRACTION))

    listener = ResultListener(received.append, page=3)
    result = receive(child, listener)
    assert unpack(result) == EXTRACTION
    assert received == [ReadingProgress(1, 9)]
    assert listener.picture == picture
    assert picture.to_pnm() == b"P5\n2 2\n255\n\x00\x40\x80\xff"


def test_no_word_comes_out_of_the_jail() -> None:
    """Text recognition works beside it: words are taken from nobody else."""
    (page,) = EXTRACTION.pages
    lying = replace(EXTRACTION, pages=(replace(page, words=(("word", 0, 0, 1, 10**9),)),))
    assert unpack(pack(lying)) == EXTRACTION


def frame(kind: bytes, body: bytes, length: int | None = None) -> bytes:
    return struct.pack("!cI", kind, len(body) if length is None else length) + body


@pytest.mark.parametrize(
    "sent",
    [
        frame(b"?", b""),
        frame(b"+", b"more"),
        frame(b"+", b""),
        frame(b"+", b"") + frame(b"r", b"cut", length=9),
        frame(b"r", b"", length=2**32 - 1),
        frame(b"p", b"\x00\x00"),
        frame(b"p", struct.pack("!II", 3, 2)),
        frame(b"p", struct.pack("!II", 1, 2**31)),
        frame(b"i", struct.pack("!III", 1, 1, 1) + b"x"),
    ],
)
def test_nonsense_is_no_result(sent: bytes) -> None:
    with pytest.raises(BrokenResult):
        receive(sent)


@pytest.mark.parametrize(
    "pictures",
    [
        [PagePicture(2, 1, 1, b"x"), PagePicture(2, 1, 1, b"x")],
        [PagePicture(0, 1, 1, b"x")],
        [PagePicture(10_001, 1, 1, b"x")],
        [PagePicture(1, 1, 1, b"x")],
        [PagePicture(2, 2, 2, b"x")],
    ],
)
def test_only_the_wanted_page_comes_once_and_as_large_as_it_says(pictures: list[PagePicture]) -> None:
    def child(report: PipeReporter) -> None:
        for picture in pictures:
            report.picture(picture)

    with pytest.raises(BrokenResult):
        receive(child, ResultListener(page=2))


def test_a_child_that_never_said_a_word_was_never_started() -> None:
    with pytest.raises(NeverStarted):
        receive(b"")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b'"start_char":7,"end_char":12', b'"start_char":7,"end_char":13'),
        (b'"start_char":7,"end_char":12', b'"start_char":12,"end_char":7'),
        (b'"start_char":7,"end_char":12', b'"start_char":-1,"end_char":12'),
        (b'"start_char":7,"end_char":12', b'"start_char":"7","end_char":12'),
        (b'"kind":"table"', b'"kind":"poem"'),
        (b'"source":"HTML"', b'"source":"XLS"'),
        (b'"attachments":[]', b'"attachments":[["a",1]]'),
        (b'"attachments":[]', b'"attachments":[["a",2],["b",-2]]'),
        (b'"title":""', b'"title":["x"]'),
        (b'"metadata":{}', b'"metadata":{"author":1}'),
    ],
)
def test_an_extraction_that_cannot_be_is_not_taken(before: bytes, after: bytes) -> None:
    packed = pack(EXTRACTION)
    assert before in packed
    with pytest.raises(BrokenResult):
        unpack(packed.replace(before, after))


@pytest.mark.parametrize("job", [Job("pypdf", "html", ALL_SOURCES, patient=True), Job("auto", brief=True)])
def test_a_job_travels_whole(job: Job) -> None:
    assert Job.from_bytes(job.to_bytes()) == job
