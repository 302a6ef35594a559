"""The pipeline's own time per question, database included, without embedding and chat model.

    python -m benchmarks.ask FOLDER [--chunks 300] [--questions 500] [--restricted 0.5] [--profile]

Runs on a PostgreSQL of its own in a temporary folder. Embedder and chat model answer at once; all else is
real: retrieval in SQL, sentence ranking, relevance, context, prompt, checked citations, the record. No
question is asked twice, and no two chunks are the same.
FOLDER: PDF, Markdown or text files, of whose sentences the chunks are put together. restricted: this share of
the documents is for readers that the asker is not among. profile: tell what takes the time, by function.
"""

import argparse
import cProfile
import gc
import os
import pstats
import random
import statistics
import time
import zlib
from collections.abc import Iterable, Sequence
from contextlib import nullcontext
from functools import cache
from pathlib import Path
from uuid import UUID

from tests.support import environment

environment.set_environment()
os.environ["LOG_LEVEL"] = "WARNING"

import django

django.setup()

import numpy as np
import uvloop
from django.conf import settings
from django.core.management import call_command
from django.db import connection

from benchmarks.evaluation.corpus import read_passages
from documents.access import FULL, Access
from documents.models import Chunk, Collection, Document
from documents.text.sentences import sentence_spans
from embeddings import services as embedding
from embeddings.lexical.index import index_pending
from embeddings.protocols import Embedder, Span
from embeddings.types import EmbeddedText, Vector
from knowlex.db.pool import close_pool
from knowlex.runtime.components import component
from rag.answering import lifecycle, services
from rag.answering.ask import Caller, ask
from rag.prompts import user_message
from rag.types.answer import Answer, Synthesis
from rag.types.context import Context
from rag.types.question import Question
from tests.support.postgres import Postgres

CHUNKS_PER_DOCUMENT = 100
QUESTION_WORDS = 9
WARM_UP = 50  # questions
LEAST_CHARS = 600  # of a passage that is worth to be taken apart


class InstantEmbedder:
    """A vector from the text's checksum, as long as the local model's; each text's is made once."""

    model_name, dimensions = "instant", 384

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        return [vector_of(text) for text in texts]

    def embed_with_sentences(
        self, texts: Sequence[str], spans: Sequence[Sequence[Span]]
    ) -> list[EmbeddedText]:
        return [
            EmbeddedText(vector_of(text), np.array([vector_of(text[start:end]) for start, end in of]))
            for text, of in zip(texts, spans, strict=True)
        ]

    async def aembed_query(self, text: str) -> Vector:
        return vector_of(text)


@cache
def vector_of(text: str) -> Vector:
    made = np.random.default_rng(zlib.crc32(text.encode())).standard_normal(384).astype(np.float32)
    return made / np.linalg.norm(made)


class InstantSynthesizer:
    """Makes the prompt, as every chat client does, and says the first sentence of its first three blocks."""

    model_name = "instant"

    async def synthesize(self, question: Question, context: Context) -> Synthesis:
        user_message(question, context)
        said = [block.content.partition(".")[0].strip() for block in context.blocks[:3]]
        return Synthesis(" ".join(f"{sentence} [{n}]." for n, sentence in enumerate(said, start=1)))


class Library:
    """Chunks and questions of real sentences, any number, in an order that stays the same.

    texts: of passages. A chunk has half the sentences of each of two of them; a question is the beginning of
    a sentence.
    """

    def __init__(self, texts: Iterable[str], seed: int = 7) -> None:
        long = (text for text in texts if len(text) >= LEAST_CHARS)
        self.passages = [[text[slice(*span)] for span in sentence_spans(text)] for text in long]
        self.rng = random.Random(seed)
        self._asked = set[str]()

    def chunk(self) -> str:
        halves = (self.rng.choice(self.passages) for _ in range(2))
        return " ".join(s for half in halves for s in self.rng.sample(half, (len(half) + 1) // 2))

    def question(self) -> str:
        """Return one that was not returned before."""
        while True:
            words = self.rng.choice(self.rng.choice(self.passages)).split()[:QUESTION_WORDS]
            text = f"What is said about {' '.join(words)}?"
            if len(words) == QUESTION_WORDS and text not in self._asked:
                self._asked.add(text)
                return text


def read_texts(folder: Path) -> list[str]:
    files = sorted(path for path in folder.rglob("*") if path.suffix in (".pdf", ".md", ".txt"))
    return [passage.content for passage in read_passages(files)]


def store(contents: Sequence[str], *, restricted: float = 0.0, first: int = 0) -> None:
    """Store the chunks in documents, embedded and indexed. first: number of the first document."""
    collection, _ = Collection.objects.get_or_create(name="default")
    parts = [
        contents[start : start + CHUNKS_PER_DOCUMENT]
        for start in range(0, len(contents), CHUNKS_PER_DOCUMENT)
    ]
    for number, texts in enumerate(parts):
        permissions = {"visibility": "private"} if number < len(parts) * restricted else {}
        document = Document.objects.create(
            collection=collection, source="PDF", original_filename=f"{first + number}.pdf",
            checksum=f"{first + number:064}", size_bytes=1, page_count=1, chunk_count=len(texts),
            permissions=permissions, language="en",
        )  # fmt: skip
        Chunk.objects.bulk_create(
            Chunk(
                document=document,
                chunk_index=n,
                content=text,
                start_char=0,
                end_char=len(text),
                token_count=300,
            )
            for n, text in enumerate(texts)
        )
    for batch in embedding.request_embeddings(access=FULL).batches:
        embedding.embed_batch(batch)
    index_pending()  # as a worker's next sweep does
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")


ASKER = Access("read", None, key_id=UUID(int=1))


async def measure(questions: Sequence[str]) -> list[tuple[float, Answer]]:
    took = []
    for text in questions:
        started = time.perf_counter()
        question = await services.make_question(text, access=ASKER, top_k=5)
        answer = (await ask(question, Caller("ask", ASKER))).answer
        took.append(((time.perf_counter() - started) * 1000, answer))
    await lifecycle.close()  # the record's last batch: it would open the pool again
    await close_pool()
    return took


def report(took: Sequence[tuple[float, Answer]], cpu_s: float) -> None:
    times = sorted(ms for ms, _ in took)
    print(f"questions {len(times)}, p50 {statistics.median(times):.2f} ms, "
          f"p95 {times[int(len(times) * 0.95)]:.2f} ms, "
          f"CPU of this process {cpu_s / len(times) * 1000:.2f} ms each")  # fmt: skip
    for stage in ("retrieve", "search", "rerank", "relevance", "context", "synthesize", "check"):
        print(f"  {stage:<10} p50 {statistics.median(answer.stage_ms[stage] for _, answer in took):.2f} ms")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--chunks", type=int, default=300)
    parser.add_argument("--questions", type=int, default=500)
    parser.add_argument("--restricted", type=float, default=0.0)
    parser.add_argument("--profile", action="store_true")
    options = parser.parse_args()
    here = "benchmarks.ask"
    settings.KNOWLEX = {
        **settings.KNOWLEX,
        "EMBEDDER": {"class": f"{here}.InstantEmbedder"},
        "SYNTHESIZER": {"class": f"{here}.InstantSynthesizer"},
    }
    settings.RELEVANCE_THRESHOLD = 0.0
    library = Library(read_texts(options.folder))
    postgres = Postgres(Path(environment.DATA_DIR))
    try:
        postgres.create_database("knowlex")
        call_command("migrate", verbosity=0)
        store([library.chunk() for _ in range(options.chunks)], restricted=options.restricted)
        questions = [library.question() for _ in range(options.questions + WARM_UP)]
        component("EMBEDDER", Embedder).embed(questions)  # before the clock runs: it is left out
        uvloop.run(measure(questions[:WARM_UP]))  # connections, and what is loaded once
        gc.freeze()  # these two as the server does: knowlex/asgi.py
        gc.set_threshold(50_000, 20, 50)
        with cProfile.Profile() if options.profile else nullcontext() as profile:
            started = time.process_time()
            took = uvloop.run(measure(questions[WARM_UP:]))
            report(took, time.process_time() - started)
        if profile:
            pstats.Stats(profile).sort_stats("tottime").print_stats(40)
    finally:
        connection.close()
        postgres.stop()


if __name__ == "__main__":
    main()
