"""A folder of documents and questions, as described in docs/evaluation.md, put into corpora."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from benchmarks.evaluation.corpus import Corpus, read_passages
from benchmarks.evaluation.vectors import Vectors
from embeddings.embedders.choosing import local_embedder
from embeddings.protocols import Embedder
from rag.types.retrieval import Passage

ARTICLES = ("xquad", "covidqa")
FILINGS = "financebench"


def vectors_of(model_name: str, models_dir: Path, cache: Path) -> Vectors:
    def build() -> Embedder:
        return local_embedder(models_dir=models_dir, model_name=model_name)

    return Vectors(model_name, build, cache / f"{model_name}.pkl")


def rows(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def holds(passage: Passage, question: dict) -> bool:
    """Whether it is of the right document and contains the answer, letters and digits alone."""
    content = _folded(passage.content)
    right = passage.document_name == question.get("doc")
    return right and any(_folded(answer) in content for answer in question["answers"])


def in_section(passage: Passage, question: dict) -> bool:
    """Of the book: whether it is of the section that the question stood at the end of."""
    named = question.get("source_file") and Path(question["source_file"]).name == passage.document_name
    return bool(named) and question.get("section") in (passage.section, passage.chapter)


def _folded(text: str) -> str:
    return "".join(filter(str.isalnum, text.casefold()))


@dataclass(frozen=True)
class Sets:
    """Everything of one folder; each part is read when it is first asked for."""

    folder: Path
    vectors: Vectors

    @cached_property
    def questions(self) -> list[dict]:
        return rows(self.folder / "questions.jsonl")

    @cached_property
    def book_questions(self) -> list[dict]:
        return rows(self.folder / "book_questions.jsonl")

    @cached_property
    def articles(self) -> Corpus:
        return self._corpus(ARTICLES)

    @cached_property
    def with_filings(self) -> Corpus:
        return self._corpus((*ARTICLES, FILINGS))

    @cached_property
    def book(self) -> Corpus:
        return Corpus(read_passages(sorted(self.folder.glob("books/*/*.md"))), self.vectors)

    def _corpus(self, groups: Sequence[str]) -> Corpus:
        chosen = [row for row in rows(self.folder / "documents.jsonl") if row["group"] in groups]
        languages = {row["file"]: row["lang"] for row in chosen}
        return Corpus(
            read_passages([self.folder / "docs" / row["file"] for row in chosen], languages), self.vectors
        )


@dataclass(frozen=True)
class Graded:
    """A retrieval test collection in BEIR's form. grades: by query, then by document."""

    corpus: Corpus
    queries: dict[str, str]
    grades: dict[str, dict[str, int]]

    @classmethod
    def read(cls, folder: Path, vectors: Vectors, write: Callable[[dict], Path]) -> "Graded":
        """write: puts a document into a file to be read as the server reads it."""
        files = [write(row) for row in rows(folder / "corpus.jsonl") if row["title"] or row["text"]]
        grades: dict[str, dict[str, int]] = {}
        for line in (folder / "qrels.tsv").read_text().splitlines()[1:]:
            query, document, grade = line.split("\t")
            grades.setdefault(query, {})[document] = int(grade)
        queries = {row["_id"]: row["text"] for row in rows(folder / "queries.jsonl")}
        return cls(Corpus(read_passages(files), vectors), queries, grades)
