"""`filters`: a document's name, how many chunks, and whatever metadata the store has."""

from typing import Any

import pytest

from rag_service import InvalidQuery, RAGService
from tests.provider import Provider

QUESTION = "What are the safety protocols for handling chemicals?"
ALLOWING: list[dict[str, Any]] = [
    {},
    {"source": "safety_manual.pdf", "max_results": 5},
    {"source": ["hr_policy.pdf", "safety_manual.pdf"]},
    {"source_type": "pdf", "page_number": 5},
    {"section_title": ["Chemical Handling", "Approval"]},
]
REFUSING: list[dict[str, Any]] = [
    {"source": "hr_policy.pdf"},
    {"page_number": 6},
    {"page_number": "5"},
    {"no_such_key": 1},
]
WRONG = [
    ("", None, "question"),
    (" \u200b\n", None, "question"),
    ("x" * 2001, None, "question"),
    (None, None, "question"),
    (5, None, "question"),
    ("a\ud800b?", None, "question"),
    ("What?", "safety_manual.pdf", "filters"),
    ("What?", {5: "x"}, "filters"),
    ("What?", {"": "x"}, "filters"),
    ("What?", {"source": 5}, "filters.source"),
    ("What?", {"source": " "}, "filters.source"),
    ("What?", {"source": None}, "filters.source"),
    ("What?", {"source": []}, "filters.source"),
    ("What?", {"max_results": 0}, "filters.max_results"),
    ("What?", {"max_results": 51}, "filters.max_results"),
    ("What?", {"max_results": "5"}, "filters.max_results"),
    ("What?", {"max_results": 5.0}, "filters.max_results"),
    ("What?", {"max_results": True}, "filters.max_results"),
    ("What?", {"page_number": {"$gte": 5}}, "filters.page_number"),
    ("What?", {"page_number": float("nan")}, "filters.page_number"),
    ("What?", {"page_number": 2**63}, "filters.page_number"),
    ("What?", {"$or": [{"page_number": 5}]}, "filters.$or"),
    ("What?", {"section_title": "x" * 1001}, "filters.section_title"),
    ("What?", {f"key{n}": n for n in range(21)}, "filters"),
]


@pytest.mark.parametrize("filters", ALLOWING)
def test_what_passes_is_found(service: RAGService, filters: dict[str, Any]):
    assert {one.document for one in service.query(QUESTION, filters).citations} == {"safety_manual.pdf"}


@pytest.mark.parametrize("filters", REFUSING)
def test_what_does_not_pass_is_not_found(service: RAGService, ollama: Provider, filters: dict[str, Any]):
    answer = service.query(QUESTION, filters)
    assert (answer.answer, answer.citations) == (None, [])
    assert ollama.calls("chat") == []


def test_max_results_bounds_what_the_model_is_shown(service: RAGService, ollama: Provider):
    service.query(
        "Which protocols and procedures are there for chemicals and emergencies?", {"max_results": 1}
    )
    (call,) = ollama.calls("chat")
    assert call.body["prompt"].count("[safety_manual.pdf, p.") == 1


@pytest.mark.parametrize(("question", "filters", "field"), WRONG)
def test_what_cannot_be_asked_is_refused_before_anything_is_called(question: Any, filters: Any, field: str):
    service = RAGService("http://127.0.0.1:1", "http://127.0.0.1:1")
    with pytest.raises(InvalidQuery) as refused:
        service.query(question, filters)
    error = refused.value
    assert (error.field, error.http_status, error.error_type) == (field, 400, "InvalidQuery")
    assert str(error).startswith(field)
    assert error.to_dict()["request_id"].startswith("req_")
