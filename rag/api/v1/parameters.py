"""Parameters that several routes of the Platform API share."""

from typing import Annotated, Any, Literal, get_args

from pydantic import Field, model_validator

from knowlex.web.shapes import InputShape, Omittable, Rule, check_characters, choice

MAX_SEARCH_CHARS = 255
Status = Literal["pending", "processing", "completed", "failed"]
Cursor = Annotated[str | None, Field(description="For the next page; null on the last one.")]


def _check_search_text(value: str) -> str:
    text = check_characters(value.strip())
    if len(text) > MAX_SEARCH_CHARS:
        raise ValueError(f"must be at most {MAX_SEARCH_CHARS} characters")
    return text


def _check_collection(value: str) -> str:
    if not value:
        raise ValueError("must not be empty")
    return check_characters(value)


class InCollection(InputShape):
    """The name or id of a collection, in either parameter."""

    collection: Annotated[
        Omittable[Annotated[str, Rule(_check_collection, {"type": "string"})]],
        Field(description="A collection's name or id."),
    ] = None

    @model_validator(mode="before")
    @classmethod
    def _rename(cls, given: dict[str, Any]) -> dict[str, Any]:
        if "collection_id" in given and "collection" not in given:
            return {**given, "collection": given["collection_id"]}
        return given


class WithStatus(InputShape):
    status: Omittable[Annotated[str, choice(*get_args(Status), fold=True)]] = None


class NamesHolding(InputShape):
    q: Annotated[
        str,
        Rule(_check_search_text, {"type": "string", "maxLength": MAX_SEARCH_CHARS}),
        Field(description="Text to be found in names, whatever the case."),
    ] = ""
