"""Parameters and headers that several routes of the Platform API share."""

from typing import Annotated, Any, Literal, get_args

from django.http import HttpResponse
from pydantic import Field, model_validator

from documents.ingest.idempotency import REPLAYED_HEADER, Reply
from knowlex.web.responses import json_response
from knowlex.web.shapes import InputShape, Omittable, Rule, check_characters, choice

MAX_SEARCH_CHARS = 255
CHUNKING = {
    "chunking_strategy": {"type": "string", "enum": ["fixed", "sentence", "semantic"]},
    "chunk_size": {"type": "integer", "minimum": 20, "maximum": 512},
    "chunk_overlap": {"type": "integer", "minimum": 0, "description": "At most half of chunk_size."},
    "similarity_threshold": {"type": "number", "minimum": 0, "maximum": 1},
    "min_chunk_size": {"type": "integer", "minimum": 1, "description": "At most chunk_size."},
}
Status = Literal["pending", "processing", "completed", "failed"]
Cursor = Annotated[str | None, Field(description="For the next page; null on the last one.")]


def _search_text(value: str) -> str:
    text = check_characters(value.strip())
    if len(text) > MAX_SEARCH_CHARS:
        raise ValueError(f"must be at most {MAX_SEARCH_CHARS} characters")
    return text


def _collection(value: str) -> str:
    if not value:
        raise ValueError("must not be empty")
    return check_characters(value)


SearchText = Annotated[
    str,
    Rule(_search_text, {"type": "string", "maxLength": MAX_SEARCH_CHARS}),
    Field(description="Text to be found in names, whatever the case."),
]


class InCollection(InputShape):
    """The name or id of a collection, in either parameter."""

    collection: Annotated[
        Omittable[Annotated[str, Rule(_collection, {"type": "string"})]],
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
    q: SearchText = ""


def reply_response(reply: Reply) -> HttpResponse:
    """Return it with the headers that tell where to look, and whether it was given before."""
    response = json_response(reply.body, reply.status)
    if reply.location:
        response["Location"] = reply.location
    if reply.replayed:
        response[REPLAYED_HEADER] = "true"
    return response
