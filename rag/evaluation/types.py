"""A question with what is expected of its answer. Plain Python, frozen."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

AnswerType = Literal["", "span", "number", "long"]


@dataclass(frozen=True, slots=True)
class Case:
    """One question of a set; what is not known of it is empty.

    key: unique in its set. answers: texts, each of them right. document: file name, the same without its
    ending, title or id of the document that holds the answer. pages: 1-based. answer_type: "" is decided by
    the answer itself. lang, document_lang: ISO 639-1 codes of the question and of the document. evidence: a
    passage of the document that proves the answer. key_numbers: figures of a long answer. relevant: grades
    above 0 by document (named as in `document`) or by id of a chunk; if there are some, they alone decide.
    metadata: whatever else came with the question.
    """

    key: str
    question: str
    answers: tuple[str, ...] = ()
    document: str = ""
    pages: tuple[int, ...] = ()
    chapter: str = ""
    section: str = ""
    answerable: bool = True
    answer_type: AnswerType = ""
    lang: str = "en"
    document_lang: str = ""
    evidence: str = ""
    key_numbers: tuple[float, ...] = ()
    relevant: Mapping[str, float] = field(default_factory=dict)
    tags: tuple[str, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)
