"""Toy collections, asked without a database: every text is a chunk of its own."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from uuid import UUID

from embeddings.lexical.terms import idf, lexemes
from rag.context.fitting import context_of
from rag.relevance.assessment import assess
from rag.rerankers.sentence import SentenceReranker
from rag.synthesizers.extractive import ExtractiveSynthesizer
from rag.types.question import Question
from rag.types.retrieval import Passage, Retrieval

MODEL_NOBODY_KNOWS = "some/embedder-v7"
LOCAL = "all-MiniLM-L6-v2"


def passage(
    number: int, content: str, *, distance: float = 0.9, title: str = "", section: str = ""
) -> Passage:
    return Passage(
        chunk_id=UUID(int=number),
        document_id=UUID(int=1000 + number),
        document_name=f"{number}.pdf",
        title=title,
        chunk_index=0,
        content=content,
        page_number=1,
        last_page=1,
        chapter="",
        section=section,
        start_char=0,
        token_count=50,
        distance=distance,
    )


def ask_of(text: str, *, top_k: int = 5) -> Question:
    return Question(text, (UUID(int=1),), top_k)


def retrieval(question: str, passages: Sequence[Passage], *, model: str = MODEL_NOBODY_KNOWS) -> Retrieval:
    """As the retriever hands it over: idf from these passages, as if they were the whole collection."""
    counts = Counter(word for p in passages for word in set(lexemes(p.content)))
    worth = {word: idf(counts[word], len(passages)) for word in lexemes(question)}
    return Retrieval(tuple(passages), worth, model)


def judged(question: str, passages: Sequence[Passage], *, model: str = MODEL_NOBODY_KNOWS) -> Retrieval:
    found = retrieval(question, passages, model=model)
    ranked = asyncio.run(SentenceReranker().rerank(ask_of(question), found))
    return assess(question, ranked, None)


def relevance(question: str, *texts: str, model: str = MODEL_NOBODY_KNOWS, distance: float = 0.9) -> float:
    """Of the most relevant text."""
    passages = [passage(n, text, distance=distance) for n, text in enumerate(texts, start=1)]
    return max(p.relevance for p in judged(question, passages, model=model).passages)


def answer(question: str, *texts: str) -> str:
    passages = [passage(n, text) for n, text in enumerate(texts, start=1)]
    context = judged(question, passages).passages
    return asyncio.run(ExtractiveSynthesizer().synthesize(ask_of(question), context_of(context))).text
