"""The admin of the rag app: question sets and what was measured on them."""

from rag.admin.evaluations import EvaluationAdmin
from rag.admin.question_sets import QuestionSetAdmin, SetQuestionAdmin
from rag.admin.results import EvaluationResultAdmin

__all__ = ["EvaluationAdmin", "EvaluationResultAdmin", "QuestionSetAdmin", "SetQuestionAdmin"]
