"""A folder of texts -> chunks of about 300 tokens and their vectors by the local embedder; kept.

A chunk's vector is that of its first 36 words (some 48 tokens): real vectors at a sixth of the time.
"""

import gzip
import html
import json
import random
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from embeddings.embedders.local import LocalEmbedder

WORDS, EMBEDDED_WORDS = 205, 36
QUESTIONS, QUESTION_WORDS = 500, 12
AT_A_TIME = 1000
Matrix = NDArray[np.float32]
_HIDDEN = re.compile(r"<(script|style|head|nav)\b.*?</\1>|<!--.*?-->", re.S | re.I)
_BLOCK = re.compile(r"</?(p|div|li|tr|h\d|br|dt|dd|pre|table|section|td)\b[^>]*>", re.I)
_TAG = re.compile(r"<[^>]{0,2000}>", re.S)
_READ = {".txt", ".md", ".rst", ".html", ".htm", ".pod", ".gz"}


def prepared(folder: Path | None, data: Path, rows: int, models: Path) -> tuple[Matrix, Matrix]:
    """(rows, 384) vectors and (500, 384) questions: pieces of chunks that are not among the rows.

    folder may be None where `data` holds enough of an earlier run.
    """
    texts = _chunks(folder, data, rows + QUESTIONS)
    embedder = LocalEmbedder(models_dir=models)
    questions = data / "queries.npy"
    if not questions.exists():
        np.save(questions, np.array(embedder.embed(_pieces(texts)), dtype=np.float16))
    stored = _vectors(embedder, texts, data, rows)
    return np.asarray(stored[:rows], np.float32), np.asarray(np.load(questions), np.float32)


def read_questions(data: Path) -> list[str]:
    """Return the texts of the questions that `prepared` has embedded."""
    return _pieces(_chunks(None, data, QUESTIONS))


def _pieces(texts: list[str]) -> list[str]:
    return [" ".join(text.split()[60 : 60 + QUESTION_WORDS]) or text[:80] for text in texts[-QUESTIONS:]]


def _vectors(embedder: LocalEmbedder, texts: list[str], data: Path, rows: int) -> NDArray[np.float16]:
    file, done_file = data / "vectors.npy", data / "done.txt"
    done = int(done_file.read_text()) if done_file.exists() else 0
    if file.exists() and (done >= rows or len(np.load(file, mmap_mode="r")) >= rows):
        stored = np.load(file, mmap_mode="r" if done >= rows else "r+")
    else:
        stored = np.lib.format.open_memmap(file, mode="w+", dtype=np.float16, shape=(len(texts), 384))
        done = 0
    for start in range(done, rows, AT_A_TIME):
        some = [" ".join(text[:600].split()[:EMBEDDED_WORDS]) for text in texts[start : start + AT_A_TIME]]
        stored[start : start + len(some)] = np.array(embedder.embed(some), dtype=np.float16)
        done_file.write_text(str(start + len(some)))
        print(f"  embedded {start + len(some)} of {rows}", flush=True)
    return stored


def _chunks(folder: Path | None, data: Path, enough: int) -> list[str]:
    """What an earlier run kept, if it is enough, else new ones of the folder, documents in random order."""
    data.mkdir(parents=True, exist_ok=True)
    kept = data / "chunks.jsonl.gz"
    if kept.exists():
        with gzip.open(kept, "rt") as lines:
            texts = [json.loads(line)["text"] for line in lines]
        if len(texts) >= enough or folder is None:
            return texts
    if folder is None:
        raise SystemExit(f"{data} holds no chunks: name a folder of texts.")
    for stale in ("vectors.npy", "done.txt", "queries.npy"):
        (data / stale).unlink(missing_ok=True)
    texts = []
    with gzip.open(kept, "wt", compresslevel=4) as out:
        for number, path in enumerate(_files(folder)):
            for text in _cut(_text(path)):
                texts.append(text)
                out.write(json.dumps({"document": number, "text": text}, ensure_ascii=False) + "\n")
            if len(texts) >= enough:
                return texts
    raise SystemExit(f"{folder} gives {len(texts)} chunks; {enough} are needed.")


def _files(folder: Path) -> list[Path]:
    found = sorted(path for path in folder.rglob("*") if path.suffix in _READ and path.is_file())
    random.Random(4).shuffle(found)
    return found


def _text(path: Path) -> str:
    with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
        text = file.read(8_000_000).decode("utf-8", "replace").replace("\0", "")
    if ".htm" in path.name:
        text = html.unescape(_TAG.sub("", _BLOCK.sub("\n", _HIDDEN.sub(" ", text))))
    return text


def _cut(text: str) -> Iterator[str]:
    """Prose only: paragraphs that are mostly letters."""
    words: list[str] = []
    for paragraph in re.split(r"\n\s*\n", text):
        if sum(map(str.isalpha, paragraph)) < 0.6 * len(paragraph):
            continue
        words += paragraph.split()
        while len(words) >= WORDS:
            yield " ".join(words[:WORDS])
            del words[:WORDS]
    if len(words) >= 40:
        yield " ".join(words)
