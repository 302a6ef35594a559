"""What is said to Ollama whatever it is asked for: its address, its models' names, how long one stays loaded.

Plain Python.
"""

import re

DEFAULT_TAG = "latest"


def base_url(host: str) -> str:
    """OLLAMA_HOST is often written as host:port."""
    return (host if "://" in host else f"http://{host}").rstrip("/")


def keep_alive(value: str | float) -> str | float:
    """A plain number is one: Ollama takes it for seconds, while as a text it would be refused."""
    if isinstance(value, str) and re.fullmatch(r"-?\d+", value):
        return int(value)
    return value


def full_name(model: str) -> str:
    """With its tag: `all-minilm` is `all-minilm:latest`."""
    return model if ":" in model.rpartition("/")[2] else f"{model}:{DEFAULT_TAG}"


def short_name(model: str) -> str:
    """Without the tag that everybody leaves out."""
    return model.removesuffix(f":{DEFAULT_TAG}")


def not_pulled(model: str) -> str:
    return f"Ollama does not have the model {model!r}; pull it first: `ollama pull {model}`."


def is_not_pulled(error: object) -> bool:
    """Whether Ollama says so; its words have changed over time, these have not."""
    return isinstance(error, str) and "model" in error and "not found" in error
