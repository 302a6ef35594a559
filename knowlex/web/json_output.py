"""JSON as it is sent: compact, in valid UTF-8, whoever writes it."""

import json
from typing import Any

from django.core.serializers.json import DjangoJSONEncoder
from pydantic import BaseModel
from pydantic_core import PydanticSerializationError, to_json

_NO_NUMBERS = (b"NaN", b"Infinity")


def json_bytes(data: Any) -> bytes:
    """Return JSON of any data, with UUIDs, dates and times; a lone surrogate becomes `?`.

    Raises ValueError, TypeError.
    """
    text = json.dumps(data, cls=DjangoJSONEncoder, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.encode("utf-8", "replace")


def plain_json_bytes(data: Any) -> bytes:
    """Return the same of data without dates, times and decimals, in an eighth of the time.

    Only small numbers are spelled otherwise: 0.00001 for 1e-05. What this writer refuses, or takes though
    JSON has no such number, is left to the other.
    """
    try:
        written = to_json(data)
    except PydanticSerializationError:
        return json_bytes(_plain(data))
    return json_bytes(_plain(data)) if any(word in written for word in _NO_NUMBERS) else written


def _plain(data: Any) -> Any:
    """Return data without models in it."""
    if isinstance(data, BaseModel):
        return data.model_dump()
    return [_plain(item) for item in data] if isinstance(data, list) else data
