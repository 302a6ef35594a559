"""Compares what RAGService finds in somebody else's Chroma collection with what Knowlex finds in its own.

    python -m benchmarks.evaluation.foreign FOLDER --url http://localhost:8001 [--space l2]

FOLDER: as for fit_relevance. The chunks, as Knowlex splits them, go into collections `evaluation_*` of that
Chroma server, with their vectors and the metadata of the Service's document; they are dropped at the end.
Every question is then asked of both. `chroma run --path FOLDER --port 8001` starts a server.
"""

import argparse
import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from pathlib import Path

import numpy as np

from benchmarks.evaluation.corpus import Corpus
from benchmarks.evaluation.sets import ARTICLES, Sets, holds, in_section, vectors_of
from embeddings.stores.chroma_client import ChromaClient
from embeddings.types import Vector
from rag.protocols import Reranker
from rag.relevance.assessment import assess
from rag.relevance.fitting import area_under_curve
from rag.rerankers.sentence import SentenceReranker
from rag.types.question import Question
from rag.types.retrieval import Passage, Retrieval
from rag_service.headings import HeadingReranker, assess_with_headings
from rag_service.readers import ChromaReader
from rag_service.retriever import CollectionRetriever

TOP_K = 5
THRESHOLDS = (0.5, 0.8)
DEPTH = 40  # candidates of Knowlex's own retrieval
Retrieve = Callable[[Question], Awaitable[Retrieval]]
Relevant = Callable[[Passage, dict], bool]


class Known:
    """An Embedder of questions whose vectors are kept."""

    dimensions = 384

    def __init__(self, corpus: Corpus) -> None:
        self.model_name, self._vectors = corpus.model_name, corpus.vectors

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        return [self._vectors.passage(text)[0] for text in texts]

    async def aembed_query(self, text: str) -> Vector:
        return await asyncio.to_thread(self._vectors.question, text)


async def filled(client: ChromaClient, name: str, space: str, corpus: Corpus) -> ChromaReader:
    await client.create_collection(name, configuration={"hnsw": {"space": space}})
    await client.upsert(
        name,
        ids=[f"{p.document_name}#{p.chunk_index}" for p in corpus.passages],
        vectors=[corpus.vectors.passage(p.content)[0] for p in corpus.passages],
        documents=[p.content for p in corpus.passages],
        metadatas=[_metadata(p) for p in corpus.passages],
    )
    return ChromaReader(client, name)


def _metadata(passage: Passage) -> dict[str, str | int]:
    found = {
        "source_doc": passage.document_name,
        "source_type": Path(passage.document_name).suffix.strip("."),
        "chunk_index": passage.chunk_index,
        "page_number": passage.page_number,
        "section_title": passage.section,
        "related_topic": passage.chapter,
    }
    return {key: value for key, value in found.items() if value not in (None, "")}


async def report(
    name: str,
    rows: Iterable[dict],
    retrieve: Retrieve,
    reranker: Reranker,
    judge: Callable,
    relevant: Relevant,
) -> None:
    hits, yes, no = [], [], []
    for row in rows:
        question = Question(row["question"], (), TOP_K)
        found = await reranker.rerank(question, await retrieve(question))
        best = judge(question.text, found, None).passages[:TOP_K]
        chance = max((passage.relevance for passage in best), default=0.0)
        if row["kind"] == "answerable":
            hits.append([relevant(passage, row) for passage in best])
            yes.append(chance)
        else:
            no.append(chance)
    _print(name, hits, np.array(yes), np.array(no))


def _print(name: str, hits: list[list[bool]], yes: np.ndarray, no: np.ndarray) -> None:
    area = area_under_curve(np.array([*yes, *no]), np.array([True] * len(yes) + [False] * len(no)))
    shares = [f"{(yes >= least).mean():9.3f}{(no < least).mean():9.3f}" for least in THRESHOLDS]
    first, any_ = (float(np.mean([any(one[:k]) for one in hits])) for k in (1, TOP_K))
    print(f"{name:30}{first:8.3f}{any_:8.3f}{area:8.4f}", *shares, sep="")


async def compare(
    title: str, corpus: Corpus, rows: Sequence[dict], relevant: Relevant, url: str, space: str
) -> None:
    print(f"\n{title}: {len(corpus.passages)} chunks, {len(rows)} questions")
    print(f"{'':30}{'hit@1':>8}{'hit@5':>8}{'AUC':>8}{'yes>.5':>9}{'no<.5':>9}{'yes>.8':>9}{'no<.8':>9}")

    async def own(question: Question) -> Retrieval:
        return await asyncio.to_thread(corpus.retrieve, question.text, None, DEPTH)

    client, name = ChromaClient(url), f"evaluation_{title.replace(' ', '_')}_{space}"
    plain, headed = SentenceReranker(), HeadingReranker(SentenceReranker())
    try:
        reader = await filled(client, name, space, corpus)
        foreign = CollectionRetriever(reader, Known(corpus))
        nearest = CollectionRetriever(reader, Known(corpus), limit=TOP_K)
        await report("Knowlex's own", rows, own, plain, assess, relevant)
        await report("Chroma", rows, foreign.retrieve, headed, assess_with_headings, relevant)
        await report("without headings", rows, foreign.retrieve, plain, assess, relevant)
        await report("the five nearest alone", rows, nearest.retrieve, headed, assess_with_headings, relevant)
    finally:
        await client.delete_collection(name)
        await client.aclose()


async def run(sets: Sets, url: str, space: str) -> None:
    english = [row for row in sets.questions if row["lang"] == "en"]
    articles = [row for row in english if row["source"] in ARTICLES]
    beside = [row for row in english if row in articles or row["kind"] == "unanswerable"]
    await compare("articles", sets.articles, articles, holds, url, space)
    await compare("with filings", sets.with_filings, beside, holds, url, space)
    await compare("book", sets.book, sets.book_questions, in_section, url, space)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--url", required=True, help="of a Chroma server")
    parser.add_argument("--space", choices=("cosine", "l2", "ip"), default="cosine")
    parser.add_argument("--models-dir", type=Path, default=Path(".models"))
    parser.add_argument("--cache", type=Path, default=Path(".vectors"))
    given = parser.parse_args()
    sets = Sets(given.folder, vectors_of("all-MiniLM-L6-v2", given.models_dir, given.cache))
    asyncio.run(run(sets, given.url, given.space))


if __name__ == "__main__":
    main()
