"""Reranking and relevance that read a record's headings as if they stood above its text. Plain Python.

Knowlex's own chunks mostly hold the headings that they stand under; a record of others has them in its
metadata alone: "All personnel must wear gloves" under "Safety Protocols". What is cited and shown to a model
stays the text itself.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from rag.protocols import Reranker
from rag.relevance import assess
from rag.types.question import Question
from rag.types.retrieval import Passage, Retrieval

LOOK = 200  # characters in which a text may say its heading itself


class HeadedReranker:
    """A Reranker that gives another one the passages with their headings."""

    def __init__(self, reranker: Reranker) -> None:
        self._reranker = reranker

    async def rerank(self, question: Question, retrieval: Retrieval) -> Retrieval:
        return _bare(await self._reranker.rerank(question, _headed(retrieval)), retrieval)


def assess_headed(
    question_text: str, retrieval: Retrieval, calibration: Mapping[str, Any] | None
) -> Retrieval:
    """As `relevance.assess`."""
    return _bare(assess(question_text, _headed(retrieval), calibration), retrieval)


def headline(passage: Passage) -> str:
    """Chapter and section, a line each, unless the text says them itself; "" where there is none to add."""
    beginning = passage.content[:LOOK].casefold()
    headings = dict.fromkeys(filter(None, (passage.chapter, passage.section)))
    return "".join(f"{heading}\n" for heading in headings if heading.casefold() not in beginning)


def _headed(retrieval: Retrieval) -> Retrieval:
    """Their sentences are to be scored anew."""
    passages = (p._replace(content=headline(p) + p.content, sentences=()) for p in retrieval.passages)
    return replace(retrieval, passages=tuple(passages))


def _bare(headed: Retrieval, before: Retrieval) -> Retrieval:
    """In the new order and with all that was found out, the texts as before; sentences of headings go."""
    known = {passage.chunk_id: passage for passage in before.passages}
    passages = (_without(passage, known[passage.chunk_id]) for passage in headed.passages)
    return replace(headed, passages=tuple(passages))


def _without(headed: Passage, passage: Passage) -> Passage:
    length = len(headed.content) - len(passage.content)
    sentences = (
        one._replace(start=max(0, one.start - length), end=one.end - length)
        for one in headed.sentences
        if one.end > length
    )
    return headed._replace(content=passage.content, sentences=tuple(sentences))
