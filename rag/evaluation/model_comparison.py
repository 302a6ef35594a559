"""Retrieval by one embedding model beside another's: the same questions, the real retriever."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, cast

from documents.access import FULL
from embeddings.models import EmbeddingModel
from knowlex.base.errors import InvalidInput
from knowlex.runtime.components import component
from rag.answering import parts, services
from rag.evaluation import metrics
from rag.evaluation.question_files import parse_lines
from rag.evaluation.question_sets import get_set, iterate_cases
from rag.evaluation.scoring import grade_passages
from rag.evaluation.types import Case
from rag.protocols import Reranker, Retriever
from rag.types.question import Mode, Question
from rag.types.retrieval import Passage

DEPTH = 10


@dataclass(frozen=True, slots=True)
class Figures:
    """Means over the questions; latencies in milliseconds of the whole retrieval, reranking included."""

    NAMES: ClassVar[dict[str, str]] = {
        "hit_1": "hit@1",
        "hit_5": "hit@5",
        "hit_10": "hit@10",
        "mrr": "MRR",
        "ndcg": "nDCG@10",
        "p50_ms": "latency p50, ms",
        "p95_ms": "latency p95, ms",
    }

    hit_1: float
    hit_5: float
    hit_10: float
    mrr: float
    ndcg: float
    p50_ms: float
    p95_ms: float


def read_cases(name: str) -> list[Case]:
    """The answerable questions of a JSONL file, or of the stored set of that name or id.

    Raises InvalidInput (naming the line), NotFound.
    """
    path = Path(name)
    if path.is_file():
        with path.open("rb") as lines:
            cases = list(parse_lines(lines))
    else:
        cases = list(iterate_cases(get_set(name, access=FULL)))
    asked = [case for case in cases if case.answerable]
    if not asked:
        raise InvalidInput(f"{name} holds no answerable question.")
    return asked


async def figures(
    models: Sequence[EmbeddingModel], cases: Sequence[Case], collections: Sequence[str], mode: str
) -> list[Figures]:
    """Of each model. Question by question in turn, so that what else the machine does strikes them alike.

    Raises InvalidInput where no search finds anything, NotFound (a collection).
    """
    base = await services.make_question("?", access=FULL, collections=collections, top_k=DEPTH)
    retrievers = [parts.build_retriever(model_id=model.pk) for model in models]
    rankings: list[list[metrics.GradedRanking]] = [[] for _ in models]
    took: list[list[float]] = [[] for _ in models]
    anything = False
    for case in cases:
        question = replace(base, text=case.question, mode=cast(Mode, mode))
        for place, retriever in enumerate(retrievers):
            started = time.perf_counter()
            found = await _passages(retriever, question)
            took[place].append((time.perf_counter() - started) * 1000)
            rankings[place].append(grade_passages(case, found))
            anything = anything or bool(found)
    if not anything:
        raise InvalidInput(f"Nothing was found in {', '.join(collections) or 'default'}: is it empty?")
    return [_figures(*pair) for pair in zip(rankings, took, strict=True)]


async def _passages(retriever: Retriever, question: Question) -> Sequence[Passage]:
    found = await retriever.retrieve(question)
    if question.reranked and found.passages:
        found = await component("RERANKER", Reranker).rerank(question, found)
    return found.passages[:DEPTH]


def _figures(rankings: Sequence[metrics.GradedRanking], took: Sequence[float]) -> Figures:
    def mean(values: Any) -> float:
        return metrics.mean(values) or 0.0

    return Figures(
        hit_1=mean(metrics.hit(one, 1) for one in rankings),
        hit_5=mean(metrics.hit(one, 5) for one in rankings),
        hit_10=mean(metrics.hit(one, 10) for one in rankings),
        mrr=mean(metrics.reciprocal_rank(one) for one in rankings),
        ndcg=mean(metrics.ndcg(one) for one in rankings),
        p50_ms=metrics.percentile(took, 0.5) or 0.0,
        p95_ms=metrics.percentile(took, 0.95) or 0.0,
    )
