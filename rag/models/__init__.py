"""Tables of the rag app. Foreign keys cascade in the database; see documents.models."""

from rag.models.counts import QueryCount
from rag.models.evaluation import Evaluation, EvaluationResult, QuestionSet, SetQuestion

__all__ = ["Evaluation", "EvaluationResult", "QueryCount", "QuestionSet", "SetQuestion"]
