"""Whether answers answer their questions: `rag.relevance.answers`, by vectors of the active model."""

from collections.abc import Sequence

from documents.protocols import SentenceEmbedder
from embeddings.active_model import active_model
from knowlex.runtime.components import component
from rag.ranking.order import scale_of
from rag.relevance.answers import AnswerText, answer_relevance


def answer_relevances(answers: Sequence[tuple[str, Sequence[AnswerText]]]) -> list[float | None]:
    """For each question and what is claimed in answer to it, [0, 1]; None where nothing is claimed.

    The vectors of all are made at once. Not for an event loop. Raises EmbedderError, DatabaseUnavailable.
    """
    texts = [text for question, claims in answers if claims for text in _texts(question, claims)]
    if not texts:
        return [None] * len(answers)
    model = active_model()
    factor, shift = scale_of(model.name, (), model.calibration).line
    vectors = dict(zip(texts, component("SENTENCE_EMBEDDER", SentenceEmbedder).embed(texts), strict=True))

    def nearest(question: str, claim: AnswerText) -> float:
        asked = vectors[question]
        return factor * max(float(asked @ vectors[text]) for text in (claim.text, claim.quote)) + shift

    return [
        answer_relevance(question, [one._replace(cosine=nearest(question, one)) for one in claims])
        for question, claims in answers
    ]


def _texts(question: str, claims: Sequence[AnswerText]) -> list[str]:
    return [question, *(text for claim in claims for text in (claim.text, claim.quote))]
