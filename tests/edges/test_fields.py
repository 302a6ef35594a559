"""Strict types: what JSON spells differently is not converted."""

from typing import Annotated, Any

import pytest

from knowlex.base.errors import InvalidInput, InvalidQuestion
from knowlex.web.fields import check_question
from knowlex.web.shapes import InputShape, integer, number_text, parse, text
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


class Given(InputShape):
    name: Annotated[str, text(10)]
    k: Annotated[int, integer(1, 50)] = 5
    limit: Annotated[int, number_text(1, 50)] = 7
    stream: bool = False


@pytest.mark.parametrize("value", NOT_INTEGERS, ids=repr)
def test_an_integer_field_takes_integers_within_its_limits_only(value: Any) -> None:
    with pytest.raises(InvalidInput) as caught:
        parse(Given, {"name": "a", "k": value})

    assert caught.value.field == "k"
    assert "1 to 50" in caught.value.message


def test_an_integer_field_takes_both_limits_and_its_default() -> None:
    read = [parse(Given, {"name": "a", **body}).k for body in ({"k": 1}, {"k": 50}, {})]

    assert read == [1, 50, 5]


@pytest.mark.parametrize(
    "text", ["", "5.0", " 5", "5 ", "+5", "0x5", "\u0665", "1" * 30, "0", "51", "-1", "five", "1_0"]
)
def test_an_integer_parameter_is_plain_digits_within_limits(text: str) -> None:
    with pytest.raises(InvalidInput, match="limit must be an integer from 1 to 50"):
        parse(Given, {"name": "a", "limit": text})


def test_a_missing_parameter_is_its_default() -> None:
    assert [parse(Given, {"name": "a", **body}).limit for body in ({}, {"limit": "50"})] == [7, 50]


@pytest.mark.parametrize("value", [1, 0, "true", "yes", None, []], ids=repr)
def test_a_boolean_field_takes_true_and_false_only(value: Any) -> None:
    with pytest.raises(InvalidInput, match="stream must be true or false"):
        parse(Given, {"name": "a", "stream": value})


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


def test_a_text_field_is_required_unless_it_has_a_default() -> None:
    with pytest.raises(InvalidInput, match="name is required"):
        parse(Given, {})


@pytest.mark.parametrize("value", ["", "  ", "x" * 11, 5, None, "a\x00"], ids=repr)
def test_a_text_field_is_a_visible_string_within_its_length(value: Any) -> None:
    with pytest.raises(InvalidInput):
        parse(Given, {"name": value})


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
