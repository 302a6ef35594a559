"""The settings of collections and ingest jobs: their names, limits and defaults."""

from collections.abc import Mapping
from typing import Annotated, Any

from django.conf import settings
from pydantic import ConfigDict, WithJsonSchema, model_validator

from documents.protocols import ActiveEmbeddingModel
from documents.types import STRATEGIES, ChunkingSettings, Strategy
from knowlex.base.errors import InvalidInput, Unprocessable
from knowlex.runtime.components import component
from knowlex.web.fields import check_storable
from knowlex.web.openapi import SchemaGenerator
from knowlex.web.shapes import InputShape, Omittable, Rule, choice, integer, number, parse

MIN_SIZE, MAX_SIZE = 20, 512
MAX_PRINCIPALS, MAX_PRINCIPAL_CHARS = 1000, 255
_ATTRIBUTES = {
    "chunking_strategy": "strategy",
    "chunk_size": "size",
    "chunk_overlap": "overlap",
    "similarity_threshold": "similarity_threshold",
    "min_chunk_size": "min_size",
}


def _at_most(limit: int, low: int, words: str) -> Rule:
    return Rule(integer(low, limit).check, {"type": "integer", "minimum": low, "description": words})


def _check_model(value: Any) -> str:
    if value != get_embedding_model():
        raise ValueError(f"must be {get_embedding_model()}, the model that this server searches with")
    return str(value)


def _check_names(value: Any) -> list[str]:
    if (
        not isinstance(value, list)
        or len(value) > MAX_PRINCIPALS
        or not all(isinstance(name, str) and 0 < len(name) <= MAX_PRINCIPAL_CHARS for name in value)
    ):
        raise ValueError(f"must be a list of at most {MAX_PRINCIPALS} strings")
    return value


class Permissions(InputShape):
    visibility: Annotated[str, choice("public", "private", "restricted")] = "public"
    allowed_users: Annotated[list[str], Rule(_check_names, {})] = []
    allowed_groups: Annotated[list[str], Rule(_check_names, {})] = []

    @model_validator(mode="before")
    @classmethod
    def _refuse_others(cls, given: Any) -> Any:
        if isinstance(given, dict) and not set(given) <= set(cls.model_fields):
            raise ValueError("takes visibility, allowed_users and allowed_groups only")
        return given


class WithoutPermissions(InputShape):
    """A request that cannot close what it brings: only the collection's `default_permissions` can."""

    @model_validator(mode="before")
    @classmethod
    def _refuse_permissions(cls, given: Any) -> Any:
        refuse_permissions(given)
        return given


def refuse_permissions(given: Any, place: str = "") -> None:
    """Raise Unprocessable for permissions that are not plainly public: whoever sent them relies on them.

    place: of the object, as errors name it, for example `documents[2].`.
    """
    for name in ("permissions", "default_permissions") if isinstance(given, Mapping) else ():
        asked = given.get(name) or {}
        if asked and not (isinstance(asked, Mapping) and asked.get("visibility") == "public"):
            raise Unprocessable(
                f"{place}{name} cannot be obeyed here; a collection's settings.default_permissions can.",
                field=f"{place}{name}",
            )


class ChunkingFields(InputShape):
    """The settings of a job."""

    model_config = ConfigDict(extra="forbid")

    chunking_strategy: Omittable[Annotated[Strategy, choice(*STRATEGIES)]] = None
    chunk_size: Omittable[Annotated[int, integer(MIN_SIZE, MAX_SIZE)]] = None
    chunk_overlap: Omittable[Annotated[int, _at_most(MAX_SIZE // 2, 0, "At most half of chunk_size.")]] = None
    similarity_threshold: Omittable[Annotated[float, number(0, 1)]] = None
    min_chunk_size: Omittable[Annotated[int, _at_most(MAX_SIZE, 1, "At most chunk_size.")]] = None

    @model_validator(mode="before")
    @classmethod
    def _refuse_others(cls, given: dict[str, Any]) -> dict[str, Any]:
        for name in given:
            if name not in cls.model_fields:
                check_storable(name, "settings")
                raise _invalid_setting(
                    name[:100], f"is not a setting; there are {', '.join(cls.model_fields)}"
                )
        return given


class CollectionFields(ChunkingFields):
    """The settings of a collection."""

    embedding_model: Omittable[Annotated[str, Rule(_check_model, {"type": "string"})]] = None
    default_permissions: Annotated[
        Omittable[Permissions], WithJsonSchema({"type": "object", "additionalProperties": True})
    ] = None


def settings_schema(shape: type[ChunkingFields]) -> dict[str, Any]:
    """Return how /api/schema describes the settings where they stand in a request."""
    schema = shape.model_json_schema(schema_generator=SchemaGenerator)
    return {name: value for name, value in schema.items() if name not in ("description", "$defs")}


def check_settings(given: Any, shape: type[ChunkingFields]) -> dict[str, Any]:
    """Return the settings as given if each is known and within its limits.

    Raises InvalidInput for `settings` or, say, `settings.chunk_size`.
    """
    if not isinstance(given, Mapping):
        raise InvalidInput("settings must be an object.", field="settings")
    parse(shape, dict(given), within="settings")
    return {**given, **_complete_permissions(given)}


def _complete_permissions(given: Mapping[str, Any]) -> dict[str, Any]:
    """Say `restricted` where readers are named and no visibility is."""
    permissions = given.get("default_permissions") or {}
    names = [*permissions.get("allowed_users", ()), *permissions.get("allowed_groups", ())]
    if not names or "visibility" in permissions:
        return {}
    return {"default_permissions": {"visibility": "restricted", **permissions}}


def merge_settings(base: ChunkingSettings, given: Mapping[str, Any]) -> ChunkingSettings:
    """Return `base` with the given settings in place of its own.

    An overlap and a minimum that are not given shrink with a small size; given ones that do not fit it raise
    InvalidInput.
    """
    values = {attribute: given.get(name, getattr(base, attribute)) for name, attribute in _ATTRIBUTES.items()}
    size = values["size"]
    for name, limit in (("chunk_overlap", size // 2), ("min_chunk_size", size)):
        if name in given and given[name] > limit:
            raise _invalid_setting(name, f"must be at most {limit} where chunk_size is {size}")
        values[_ATTRIBUTES[name]] = min(values[_ATTRIBUTES[name]], limit)
    return ChunkingSettings(**values)


def default_chunking() -> ChunkingSettings:
    """Return how documents are split where neither the job nor the collection says it."""
    chunking: ChunkingSettings = settings.CHUNKING
    return chunking


def read_chunking(stored: Mapping[str, Any]) -> ChunkingSettings:
    """Return a collection's chunking; what its settings lack is the server's default."""
    own = {name: value for name, value in stored.items() if name in ChunkingFields.model_fields}
    return merge_settings(default_chunking(), own) if own else default_chunking()


def to_client_names(chunking: ChunkingSettings) -> dict[str, Any]:
    """Return chunking settings under the names that clients use."""
    return {name: getattr(chunking, attribute) for name, attribute in _ATTRIBUTES.items()}


def job_settings_by_name(stored: Mapping[str, Any]) -> dict[str, Any]:
    """Return a job's chunking under clients' names; it is stored under ChunkingSettings' own."""
    return to_client_names(ChunkingSettings(**stored)) if stored else {}


def get_embedding_model() -> str:
    """Return the name of the active model, with which all collections are embedded."""
    return component("EMBEDDING_MODEL", ActiveEmbeddingModel).name()


def _invalid_setting(name: str, rule: str) -> InvalidInput:
    return InvalidInput(f"settings.{name} {rule}.", field=f"settings.{name}")
