"""Ollama's conventions for all its clients: its address, its models' names, how long one stays loaded.

Plain Python.
"""

import re
from typing import Any

DEFAULT_TAG = "latest"


def base_url(host: str) -> str:
    """Add the scheme that OLLAMA_HOST often lacks."""
    return (host if "://" in host else f"http://{host}").rstrip("/")


def keep_alive(value: str | float) -> str | float:
    """Return a plain number as one: Ollama takes it for seconds, while as a text it would be refused."""
    if isinstance(value, str) and re.fullmatch(r"-?\d+", value):
        return int(value)
    return value


def full_name(model: str) -> str:
    """Add the tag that is meant where there is none: `all-minilm` is `all-minilm:latest`."""
    return model if ":" in model.rpartition("/")[2] else f"{model}:{DEFAULT_TAG}"


def short_name(model: str) -> str:
    """Remove the tag that everybody leaves out."""
    return model.removesuffix(f":{DEFAULT_TAG}")


def names_model(body: Any, model: str) -> bool | None:
    """Return whether a reply of /api/tags (what is pulled) or /api/ps (what is loaded) names the model; None
    for what is no such reply: something else stands in Ollama's place.
    """
    models = body.get("models") if isinstance(body, dict) else None
    if not isinstance(models, list):
        return None
    names = (row.get("name") or row.get("model") for row in models if isinstance(row, dict))
    return full_name(model).lower() in {full_name(name).lower() for name in names if isinstance(name, str)}


def not_pulled(model: str) -> str:
    return f"Ollama does not have the model {model!r}; pull it first: `ollama pull {model}`."


def is_not_pulled(error: object) -> bool:
    """Return whether Ollama says so; its words have changed over time, these have not."""
    return isinstance(error, str) and "model" in error and "not found" in error
