"""Strict types: what JSON spells differently is not converted."""

from typing import Any

import pytest

from knowlex.base.errors import InvalidInput, InvalidQuestion
from knowlex.web.fields import (
    bool_field,
    check_question,
    int_field,
    int_parameter,
    text_field,
)
from knowlex.web.shapes import parse
from rag.api.ask import AskRequest
from rag.api.v1.questions import QueryAsked

NOT_INTEGERS = ["5", 5.0, 5.5, True, False, None, [], {}, "", "\u0665", 0, -1, 51, 10**30]
BLANK = [
    "",
    " ",
    "\t\r\n",
    "\u00a0\u2003\u3000",
    "\u200b\u2060\ufeff",
    "\u00ad",
    "\u3164",
    "\u2800",
    "\x01\x1f",
    "\u115f\u1160\uffa0",
]


@pytest.mark.parametrize("value", NOT_INTEGERS, ids=repr)
def test_an_integer_field_takes_integers_within_its_limits_only(value: Any) -> None:
    with pytest.raises(InvalidInput) as caught:
        int_field({"topK": value}, "topK", low=1, high=50, default=5)

    assert caught.value.field == "topK"
    assert "1 to 50" in caught.value.message


def test_an_integer_field_takes_both_limits_and_its_default() -> None:
    read = [int_field(body, "k", low=1, high=50, default=5) for body in ({"k": 1}, {"k": 50}, {})]

    assert read == [1, 50, 5]


@pytest.mark.parametrize(
    "text", ["", "5.0", " 5", "5 ", "+5", "0x5", "\u0665", "1" * 30, "0", "51", "-1", "five", "1_0"]
)
def test_an_integer_parameter_is_plain_digits_within_limits(text: str) -> None:
    with pytest.raises(InvalidInput):
        int_parameter(text, "k", low=1, high=50, default=5)


def test_a_missing_parameter_is_its_default() -> None:
    assert int_parameter(None, "k", low=1, high=50, default=5) == 5
    assert int_parameter("50", "k", low=1, high=50, default=5) == 50


@pytest.mark.parametrize("value", [1, 0, "true", "yes", None, []], ids=repr)
def test_a_boolean_field_takes_true_and_false_only(value: Any) -> None:
    with pytest.raises(InvalidInput):
        bool_field({"stream": value}, "stream", default=False)


@pytest.mark.parametrize("question", BLANK, ids=repr)
def test_a_question_of_invisible_characters_is_blank(question: str) -> None:
    with pytest.raises(InvalidQuestion, match=r"^Query must be non-blank and at most 2000 characters\.$"):
        check_question(question, "query")


@pytest.mark.parametrize("question", ["a\x00b", "a\ud800b"], ids=ascii)
def test_a_question_that_cannot_be_stored_is_refused(question: str) -> None:
    with pytest.raises(InvalidQuestion):
        check_question(question, "query")


def test_a_question_has_2000_characters_not_bytes() -> None:
    assert check_question("😀" * 2000, "query") == "😀" * 2000
    with pytest.raises(InvalidQuestion):
        check_question("a" * 2001, "query")


@pytest.mark.parametrize(
    "body", [{}, {"query": None}, {"query": 5}, {"query": ["a"]}, {"query": True}], ids=repr
)
def test_a_question_field_is_a_string(body: dict[str, Any]) -> None:
    with pytest.raises(InvalidQuestion) as caught:
        parse(AskRequest, body)

    assert caught.value.details == {"field": "query"}


def test_a_text_field_is_required_unless_said_otherwise() -> None:
    assert text_field({}, "collection", max_chars=10, required=False) is None
    with pytest.raises(InvalidInput, match="collection is required"):
        text_field({}, "collection", max_chars=10)


@pytest.mark.parametrize("value", ["", "  ", "x" * 11, 5, None, "a\x00"], ids=repr)
def test_a_text_field_is_a_visible_string_within_its_length(value: Any) -> None:
    with pytest.raises(InvalidInput):
        text_field({"name": value}, "name", max_chars=10)


@pytest.mark.parametrize("value", NOT_INTEGERS, ids=repr)
def test_an_integer_of_a_shape_is_as_strict_and_named_with_its_limits(value: Any) -> None:
    with pytest.raises(InvalidInput, match=r"^settings\.top_k must be an integer from 1 to 50\.$") as caught:
        parse(QueryAsked, {"query": "why?", "settings": {"top_k": value}})

    assert caught.value.field == "settings.top_k"


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"settings": None}, "settings must be an object."),
        ({"settings": {"rerank": None}}, "settings.rerank must be true or false."),
        ({"settings": {"mode": "magic"}}, "settings.mode must be one of hybrid, dense, sparse, exact."),
        ({"conversation_id": None}, "conversation_id must be a string."),
        ({"conversation_id": " "}, "conversation_id must be non-blank and at most 255 characters."),
        ({"filters": None}, "filters must be an object."),
        ({"filters": {"page": {"from": 3, "to": 2}}}, "filters.page must not have its from after its to."),
        ({"filters": {"documents": ["x"]}}, "filters.documents[0] is not a valid UUID."),
    ],
    ids=repr,
)
def test_the_field_of_a_shape_that_is_wrong_is_named_with_its_rule(body: dict[str, Any], message: str):
    with pytest.raises(InvalidInput) as caught:
        parse(QueryAsked, {"query": "why?", **body})

    assert caught.value.message == message


def test_what_is_left_out_of_a_shape_has_its_default_and_what_is_unknown_is_passed_over():
    asked = parse(QueryAsked, {"query": "why?", "colour": "red", "settings": {"shade": 5}})

    assert (asked.settings.top_k, asked.settings.rerank, asked.conversation_id) == (10, None, None)
