"""Request bodies as JSON objects, refusing what a lenient parser would let through."""

import json
import math
from typing import Any, NoReturn

from django.http import HttpRequest

from knowlex.base.errors import InvalidInput, UnsupportedMediaType
from knowlex.web.fields import QUESTION_FIELDS, check_storable, is_blank, is_storable

MAX_DEPTH = 100
MAX_PATH_CHARS = 300
NOT_JSON = "Request body is not valid JSON."


def json_object(request: HttpRequest) -> dict[str, Any]:
    """Return the body as a JSON object. Raises UnsupportedMediaType, InvalidInput.

    Refused besides broken JSON: NaN and Infinity, numbers beyond a double or 4300 digits, nesting deeper
    than 100, U+0000 and lone surrogates in any string but a question that is blank, an encoding other than
    UTF-8, a byte order mark.
    """
    raw = request.body
    if not raw and not request.content_type:
        raise InvalidInput("Request body is empty; a JSON object is required.")
    check_content_type(request)
    value = parse_json(raw)
    if not isinstance(value, dict):
        raise InvalidInput("Request body must be a JSON object.")
    return value


def parse_json(raw: bytes) -> Any:
    """Return any JSON value, under the same rules. Raises InvalidInput."""
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        raise InvalidInput("Request body is not valid UTF-8.") from None
    try:
        value = _DECODER.decode(text)
    except json.JSONDecodeError as exc:
        raise InvalidInput(f"{NOT_JSON} (line {exc.lineno}, column {exc.colno})") from None
    except RecursionError:
        raise InvalidInput("Request body is nested too deeply.") from None
    except ValueError:  # an integer of more digits than Python converts
        raise InvalidInput(f"{NOT_JSON} A number is too large.") from None
    # Only an escape can smuggle such a character in, and only brackets can nest: most bodies need no walk.
    if "\\u" in text or text.count("[") + text.count("{") > MAX_DEPTH:
        _check_values(value)
    return value


def check_content_type(request: HttpRequest) -> None:
    """Raises UnsupportedMediaType, of a compressed body, too."""
    if (request.headers.get("Content-Encoding") or "identity").strip().lower() != "identity":
        raise UnsupportedMediaType("Content-Encoding must be identity: compressed bodies are not read.")
    if request.content_type != "application/json":
        raise UnsupportedMediaType("Content-Type must be application/json.")
    charset = (request.content_params or {}).get("charset", "utf-8")
    if charset.strip("\"'").lower() not in ("utf-8", "utf8", "us-ascii"):
        raise UnsupportedMediaType("The charset of application/json must be utf-8.")


def _no_constant(name: str) -> NoReturn:
    raise InvalidInput(f"{NOT_JSON} {name} is not a JSON number.")


def _finite(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise InvalidInput(f"{NOT_JSON} A number is too large.")
    return number


_DECODER = json.JSONDecoder(parse_constant=_no_constant, parse_float=_finite)


def _check_values(value: Any) -> None:
    """Walk without recursion; `field` is the top-level key under which something is wrong."""
    field: str | None = None
    level: list[tuple[Any, str | None]] = [(value, None)]
    for depth in range(MAX_DEPTH + 1):
        below: list[tuple[Any, str | None]] = []
        for item, field in level:
            if isinstance(item, str):
                if not is_storable(item) and not (depth == 1 and field in QUESTION_FIELDS and is_blank(item)):
                    check_storable(item, _place_of_unstorable(value))
            elif isinstance(item, list):
                below.extend((element, field) for element in item)
            elif isinstance(item, dict):
                for key, element in item.items():
                    check_storable(key, None)
                    below.append((element, key if depth == 0 else field))
        if not below:
            return
        level = below
    raise InvalidInput("Request body is nested too deeply.", field=field)


def _place_of_unstorable(value: Any, path: str = "", depth: int = 0) -> str | None:
    """Return where the first such string is, as `documents[0].metadata.author`."""
    if isinstance(value, str):
        return None if is_storable(value) else path[:MAX_PATH_CHARS]
    if depth > MAX_DEPTH or not isinstance(value, list | dict):
        return None
    dot = "." if path else ""
    steps = (
        ((f"{dot}{key}", element) for key, element in value.items())
        if isinstance(value, dict)
        else ((f"[{place}]", element) for place, element in enumerate(value))
    )
    places = (_place_of_unstorable(element, path + step, depth + 1) for step, element in steps)
    return next((place for place in places if place is not None), None)
