"""Read the office files, mail and e-books of a folder, and check that each place that is cited is right.

    python benchmarks/formats.py FOLDER [--broken 50]

What should be found, and where, is taken from the files by the standard library alone: cells of workbooks
with their sheet and row, paragraphs of slides with the slide's number, those of e-books with their chapter,
paragraphs of OpenDocument texts. Each is then looked for in the chunks that Knowlex makes.

--broken: as many of the files are then damaged in turn (cut, bytes changed, a part of the package halved) and
must be refused, or read, in time.
"""

import argparse
import csv
import posixpath
import random
import sys
import time
import zipfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from io import BytesIO, StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import unquote
from xml.etree import ElementTree

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from documents.chunkers.sentence import SentenceChunker
from documents.extractors.sandbox.extractor import SandboxedExtractor
from documents.text.characters import clean_characters
from documents.text.tokens import WordPieceCounter
from documents.types import ALL_SOURCES, ChunkDraft, ChunkingSettings
from knowlex.base.errors import UnreadableDocument

IsRight = Callable[[ChunkDraft], bool]
Fact = tuple[str, IsRight]  # words, and whether a chunk that holds them is cited by their place
LEAST, MOST = 4, 30  # characters
PARTS = {"xlsx": "xl/worksheets/sheet1.xml", "pptx": "ppt/slides/slide1.xml", "odt": "content.xml"}


def squeeze(text: str) -> str:
    return " ".join(clean_characters(text).split())


def parse(archive: zipfile.ZipFile, name: str) -> ElementTree.Element:
    root = ElementTree.fromstring(archive.read(name))
    for element in root.iter():
        element.tag = element.tag.rpartition("}")[2]
    return root


def targets(archive: zipfile.ZipFile, part: str) -> dict[str, str]:
    folder, name = posixpath.split(part)
    relations = parse(archive, f"{folder}/_rels/{name}.rels")
    return {
        one.get("Id", ""): posixpath.normpath(posixpath.join(folder, one.get("Target", "").lstrip("/")))
        if not one.get("Target", "").startswith("/")
        else one.get("Target", "")[1:]
        for one in relations
    }


def relation(element: ElementTree.Element) -> str:
    return next((value for key, value in element.attrib.items() if key.endswith("}id")), "")


def cells(archive: zipfile.ZipFile) -> Iterator[Fact]:
    shared = []
    if "xl/sharedStrings.xml" in archive.namelist():
        for item in parse(archive, "xl/sharedStrings.xml").findall("si"):
            for phonetic in item.findall("rPh"):
                item.remove(phonetic)
            shared.append("".join(text.text or "" for text in item.iter("t")))
    paths = targets(archive, "xl/workbook.xml")
    for sheet in parse(archive, "xl/workbook.xml").iter("sheet"):
        path = paths.get(relation(sheet), "")
        if sheet.get("state", "visible") != "visible" or "worksheets/" not in path:
            continue
        number = 0
        for row in parse(archive, path).iter("row"):
            number = int(row.get("r", number + 1))
            for cell in row.iter("c"):
                value = cell.findtext("v") or ""
                if cell.get("t") == "s" and value:
                    yield shared[int(value)], in_rows(sheet.get("name", ""), number)
                elif cell.get("t") == "inlineStr":
                    text = "".join(part.text or "" for part in cell.iter("t"))
                    yield text, in_rows(sheet.get("name", ""), number)


def records(data: bytes) -> Iterator[Fact]:
    text = data.decode("utf-8-sig")
    dialect = csv.Sniffer().sniff(text[:4096], delimiters=",;\t|")
    for number, row in enumerate(csv.reader(StringIO(text, newline=""), dialect), start=1):
        for cell in row:
            yield cell, in_rows("", number)


def in_rows(sheet: str, number: int) -> IsRight:
    def is_right(chunk: ChunkDraft) -> bool:
        first, _, last = chunk.section.rpartition(" ")[2].partition("-")
        in_range = first.isdigit() and int(first) <= number <= int(last or first)
        return in_range and squeeze(sheet) == squeeze(chunk.chapter)

    return is_right


def slides(archive: zipfile.ZipFile) -> Iterator[Fact]:
    paths = targets(archive, "ppt/presentation.xml")
    numbered = enumerate(parse(archive, "ppt/presentation.xml").iter("sldId"), start=1)
    for number, slide in numbered:
        for shape in parse(archive, paths[relation(slide)]).iter("sp"):
            kind = next((one.get("type") for one in shape.iter("ph")), None)
            if kind in ("dt", "ftr", "sldNum"):
                continue
            for paragraph in shape.iter("p"):
                text = "".join(" " if run.tag == "br" else run.text or "" for run in paragraph.iter())
                yield text, lambda chunk, number=number: chunk.page_number == number


def chapters(archive: zipfile.ZipFile) -> Iterator[Fact]:
    """Yield paragraphs of pages that the table of contents names as a whole, once."""
    path = next(parse(archive, "META-INF/container.xml").iter("rootfile")).get("full-path", "")
    items = {item.get("id"): item for item in parse(archive, path).iter("item")}
    spine = [items[ref.get("idref")] for ref in parse(archive, path).iter("itemref")]
    folder = posixpath.dirname(path)
    titles: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for item in items.values():
        name = posixpath.join(folder, unquote(item.get("href", "")))
        if item.get("media-type") == "application/x-dtbncx+xml" and not titles:
            for point in parse(archive, name).iter("navPoint"):
                page, _, fragment = unquote(point.find("content").get("src", "")).partition("#")
                target = posixpath.normpath(posixpath.join(posixpath.dirname(name), page))
                titles[target].append((point.findtext("navLabel/text") or "", fragment))
    for item in spine:
        name = posixpath.normpath(posixpath.join(folder, unquote(item.get("href", ""))))
        if len(titles[name]) == 1 and not titles[name][0][1]:
            title = letters(titles[name][0][0])
            for paragraph in parse(archive, name).iter("p"):
                yield (
                    "".join(paragraph.itertext()),
                    lambda chunk, title=title: any(is_same(letters(one), title) for one in chunk.headers),
                )


def letters(text: str) -> str:
    return "".join(filter(str.isalnum, text.casefold()))


def is_same(ours: str, theirs: str) -> bool:
    return bool(ours) and (ours in theirs or theirs in ours)


def paragraphs(archive: zipfile.ZipFile) -> Iterator[Fact]:
    root = parse(archive, "content.xml")
    for away in ("tracked-changes", "annotation", "table-of-content"):
        for parent in list(root.iter()):
            for child in parent.findall(away):
                parent.remove(child)
    for paragraph in root.iter("p"):
        if not len(paragraph):
            yield paragraph.text or "", lambda chunk: True


def facts_of(path: Path) -> list[Fact]:
    """Return what stands in the file once, of some length."""
    ending, data = path.suffix.lower()[1:], path.read_bytes()
    try:
        if ending in ("csv", "tsv"):
            given = list(records(data))
        else:
            reader = {"xlsx": cells, "xlsm": cells, "pptx": slides, "epub": chapters, "odt": paragraphs}.get(
                ending
            )
            given = list(reader(zipfile.ZipFile(BytesIO(data)))) if reader else []
    except (
        csv.Error,
        KeyError,
        ValueError,
        IndexError,
        AttributeError,
        zipfile.BadZipFile,
        ElementTree.ParseError,
    ):
        return []
    # Of long texts the beginning is looked for: a chunk may end within them.
    openings = [(squeeze(text)[:MOST].rstrip(), right) for text, right in given]
    times = Counter(words for words, _ in openings)
    return [(words, right) for words, right in openings if times[words] == 1 and len(words) >= LEAST]


def measure(files: list[Path]) -> list[Path]:
    """Read the files and write what was found; return those that were read."""
    extractor, chunker = SandboxedExtractor(), SentenceChunker(tokenizer=WordPieceCounter())
    counts: dict[str, Counter[str]] = defaultdict(Counter)  # by format, and of what is told of a file
    slowest: dict[str, float] = defaultdict(float)
    read, notes = [], []
    for path in files:
        ending = path.suffix.lower()[1:]
        begun = time.monotonic()
        try:
            extraction = extractor.extract(path, filename=path.name, sources=ALL_SOURCES, patient=True)
            slowest[ending] = max(slowest[ending], time.monotonic() - begun)
        except UnreadableDocument as exc:
            slowest[ending] = max(slowest[ending], time.monotonic() - begun)
            counts[ending]["refused"] += 1
            notes.append(f"refused {path.name}: {exc.message[:110]}")
        else:
            read.append(path)
            counts[ending]["read"] += 1
            chunks = [(squeeze(one.content), one) for one in chunker.split(extraction, ChunkingSettings())]
            for words, is_right in facts_of(path):
                holding = [chunk for content, chunk in chunks if words in content]
                outcome = "lost" if not holding else "right" if any(map(is_right, holding)) else "wrong"
                counts[ending][outcome] += 1
                if outcome != "right" and counts[path.name][outcome] < 3:
                    counts[path.name][outcome] += 1
                    where = [(one.page_number, one.chapter, one.section) for one in holding[:2]]
                    notes.append(f"{outcome} in {path.name}: {words[:60]!r} {where}")
    print(f"{'format':8}{'read':>6}{'refused':>9}{'right':>8}{'wrong':>7}{'lost':>6}{'slowest s':>11}")
    for ending, row in sorted((ending, counts[ending]) for ending in slowest):
        shown = "".join(
            f"{row[name]:>{width}}" for name, width in (("read", 6), ("refused", 9), ("right", 8))
        )
        print(f"{ending:8}{shown}{row['wrong']:>7}{row['lost']:>6}{slowest[ending]:>11.2f}")
    print(*notes, sep="\n")
    return read


def damage(path: Path, chance: random.Random) -> bytes:
    data = bytearray(path.read_bytes())
    way = chance.randrange(3)
    part = PARTS.get(path.suffix.lower()[1:], "")
    if way == 0:
        return bytes(data[: chance.randrange(len(data) // 10, len(data) * 9 // 10)])
    if way == 1 and part and zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive, zipfile.ZipFile(file := BytesIO(), "w") as broken:
            for name in archive.namelist():
                kept = archive.read(name)
                broken.writestr(name, kept[: len(kept) // 2] if name == part else kept)
        return file.getvalue()
    for _ in range(20 + len(data) // 500):
        data[chance.randrange(len(data))] ^= chance.randrange(1, 256)
    return bytes(data)


def measure_broken(files: list[Path], count: int) -> None:
    extractor, chance = SandboxedExtractor(), random.Random(19)
    outcomes: Counter[str] = Counter()
    slowest = 0.0
    with TemporaryDirectory() as folder:
        for place in range(count):
            path = files[place * len(files) // count]
            broken = Path(folder, "broken")
            broken.write_bytes(damage(path, chance))
            begun = time.monotonic()
            try:
                extractor.extract(broken, filename=path.name, sources=ALL_SOURCES)
                outcomes["read all the same"] += 1
            except UnreadableDocument as exc:
                outcomes[exc.message] += 1
            slowest = max(slowest, time.monotonic() - begun)
    print(f"\n{count} damaged files, the slowest {slowest:.2f} s:")
    for message, number in outcomes.most_common():
        print(f"{number:>4}  {message[:150]}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--broken", type=int, default=0)
    options = parser.parse_args()
    found = sorted(path for path in options.folder.rglob("*") if path.is_file())
    readable = measure(found)
    if options.broken:
        measure_broken(readable, options.broken)
