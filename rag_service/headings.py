"""Headings of records count in ranking and relevance as if they stood above the text.

Knowlex's own chunks mostly hold the headings that they stand under; a record of others has them in its
metadata alone: "All personnel must wear gloves" under "Safety Protocols". What is cited and shown to a model
stays the text itself.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from rag.protocols import Reranker
from rag.relevance.assessment import assess
from rag.types.question import Question
from rag.types.retrieval import Passage, Retrieval

HEADING_CHARS = 200  # at the beginning of a text, in which it may state its heading itself


class HeadingReranker:
    """A Reranker that gives another one the passages with their headings."""

    def __init__(self, reranker: Reranker) -> None:
        self._reranker = reranker

    async def rerank(self, question: Question, retrieval: Retrieval) -> Retrieval:
        return _remove_headings(await self._reranker.rerank(question, _add_headings(retrieval)), retrieval)


def assess_with_headings(
    question_text: str, retrieval: Retrieval, calibration: Mapping[str, Any] | None
) -> Retrieval:
    """Assess relevance as `rag.relevance.assess` does, with the headings above the texts."""
    return _remove_headings(assess(question_text, _add_headings(retrieval), calibration), retrieval)


def _add_headings(retrieval: Retrieval) -> Retrieval:
    """Their sentences are to be scored anew."""
    passages = (
        p._replace(content=_missing_headings(p) + p.content, sentences=()) for p in retrieval.passages
    )
    return replace(retrieval, passages=tuple(passages))


def _missing_headings(passage: Passage) -> str:
    """Return chapter and section, a line each, unless the text states them itself."""
    beginning = passage.content[:HEADING_CHARS].casefold()
    headings = dict.fromkeys(filter(None, (passage.chapter, passage.section)))
    return "".join(f"{heading}\n" for heading in headings if heading.casefold() not in beginning)


def _remove_headings(headed: Retrieval, before: Retrieval) -> Retrieval:
    """Keep the new order and scores with the texts as before; sentences of headings go."""
    contents = {passage.chunk_id: passage.content for passage in before.passages}
    passages = (_restore(passage, contents[passage.chunk_id]) for passage in headed.passages)
    return replace(headed, passages=tuple(passages))


def _restore(headed: Passage, content: str) -> Passage:
    length = len(headed.content) - len(content)
    sentences = (
        sentence._replace(start=max(0, sentence.start - length), end=sentence.end - length)
        for sentence in headed.sentences
        if sentence.end > length
    )
    return headed._replace(content=content, sentences=tuple(sentences))
