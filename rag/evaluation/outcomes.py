"""What a configuration made of one question, and what it counts for. Plain Python.

`values` holds the question's share of each metric by its name; a metric that says nothing about the question
is left out. So a metric of a set is the mean of the values that there are.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any
from uuid import UUID

from rag.evaluation.metrics import hit, ndcg, recall, reciprocal_rank
from rag.evaluation.scoring import (
    find_document_rank,
    first_passages,
    grade_passages,
    has_right_page,
    is_correct,
    is_expected,
    is_relevant,
)
from rag.evaluation.text_matching import strip_citations
from rag.evaluation.types import Case
from rag.types.answer import EXTRACTIVE, Answer
from rag.types.claims import faithfulness
from rag.types.retrieval import Passage

MAX_SHOWN = 10
MAX_ANSWER_CHARS = 5000
HITS, RECALLS = (1, 3, 5, 10), (5, 10)
RETRIEVAL_METRICS = (
    *(f"hit@{k}" for k in HITS),
    *(f"recall@{k}" for k in RECALLS),
    "mrr@10",
    "ndcg@10",
    "doc_hit@1",
    "doc_hit@5",
)
ANSWER_METRICS = (
    "answer_accuracy",
    "answer_accuracy_when_answered",
    "abstention_on_unanswerable",
    "false_abstention",
    "gold_doc_cited",
    "gold_doc_first",
    "citation_precision",
    "page_right",
    "answer_words",
    "faithfulness",
    "answer_relevance",
    "claims_verified",
    "claims_contradicted",
    "claims_uncited",
)


@dataclass(frozen=True, slots=True)
class Outcome:
    """values: by metric. judged: (relevance that was told, whether it is so) of the most relevant passage, by
    which it is decided whether to answer; [] where nothing was found.

    found: the first passages as they are shown later, without their text. answered: None where no answer was
    asked for. cited: ids of the documents that the answer quotes. error: why there is nothing else; then all
    else is empty.
    """

    values: dict[str, float] = field(default_factory=dict)
    judged: list[tuple[float, bool]] = field(default_factory=list)
    found: list[dict[str, Any]] = field(default_factory=list)
    answered: bool | None = None
    answer: str = ""
    cited: list[UUID] = field(default_factory=list)
    latency_ms: float | None = None
    error: str = ""


def measure_search(case: Case, passages: Sequence[Passage], latency_ms: float) -> Outcome:
    """Measure a search. The latency is that of the whole call."""
    truths = [case.answerable and is_relevant(case, passage) for passage in passages]
    return Outcome(
        values=_measure_retrieval(case, passages) if case.answerable else {},
        judged=_best_judged(passages, truths),
        found=[_describe_passage(p, truth) for p, truth in zip(passages[:MAX_SHOWN], truths, strict=False)],
        latency_ms=round(latency_ms, 3),
    )


def measure_answer(
    case: Case,
    answer: Answer,
    passages: Sequence[Passage],
    latency_ms: float,
    relevance: float | None = None,
) -> Outcome:
    """Measure a search and its answer. relevance: of the answer, see rag.relevance.answers."""
    searched = measure_search(case, passages, latency_ms)
    cited = [answer.context[n - 1] for n in answer.cited]
    return Outcome(
        values={
            **searched.values,
            **_measure_answering(case, answer, cited),
            **_measure_claims(answer),
            **({} if relevance is None else {"answer_relevance": relevance}),
        },
        judged=searched.judged,
        found=searched.found,
        answered=answer.answered,
        answer=answer.text[:MAX_ANSWER_CHARS],
        cited=list(dict.fromkeys(passage.document_id for passage in cited)),
        latency_ms=searched.latency_ms,
    )


def _measure_retrieval(case: Case, passages: Sequence[Passage]) -> dict[str, float]:
    ranking = grade_passages(case, passages)
    values = {f"hit@{k}": hit(ranking, k) for k in HITS}
    values |= {f"recall@{k}": recall(ranking, k) for k in RECALLS}
    values |= {"mrr@10": reciprocal_rank(ranking, 10), "ndcg@10": ndcg(ranking, 10)}
    if case.document or case.relevant:
        place = find_document_rank(case, passages)
        values |= {f"doc_hit@{k}": float(0 < place <= k) for k in (1, 5)}
    return values


def _measure_answering(case: Case, answer: Answer, cited: Sequence[Passage]) -> dict[str, float]:
    if not case.answerable:
        return {"abstention_on_unanswerable": float(not answer.answered)}
    values = {"false_abstention": float(not answer.answered)}
    if case.answers:
        values["answer_accuracy"] = float(answer.answered and is_correct(case, answer.text))
    if answer.answered:
        values["answer_words"] = float(len(strip_citations(answer.text).split()))
        if case.answers:
            values["answer_accuracy_when_answered"] = values["answer_accuracy"]
        values |= _measure_citations(case, cited)
    return values


def _measure_claims(answer: Answer) -> dict[str, float]:
    """Measure the claims' shares; verified: exact or supported. Only of an answer in a model's words: one
    that quotes its passages is verified by construction.
    """
    found = answer.verification
    score = faithfulness(asdict(found))
    if score is None or answer.usage.model == EXTRACTIVE:
        return {}
    verified = found.exact + found.supported
    claims = verified + found.unverified + found.contradicted + found.uncited
    return {
        "faithfulness": score,
        "claims_verified": verified / claims,
        "claims_contradicted": found.contradicted / claims,
        "claims_uncited": found.uncited / claims,
    }


def _measure_citations(case: Case, cited: Sequence[Passage]) -> dict[str, float]:
    """Measure the cited documents, each counting once; precision is the right one's share of them."""
    documents = first_passages(cited)
    if not documents or not (case.document or case.relevant):
        return {}
    right = [is_expected(case, passage) for passage in documents]
    values = {
        "gold_doc_cited": float(any(right)),
        "gold_doc_first": float(right[0]),
        "citation_precision": sum(right) / len(right),
    }
    page = has_right_page(case, documents)
    return values if page is None else {**values, "page_right": float(page)}


def _best_judged(passages: Sequence[Passage], truths: Sequence[bool]) -> list[tuple[float, bool]]:
    told = [(passage.relevance, truth) for passage, truth in zip(passages, truths, strict=True)]
    return [max(told, key=lambda pair: pair[0])] if told else []


def _describe_passage(passage: Passage, relevant: bool) -> dict[str, Any]:
    return {
        "chunk_id": str(passage.chunk_id),
        "document_id": str(passage.document_id),
        "document": passage.document_name,
        "page_number": passage.page_number,
        "score": round(passage.score, 6),
        "relevance": round(passage.relevance, 4),
        "relevant": relevant,
    }
