"""From a click on a citation to the marked page: highlights, the page's text and its picture.

    python -m benchmarks.viewing [FOLDER …] [--pages 60]

The three are asked for at once, as the web page does, and timed to the last byte. Cold: nothing of the page
is kept on the server. Warm: the same page again, without the browser's own cache. FOLDER: of PDF files, else
`samples/`; pages are chosen at random from all of them. Web server, PostgreSQL and Valkey are their own;
nothing is embedded.
"""

import argparse
import random
import statistics
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from tests.support import environment

environment.set_environment()

import django

django.setup()

import httpx

from tests.support import api
from tests.support.postgres import Postgres
from tests.support.stack import Stack

WIDTH = 1200
QUOTE_CHARS = 120
SAMPLES = environment.PROJECT / "samples"
PARTS = ("highlights", "text", "picture")


@dataclass(frozen=True, slots=True)
class Look:
    """paths: of each of PARTS."""

    paths: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Timing:
    """Milliseconds of the whole and of each of PARTS. marked: whether the quote had a rectangle."""

    whole: float
    parts: tuple[float, ...]
    marked: bool


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folders", type=Path, nargs="*", default=[SAMPLES], metavar="FOLDER")
    parser.add_argument("--pages", type=int, default=60)
    options = parser.parse_args()
    files = sorted(path for folder in options.folders for path in folder.rglob("*.pdf"))
    postgres = Postgres(Path(environment.DATA_DIR))
    try:
        with Stack(postgres, environment.FOLDER / "viewing", workers=0, env={}) as stack:
            looks = choose_looks(stack.client, files, options.pages)
            print(f"{len(files)} files, {len(looks)} pages, {WIDTH} pixels wide")
            with ThreadPoolExecutor(len(PARTS)) as threads:
                look(stack.client, threads, looks[0])  # what the server loads once is loaded
                for temperature in ("cold", "warm"):
                    report(temperature, [look(stack.client, threads, page) for page in looks[1:]])
    finally:
        postgres.stop()


def choose_looks(client: httpx.Client, files: Sequence[Path], count: int) -> list[Look]:
    """Store the files and choose a quote on each of `count` pages, and on one more that warms the server."""
    looks: list[Look] = []
    for path in files:
        reply = api.upload(client, path.read_bytes(), path.name)
        if reply.status_code == 201:
            looks += quote_pages(client, reply.json()["documentId"])
        else:
            print(f"{path.name} is not taken: {reply.text}")
    return random.Random(16).sample(looks, min(count + 1, len(looks)))


def quote_pages(client: httpx.Client, document_id: str) -> Iterator[Look]:
    """Yield a look at a quote in the middle of each page that is long enough."""
    document = f"/v1/documents/{document_id}"
    start = 0
    for page in client.get(f"{document}/pages").raise_for_status().json()["pages"]:
        first = start + (page["characters"] - QUOTE_CHARS) // 2
        if first >= start:
            place = f"{document}/pages/{page['page_number']}"
            marks = f"{document}/highlights?start={first}&end={first + QUOTE_CHARS}"
            yield Look((marks, place, f"{place}/image?width={WIDTH}"))
        start += page["characters"] + 1


def look(client: httpx.Client, threads: ThreadPoolExecutor, page: Look) -> Timing:
    def get(path: str) -> tuple[float, httpx.Response]:
        reply = client.get(path).raise_for_status()
        return 1000 * (time.perf_counter() - started), reply

    started = time.perf_counter()
    replies = list(threads.map(get, page.paths))
    whole = 1000 * (time.perf_counter() - started)
    marked = any(shown["rects"] for shown in replies[0][1].json()["pages"])
    return Timing(whole, tuple(milliseconds for milliseconds, _ in replies), marked)


def report(temperature: str, timings: Sequence[Timing]) -> None:
    whole = describe([timing.whole for timing in timings])
    marked = sum(timing.marked for timing in timings)
    print(f"{temperature}: {whole}; {marked} of {len(timings)} quotes marked")
    for index, name in enumerate(PARTS):
        print(f"    {name:<10} {describe([timing.parts[index] for timing in timings])}")


def describe(milliseconds: Sequence[float]) -> str:
    p95 = sorted(milliseconds)[int(0.95 * len(milliseconds))]
    return f"median {statistics.median(milliseconds):.0f} ms, p95 {p95:.0f} ms"


if __name__ == "__main__":
    main()
