"""Passages, questions and parts for tests of answering that need no database."""

import re
from collections.abc import AsyncGenerator, Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

from rag.answering.pipeline import Pipeline
from rag.types.answer import Sources, Synthesis, Usage
from rag.types.context import Context
from rag.types.question import Question
from rag.types.retrieval import Passage, Retrieval

COLLECTION = UUID(int=1)


def passage(number: int, content: str = "", **fields: Any) -> Passage:
    """Passage `number` of a document of its own."""
    made = Passage(
        chunk_id=UUID(int=number),
        document_id=UUID(int=1000 + number),
        document_name=f"document{number}.pdf",
        title=f"Document {number}",
        chunk_index=number,
        content=content or f"Fact number {number} is true.",
        page_number=number,
        last_page=number,
        chapter="",
        section="",
        start_char=0,
        token_count=10,
        distance=0.1 * number,
        relevance=0.9,
    )
    return made._replace(**fields)


def question(text: str = "What is true?", **fields: Any) -> Question:
    return replace(Question(text, (COLLECTION,), top_k=5), **fields)


class CannedRetriever:
    def __init__(self, *passages: Passage) -> None:
        self.passages = passages

    async def retrieve(self, question: Question) -> Retrieval:
        return Retrieval(self.passages)


class Reversing:
    """A reranker with an opinion."""

    async def rerank(self, question: Question, retrieval: Retrieval) -> Retrieval:
        return replace(retrieval, passages=retrieval.passages[::-1])


class KeepOrder:
    async def rerank(self, question: Question, retrieval: Retrieval) -> Retrieval:
        return retrieval


class CannedSynthesizer:
    """Says `text`; `contexts` tells what it was given."""

    model_name = "canned"

    def __init__(self, text: str) -> None:
        self.text = text
        self.contexts: list[Sequence[Passage]] = []

    async def synthesize(self, question: Question, context: Context) -> Synthesis:
        self.contexts.append(context.passages)
        return Synthesis(self.text)

    async def stream(self, question: Question, context: Context) -> AsyncGenerator[str | Sources | Usage]:
        self.contexts.append(context.passages)
        for word in re.findall(r"\s*\S+", self.text):
            yield word
        yield Usage()


def as_given(text: str, retrieval: Retrieval, calibration: object) -> Retrieval:
    """Relevance as the passages already carry it."""
    return retrieval


def pipeline(text: str, *passages: Passage, reranker: Any = None) -> tuple[Pipeline, CannedSynthesizer]:
    model = CannedSynthesizer(text)
    return Pipeline(CannedRetriever(*passages), reranker or KeepOrder(), as_given, model), model
