"""How the questions of a set are asked: one or two configurations, compared with each other. Plain Python.

All of it goes into the question that the pipeline gets, or into a retriever of the configuration's own:
nothing of a running server is changed.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, get_args
from uuid import UUID

from knowlex.base.errors import InvalidInput
from knowlex.web.fields import bool_field, check_storable, int_field, is_blank, text_field
from rag.types.question import Mode, Question

MAX_NAME = 100
MAX_CONFIGURATIONS = 2
DEFAULT_TOP_K = 10
RETRIEVER_SETTINGS: Final = ("rrf_k", "dense_weight", "embedding_model")
MODES: Final = get_args(Mode)


@dataclass(frozen=True, slots=True)
class Configuration:
    """One way to ask. settings: those that were given, checked: mode, top_k, rerank, rewrite, threshold,
    rrf_k, dense_weight, embedding_model.
    """

    name: str
    settings: Mapping[str, Any]

    def question(self, text: str, collection_ids: Sequence[UUID], *, threshold: float) -> Question:
        """Make the question. threshold: the server's, for where the configuration names none."""
        given = {name: value for name, value in self.settings.items() if name not in RETRIEVER_SETTINGS}
        plain = Question(text, tuple(collection_ids), top_k=given.pop("top_k", DEFAULT_TOP_K))
        return replace(plain, min_relevance=given.pop("threshold", threshold), **given)

    @property
    def retriever(self) -> dict[str, Any]:
        """Return the options of its retriever besides those that the server is configured with."""
        return {name: value for name, value in self.settings.items() if name in RETRIEVER_SETTINGS}


def parse_configurations(given: Any, field: str = "configurations") -> list[Configuration]:
    """Parse one or two of `{"name", "settings"}`; without any, return the server's own settings.

    Raises InvalidInput, naming the field.
    """
    if given is None:
        return [Configuration("default", {})]
    if not isinstance(given, list) or not 1 <= len(given) <= MAX_CONFIGURATIONS:
        raise InvalidInput(f"{field} must be a list of one or two.", field=field)
    found = [_parse_configuration(one, f"{field}[{place}]") for place, one in enumerate(given)]
    if len({one.name for one in found}) < len(found):
        raise InvalidInput(f"{field} must have different names.", field=f"{field}[1].name")
    return found


def parse_settings(given: Mapping[str, Any], field: str) -> dict[str, Any]:
    """Parse the settings of one configuration. Raises InvalidInput, naming `field`.setting."""
    named = {f"{field}.{name}": value for name, value in given.items()}
    read: dict[str, Callable[[str], Any]] = {
        "mode": lambda name: _parse_choice(named, name, MODES),
        "top_k": lambda name: int_field(named, name, low=1, high=50, default=DEFAULT_TOP_K),
        "rerank": lambda name: bool_field(named, name, default=False),
        "rewrite": lambda name: bool_field(named, name, default=False),
        "threshold": lambda name: _parse_share(named, name),
        "rrf_k": lambda name: int_field(named, name, low=1, high=1000, default=60),
        "dense_weight": lambda name: _parse_share(named, name),
        "embedding_model": lambda name: text_field(named, name, max_chars=255),
    }
    for name in given:
        if name not in read:
            raise InvalidInput(f"{field} has no {name[:80]!r}; it may have {', '.join(read)}.", field=field)
    return {name: read[name](f"{field}.{name}") for name in read if name in given}


def _parse_configuration(given: Any, field: str) -> Configuration:
    if not isinstance(given, dict):
        raise InvalidInput(f"{field} must be an object with name and settings.", field=field)
    unknown = set(given) - {"name", "settings"}
    if unknown:
        raise InvalidInput(f"{field} has no {min(unknown)[:80]!r}, only name and settings.", field=field)
    settings = given.get("settings", {})
    if not isinstance(settings, dict):
        raise InvalidInput(f"{field}.settings must be an object.", field=f"{field}.settings")
    return Configuration(
        _parse_name(given.get("name"), f"{field}.name"), parse_settings(settings, f"{field}.settings")
    )


def _parse_name(value: Any, field: str) -> str:
    if not isinstance(value, str) or is_blank(value) or len(value) > MAX_NAME:
        raise InvalidInput(
            f"{field} must be a non-blank string of at most {MAX_NAME} characters.", field=field
        )
    return check_storable(value, field)


def _parse_choice(given: Mapping[str, Any], name: str, options: Sequence[str]) -> str:
    if given[name] not in options:
        raise InvalidInput(f"{name} must be one of {', '.join(options)}.", field=name)
    return str(given[name])


def _parse_share(given: Mapping[str, Any], name: str) -> float:
    value = given[name]
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise InvalidInput(f"{name} must be a number from 0 to 1.", field=name)
    return float(value)
