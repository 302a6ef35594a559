"""What becomes of the claims of a lying model, and of the extractive answerer's, over any documents.

    python -m benchmarks.citations FOLDER QUESTIONS.jsonl [--replies 10] [--seed 7] [--show]

FOLDER holds PDF or Markdown files, QUESTIONS.jsonl lines with a `question`. The documents are read and split
as in an upload; each question's context are the chunks that share most of its words. Lies are made of those
chunks by tests/citations/hostile.py, which knows what is true of each. In one process; answers that a server
has stored are checked by `manage.py verify_citations`.
"""

import argparse
import asyncio
import json
import math
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from tests.support import environment

environment.set_environment()

from documents.chunkers.sentence import SentenceChunker
from documents.extractors.sandbox.extractor import SandboxedExtractor
from documents.text.languages import detect_language
from documents.text.tokens import WordPieceCounter
from documents.types import ChunkingSettings
from rag.citations.checker import CheckedReply, Checker
from rag.context.fitting import context_of
from rag.ranking.sentences import analysis_of, words_of
from rag.synthesizers.extractive import ExtractiveSynthesizer
from rag.types.answer import Synthesis
from rag.types.context import Context
from tests.citations.hostile import Claim, Reply, plain, replies
from tests.citations.judging import NOTHING, Tally, tally
from tests.rag.factory import passage, question

BLOCKS = 5
STATES = ("exact", "supported", "unverified", "contradicted", "withheld", "uncited")


class Chunk(NamedTuple):
    language: str
    content: str


def chunks_of(path: Path) -> Iterator[Chunk]:
    if path.suffix not in (".pdf", ".md"):
        return
    extraction = SandboxedExtractor().extract(path, filename=path.name)
    language = detect_language(extraction.text)
    for draft in SentenceChunker(tokenizer=WordPieceCounter()).split(extraction, ChunkingSettings()):
        yield Chunk(language, draft.content)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("questions", type=Path)
    parser.add_argument("--replies", type=int, default=10, help="of the lying model, for each question")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--show", action="store_true", help="print what is called exact and is not")
    options = parser.parse_args()
    chunks = [chunk for path in sorted(options.folder.iterdir()) for chunk in chunks_of(path)]
    asked = [json.loads(line)["question"] for line in options.questions.read_text().splitlines() if line]
    asyncio.run(measured(chunks, asked, options))


async def measured(chunks: Sequence[Chunk], asked: Sequence[str], options: argparse.Namespace) -> None:
    ranking = Ranking(chunks)
    contexts = [ranking.context(text) for text in asked]
    started, lies = time.process_time(), NOTHING
    for n, context in enumerate(contexts):
        contents = [one.content for one in context.passages]
        for reply in replies(contents, options.replies, options.seed + n) if contents else ():
            found = await Checker(context).whole(Synthesis(reply.text))
            lies = lies.plus(tally(reply, found, context.passages))
    report("hostile", lies, time.process_time() - started, options.show)
    started, honest = time.process_time(), NOTHING
    for text, context in zip(asked, contexts, strict=True):
        if context:
            said = await ExtractiveSynthesizer().synthesize(question(text), context)
            found = await Checker(context, question=text).whole(said)
            honest = honest.plus(tally(as_true(found, context), found, context.passages))
    report("extractive", honest, time.process_time() - started, options.show)


def as_true(found: CheckedReply, context: Context) -> Reply:
    """What is word for word in a passage is true of it."""
    claims = []
    for citation in found.citations:
        text = plain(found.text[citation.answer_start : citation.answer_end]).rstrip(" .")
        holding = [n for n, p in enumerate(context.passages, start=1) if text in plain(p.content)]
        claims.append(Claim(text, frozenset(holding), "extracted"))
    return Reply(found.text, tuple(claims))


class Ranking:
    """Chunks by the idf mass of the question's words that they hold."""

    def __init__(self, chunks: Sequence[Chunk]) -> None:
        self._chunks = chunks
        self._words = [analysis_of(chunk.content, chunk.language).words for chunk in chunks]
        held = Counter(word for words in self._words for word in words)
        self._idf = {word: math.log(len(chunks) / count) for word, count in held.items()}

    def context(self, text: str) -> Context:
        asked = words_of(text)
        worth = [sum(self._idf[word] for word in asked & words) for words in self._words]
        best = sorted(range(len(worth)), key=lambda n: -worth[n])[:BLOCKS]
        chosen = [self._chunks[n] for n in best if worth[n] > 0]
        return context_of([passage(n, c.content, language=c.language) for n, c in enumerate(chosen, start=1)])


def report(name: str, found: Tally, cpu_s: float, show: bool) -> None:
    made = found.states.total()
    print(f"{name}: {made} claims, {1000 * cpu_s / max(1, made):.2f} ms of CPU a claim")
    print(
        f"  {len(found.untrue)} exact that are not, {found.inexact} inexact quotes, {found.nameless} nameless"
    )
    print(f"  {'':16} {' '.join(f'{state:>12}' for state in STATES)}")
    for kind in sorted({kind for kind, _ in found.states}):
        print(f"  {kind:16} {' '.join(f'{found.states[kind, state]:12}' for state in STATES)}")
    for one in found.untrue if show else ():
        print("  ", *one, sep=" | ")


if __name__ == "__main__":
    main()
