"""Pairs that relevance is fitted to, made from question sets as the search finds and orders them."""

from collections.abc import Iterator, Sequence
from uuid import UUID

from rag.answering.pipeline import Pipeline
from rag.evaluation.scoring import is_relevant
from rag.evaluation.types import Case
from rag.relevance.features import describe
from rag.relevance.fitting import FOLDS, Pair
from rag.types.question import Question
from rag.types.retrieval import Retrieval

JUDGED = 20  # passages that are looked through for relevant ones
OTHERS = 5  # best of the rest, as irrelevant ones: hard ones, and no more than the right ones can bear


async def judged_pairs(
    cases: Sequence[Case], pipeline: Pipeline, collection_ids: Sequence[UUID]
) -> tuple[list[Pair], str]:
    """The relevant passages of each question, by the judge of evaluations, and the best others; those alone
    for a question that nothing answers. Pairs of one expected document are a group, or those of one question
    where the documents are too few to hold some of them out.

    The second is the model whose scores all the passages have, "" if there is none or it failed once. Raises
    as `Pipeline.search`.
    """
    pairs: list[Pair] = []
    models: set[str] = set()
    by_document = len({case.document for case in cases}) > FOLDS
    for case in cases:
        question = Question(case.question, tuple(collection_ids), JUDGED, min_relevance=0.0)
        found = await pipeline.judged(question)
        if found.passages:
            models.add(found.rerank_model)
            pairs += _pairs(case, found, (by_document and case.document) or case.key)
    return pairs, models.pop() if len(models) == 1 else ""


def _pairs(case: Case, found: Retrieval, group: str) -> Iterator[Pair]:
    left = OTHERS
    for one in describe(case.question, found)[:JUDGED]:
        relevant = case.answerable and is_relevant(case, one.passage)
        left -= not relevant
        if relevant or left >= 0:
            yield Pair(one.features, relevant, group=group)
