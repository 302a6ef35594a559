"""The admin of the rag app: past questions and what is said of them, question sets and their results."""

from rag.admin.evaluations import EvaluationAdmin, EvaluationResultAdmin, QuestionSetAdmin, SetQuestionAdmin
from rag.admin.feedback import FeedbackAdmin
from rag.admin.queries import QueryAdmin

__all__ = [
    "EvaluationAdmin",
    "EvaluationResultAdmin",
    "FeedbackAdmin",
    "QueryAdmin",
    "QuestionSetAdmin",
    "SetQuestionAdmin",
]
