"""How the questions of a set are asked: one or two configurations, compared with each other.

All of it goes into the question that the pipeline gets, or into a retriever of the configuration's own:
nothing of a running server is changed.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, Final, get_args
from uuid import UUID

from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field, model_validator

from knowlex.base.errors import InvalidInput
from knowlex.web.fields import is_blank
from knowlex.web.shapes import (
    InputShape,
    Omittable,
    Rule,
    check_characters,
    choice,
    integer,
    number,
    text,
)
from rag.types.question import Mode, Question

MAX_NAME = 100
MAX_CONFIGURATIONS = 2
DEFAULT_TOP_K = 10
RETRIEVER_SETTINGS: Final = ("rrf_k", "dense_weight", "embedding_model")
MODES: Final = get_args(Mode)


@dataclass(frozen=True, slots=True)
class Configuration:
    """settings: those that were given, checked: mode, top_k, rerank, rewrite, threshold, rrf_k, dense_weight,
    embedding_model.
    """

    name: str
    settings: Mapping[str, Any]

    def question(self, text: str, collection_ids: Sequence[UUID], *, threshold: float) -> Question:
        """threshold: the server's, for where the configuration names none."""
        given = {name: value for name, value in self.settings.items() if name not in RETRIEVER_SETTINGS}
        plain = Question(text, tuple(collection_ids), top_k=given.pop("top_k", DEFAULT_TOP_K))
        return replace(plain, min_relevance=given.pop("threshold", threshold), **given)

    @property
    def retriever(self) -> dict[str, Any]:
        """Options of its retriever besides those that the server is configured with."""
        return {name: value for name, value in self.settings.items() if name in RETRIEVER_SETTINGS}


class EvaluationSettings(InputShape):
    model_config = ConfigDict(extra="forbid")

    mode: Omittable[Annotated[str, choice(*MODES)]] = None
    top_k: Annotated[int, integer(1, 50)] = DEFAULT_TOP_K
    rerank: Omittable[bool] = None
    rewrite: Omittable[bool] = None
    threshold: Omittable[Annotated[float, number(0, 1)]] = None
    rrf_k: Omittable[Annotated[int, integer(1, 1000)]] = None
    dense_weight: Omittable[Annotated[float, number(0, 1)]] = None
    embedding_model: Annotated[
        Omittable[Annotated[str, Rule(text(255).check, {"type": "string"})]],
        Field(description="One that is stored; the active one, unless given."),
    ] = None

    @model_validator(mode="before")
    @classmethod
    def _check_names(cls, given: Any) -> Any:
        for name in given if isinstance(given, dict) else ():
            if name not in cls.model_fields:
                raise ValueError(f"has no {name[:80]!r}; it may have {', '.join(cls.model_fields)}")
        return given


def _check_name(value: Any) -> str:
    if not isinstance(value, str) or is_blank(value) or len(value) > MAX_NAME:
        raise ValueError(f"must be a non-blank string of at most {MAX_NAME} characters")
    return check_characters(value)


class NewConfiguration(InputShape):
    name: Annotated[str, Rule(_check_name, {"type": "string", "maxLength": MAX_NAME})]
    settings: EvaluationSettings = EvaluationSettings()

    @model_validator(mode="before")
    @classmethod
    def _check_names(cls, given: Any) -> Any:
        if not isinstance(given, dict):
            raise ValueError("must be an object with name and settings")
        unknown = set(given) - set(cls.model_fields)
        if unknown:
            raise ValueError(f"has no {min(unknown)[:80]!r}, only name and settings")
        return {"name": None, **given}


def _one_or_two(given: Any) -> Any:
    """Return what is given; without any, the server's own settings."""
    if given is None:
        return [{"name": "default"}]
    if not isinstance(given, list) or not 1 <= len(given) <= MAX_CONFIGURATIONS:
        raise ValueError("must be a list of one or two")
    return given


def _check_different(given: list[NewConfiguration]) -> list[NewConfiguration]:
    if len({one.name for one in given}) < len(given):
        raise InvalidInput("configurations must have different names.", field="configurations[1].name")
    return given


class ConfigurationList(InputShape):
    configurations: Annotated[
        list[NewConfiguration],
        BeforeValidator(_one_or_two),
        AfterValidator(_check_different),
        Field(validate_default=True),
    ] = None  # type: ignore[assignment]

    def read(self) -> list[Configuration]:
        """Return them with the settings that were given."""
        return [
            Configuration(given.name, given.settings.model_dump(exclude_unset=True))
            for given in self.configurations
        ]
