"""Between what a service is asked and the pipeline, and back. Plain Python."""

from collections.abc import Iterator

from rag.retrievers.foreign.filters import filters_of
from rag.service import models
from rag.service.asking import Asked
from rag.service.environment import ServiceEnvironment
from rag.service.markers import written_out
from rag.service.places import Place
from rag.types.answer import Answer
from rag.types.question import Question
from rag.types.retrieval import Passage


def question_of(asked: Asked, settings: ServiceEnvironment) -> Question:
    """Raises InvalidInput."""
    return Question(
        text=asked.text,
        collection_ids=(),
        top_k=asked.max_results or settings.max_retrieval_results,
        min_relevance=settings.min_confidence_threshold,
        filters=filters_of(asked.filters),
    )


def answer_of(answer: Answer, request_id: str, processing_time_ms: int) -> models.Answer:
    found = list(_citations(answer)) if answer.answered else []
    return models.Answer(
        answer=written_out(answer.text, answer.context) if answer.answered else None,
        citations=found,
        confidence=answer.confidence if answer.answered else 0.0,
        message=models.FOUND if answer.answered else models.NOT_FOUND,
        request_id=request_id,
        processing_time_ms=processing_time_ms,
    )


def _citations(answer: Answer) -> Iterator[models.Citation]:
    """Each chunk once, in the order of the answer."""
    for number in answer.cited:
        yield _citation(answer.context[number - 1])


def _citation(passage: Passage) -> models.Citation:
    return models.Citation(
        document=passage.document_name,
        page=passage.page_number,
        section=passage.section or passage.chapter or None,
        chunk_id=passage.stored_id or str(passage.chunk_id),
        text=Place.of(passage).marker,
    )
