"""What several routes of the Platform API read from a request."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.http import HttpResponse

from documents.ingest.idempotency import REPLAYED_HEADER, Reply
from knowlex.base.errors import InvalidInput
from knowlex.base.ids import parse_id
from knowlex.web.fields import check_storable, int_parameter
from knowlex.web.responses import json_response

MAX_SEARCH_CHARS = 255
MAX_WAIT_S = 60


def search_text(parameters: Mapping[str, Any]) -> str:
    """The parameter `q`, "" without one. Raises InvalidInput."""
    text = check_storable(parameters.get("q", "").strip(), "q")
    if len(text) > MAX_SEARCH_CHARS:
        raise InvalidInput(f"q must be at most {MAX_SEARCH_CHARS} characters.", field="q")
    return text


def choice(parameters: Mapping[str, Any], name: str, choices: tuple[str, ...]) -> str:
    """One of the choices, whatever the case; "" where the parameter is missing. Raises InvalidInput."""
    if name not in parameters:
        return ""
    for option in choices:
        if parameters[name].lower() == option.lower():
            return option
    raise InvalidInput(f"{name} must be one of {', '.join(choices)}.", field=name)


def wait_seconds(parameters: Mapping[str, Any]) -> float:
    """The parameter `wait`: how long to wait for an end, 0 unless given. Raises InvalidInput."""
    return float(int_parameter(parameters.get("wait"), "wait", low=0, high=MAX_WAIT_S, default=0))


def named_in(parameters: Mapping[str, Any]) -> str | None:
    """The name or id of a collection, in either parameter. Raises InvalidInput."""
    named = parameters.get("collection", parameters.get("collection_id"))
    if named == "":
        raise InvalidInput("collection must not be empty.", field="collection")
    return None if named is None else check_storable(named, "collection")


def optional_id(parameters: Mapping[str, Any], name: str) -> UUID | None:
    return parse_id(parameters[name], field=name) if parameters.get(name) else None


def settings_field(body: Mapping[str, Any]) -> dict[str, Any]:
    """The object `settings`, {} without one. Raises InvalidInput."""
    settings = body.get("settings", {})
    if not isinstance(settings, dict):
        raise InvalidInput("settings must be an object.", field="settings")
    return settings


def answer(reply: Reply) -> HttpResponse:
    """With the headers that tell where to look, and whether the answer was given before."""
    response = json_response(reply.body, reply.status)
    if reply.location:
        response["Location"] = reply.location
    if reply.replayed:
        response[REPLAYED_HEADER] = "true"
    return response
