"""The admin of the rag app: past questions and what is said of them, question sets and their results."""

from rag.admin.evaluations import EvaluationAdmin
from rag.admin.feedback import FeedbackAdmin
from rag.admin.queries import QueryAdmin
from rag.admin.question_sets import QuestionSetAdmin, SetQuestionAdmin
from rag.admin.results import EvaluationResultAdmin

__all__ = [
    "EvaluationAdmin",
    "EvaluationResultAdmin",
    "FeedbackAdmin",
    "QueryAdmin",
    "QuestionSetAdmin",
    "SetQuestionAdmin",
]
