"""Compares orders of the same candidates, without a server.

    python -m benchmarks.evaluation.compare_orders FOLDER [--model NAME] [--cache FOLDER]

FOLDER: as for fit_relevance; beside the articles and the book, test collections in BEIR's form (`beir/*`).
"""

import argparse
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from benchmarks.evaluation.corpus import Corpus
from benchmarks.evaluation.sets import ARTICLES, Graded, Sets, holds, in_section, vectors_of
from rag.evaluation.metrics import GradedRanking, hit, mean, ndcg
from rag.ranking.order import scale_of, strength
from rag.ranking.sentences import Terms, score_passage, terms_by_language
from rag.types.retrieval import Passage, Retrieval
from rag.types.sentences import Scale, SentenceScore

Score = Callable[[Passage, Sequence[SentenceScore], Terms, Scale], float]


def _best(passage: Passage, sentences: Sequence[SentenceScore], similarity: float, words: float) -> float:
    values = [
        similarity * (s.similarity or 0.0) + words * (s.coverage + s.coverage_with_previous)
        for s in sentences
    ]
    return max(values, default=0.0)


ORDERS: dict[str, Score] = {
    "reciprocal rank fusion": lambda p, s, t, scale: p.fused_score,
    "cosine": lambda p, s, t, scale: -(p.distance or 0.0),
    "BM25": lambda p, s, t, scale: p.sparse_score or 0.0,
    "best sentence, words": lambda p, s, t, scale: _best(p, s, 0.0, 0.4),
    "best sentence, cosine and words": lambda p, s, t, scale: _best(p, s, 1.0, 0.4),
    "passage and best sentence (as shipped)": strength,
}


def ordered(text: str, found: Retrieval, score: Score) -> list[Passage]:
    terms = terms_by_language(text, found)
    scale = scale_of(found.model_name, found.passages, found.calibration)
    scores = {
        passage.chunk_id: score(passage, score_passage(passage, own), own, scale)
        for passage in found.passages
        for own in [terms[passage.language]]
    }
    return sorted(found.passages, key=lambda passage: -scores[passage.chunk_id])


def questions(
    name: str, corpus: Corpus, rows: Iterable[dict], relevant: Callable[[Passage, dict], bool]
) -> None:
    asked = [(row, corpus.retrieve(row["question"])) for row in rows if row["kind"] == "answerable"]
    print(f"\n{name}: {len(asked)} questions, {len(corpus.passages)} chunks; hit@1, @5, @10")
    for order, score in ORDERS.items():
        ranked = [
            GradedRanking(tuple(float(relevant(p, row)) for p in ordered(row["question"], found, score)))
            for row, found in asked
        ]
        print(f"{order:40}", *(f"{mean(hit(one, k) for one in ranked):6.3f}" for k in (1, 5, 10)))


def graded(name: str, collection: Graded) -> None:
    queries = {key: text for key, text in collection.queries.items() if key in collection.grades}
    asked = {key: collection.corpus.retrieve(text) for key, text in queries.items()}
    print(f"\n{name}: {len(asked)} queries, {len(collection.corpus.passages)} chunks; nDCG@10 of documents")
    for order, score in ORDERS.items():
        values = [
            ndcg(_graded(ordered(queries[key], found, score), collection.grades[key]))
            for key, found in asked.items()
        ]
        print(f"{order:40} {mean(values):6.4f}")


def _graded(passages: Iterable[Passage], grades: Mapping[str, int]) -> GradedRanking:
    documents = dict.fromkeys(Path(passage.document_name).stem for passage in passages)
    gains = tuple(float(grades.get(document, 0)) for document in documents)
    return GradedRanking(gains, tuple(sorted(map(float, grades.values()), reverse=True)))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--model", default="all-MiniLM-L6-v2")
    parser.add_argument("--models-dir", type=Path, default=Path(".models"))
    parser.add_argument("--cache", type=Path, default=Path(".vectors"))
    arguments = parser.parse_args()
    sets = Sets(arguments.folder, vectors_of(arguments.model, arguments.models_dir, arguments.cache))
    english = [row for row in sets.questions if row["lang"] == "en" and row["source"] in ARTICLES]
    questions("articles", sets.articles, english, holds)
    questions("the same beside the filings", sets.with_filings, english, holds)
    across = [row for row in sets.questions if row["lang"] == "de" and row.get("doc_lang") == "en"]
    questions("German questions of English articles", sets.articles, across, holds)
    questions("book", sets.book, sets.book_questions, in_section)
    for folder in sorted(arguments.folder.glob("beir/*")):
        with tempfile.TemporaryDirectory() as place:

            def write(row: dict, place: str = place) -> Path:
                path = Path(place) / f"{row['_id']}.txt"
                path.write_text(f"{row['title']}\n\n{row['text']}\n")
                return path

            graded(folder.name, Graded.read(folder, sets.vectors, write))


if __name__ == "__main__":
    main()
