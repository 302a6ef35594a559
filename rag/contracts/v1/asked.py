"""What several routes of the Platform API read from a request."""

from collections.abc import Mapping
from typing import Any

from knowlex.common.errors import InvalidInput
from knowlex.common.fields import check_storable

MAX_SEARCH_CHARS = 255


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
