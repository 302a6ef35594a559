"""Tables of the rag app. Foreign keys cascade in the database; see documents.models."""

from rag.models.evaluation import Evaluation, EvaluationResult, QuestionSet, SetQuestion
from rag.models.queries import Candidates, Citation, Feedback, Query, QueryCount, Response, Retrieval

__all__ = [
    "Candidates",
    "Citation",
    "Evaluation",
    "EvaluationResult",
    "Feedback",
    "Query",
    "QueryCount",
    "QuestionSet",
    "Response",
    "Retrieval",
    "SetQuestion",
]
