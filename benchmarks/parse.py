"""Parse and split the PDFs of a folder: pages per CPU-second, beside LangChain (two loaders) and Haystack.

    python benchmarks/parse.py FOLDER [--bench-python .bench/bin/python]

Each engine runs in a process of its own, after its imports and one warm-up file, on the same files in one
order. CPU seconds are user and system time; Knowlex's include its sandbox. Needs `requirements-bench.txt`
for the others; without them Knowlex is measured alone.
"""

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ENGINES = ("knowlex", "langchain", "langchain-pdfium", "haystack")
Counts = tuple[int, int]
Reader = Callable[[Path], Counts]


def knowlex() -> tuple[Reader, Callable[[], float]]:
    sys.path.insert(0, str(ROOT))
    import psutil

    from documents.chunkers.sentence import SentenceChunker
    from documents.extractors.sandbox.extractor import SandboxedExtractor
    from documents.text.tokens import WordPieceCounter
    from documents.types import ChunkingSettings

    extractor, chunker = SandboxedExtractor(), SentenceChunker(tokenizer=WordPieceCounter())

    def read(path: Path) -> Counts:
        extraction = extractor.extract(path, filename=path.name)
        return len(extraction.pages), len(chunker.split(extraction, ChunkingSettings()))

    def cpu_s() -> float:
        """Ours and the sandbox's, once all its children have been counted."""
        nursery = psutil.Process().children()
        while any(process.children() for process in nursery):
            time.sleep(0.05)
        return time.process_time() + sum(sum(process.cpu_times()[:4]) for process in nursery)

    return read, cpu_s


def langchain(loader: str = "PyPDFLoader") -> tuple[Reader, Callable[[], float]]:
    from langchain_community import document_loaders
    from langchain_text_splitters import RecursiveCharacterTextSplitter

    load = getattr(document_loaders, loader)
    splitter = RecursiveCharacterTextSplitter(chunk_size=1200, chunk_overlap=200)

    def read(path: Path) -> Counts:
        pages = load(str(path)).load()
        return len(pages), len(splitter.split_documents(pages))

    return read, time.process_time


def haystack() -> tuple[Reader, Callable[[], float]]:
    from haystack.components.converters import PyPDFToDocument
    from haystack.components.preprocessors import DocumentSplitter

    converter, splitter = (
        PyPDFToDocument(),
        DocumentSplitter(split_by="word", split_length=220, split_overlap=35),
    )
    if hasattr(splitter, "warm_up"):
        splitter.warm_up()

    def read(path: Path) -> Counts:
        documents = converter.run(sources=[path])["documents"]
        pages = sum((document.content or "").count("\f") + 1 for document in documents)
        return pages, len(splitter.run(documents=documents)["documents"])

    return read, time.process_time


def measure(engine: str, folder: Path) -> dict[str, float]:
    engines = {
        "knowlex": knowlex,
        "langchain": langchain,
        "langchain-pdfium": partial(langchain, "PyPDFium2Loader"),
        "haystack": haystack,
    }
    read, cpu_s = engines[engine]()
    paths = sorted(folder.glob("*.pdf"))
    read(min(paths, key=lambda path: path.stat().st_size))
    pages = chunks = 0
    before = cpu_s()
    for path in paths:
        more_pages, more_chunks = read(path)
        pages, chunks = pages + more_pages, chunks + more_chunks
    used = cpu_s() - before
    return {
        "files": len(paths),
        "pages": pages,
        "chunks": chunks,
        "cpu_s": used,
        "pages_per_cpu_s": pages / used,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description="Pages per CPU-second of parsing and splitting.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--bench-python", type=Path, default=ROOT / ".bench/bin/python")
    parser.add_argument("--engine", choices=ENGINES, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.engine:
        print(json.dumps(measure(options.engine, options.folder)))
        return
    found = {}
    for engine in ENGINES if options.bench_python.exists() else ENGINES[:1]:
        python = sys.executable if engine == "knowlex" else str(options.bench_python)
        command = [python, __file__, str(options.folder), "--engine", engine]
        output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        found[engine] = json.loads(output.splitlines()[-1])
        print(engine.ljust(16), "  ".join(f"{name} {value:,.1f}" for name, value in found[engine].items()))
    others = [found[engine]["pages_per_cpu_s"] for engine in ENGINES[1:] if engine in found]
    if others:
        print(f"ratio to the faster one: {found['knowlex']['pages_per_cpu_s'] / max(others):.1f}")


if __name__ == "__main__":
    main()
