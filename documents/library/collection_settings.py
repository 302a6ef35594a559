"""The settings of collections and ingest jobs: their names, limits and defaults."""

from collections.abc import Collection as Group
from collections.abc import Mapping
from typing import Any

from django.conf import settings

from documents.protocols import ActiveEmbeddingModel
from documents.types import STRATEGIES, ChunkingSettings
from knowlex.base.errors import InvalidInput
from knowlex.runtime.components import component
from knowlex.web.fields import check_storable

CHUNKING_NAMES = (
    "chunking_strategy",
    "chunk_size",
    "chunk_overlap",
    "similarity_threshold",
    "min_chunk_size",
)
COLLECTION_NAMES = (*CHUNKING_NAMES, "embedding_model", "default_permissions")
MIN_SIZE, MAX_SIZE = 20, 512
VISIBILITIES = ("public", "private", "restricted")
MAX_PRINCIPALS, MAX_PRINCIPAL_CHARS = 1000, 255
CHUNKING_PROPERTIES = {
    "chunking_strategy": {"type": "string", "enum": ["fixed", "sentence", "semantic"]},
    "chunk_size": {"type": "integer", "minimum": MIN_SIZE, "maximum": MAX_SIZE},
    "chunk_overlap": {"type": "integer", "minimum": 0, "description": "At most half of chunk_size."},
    "similarity_threshold": {"type": "number", "minimum": 0, "maximum": 1},
    "min_chunk_size": {"type": "integer", "minimum": 1, "description": "At most chunk_size."},
}
CHUNKING_SCHEMA = {"type": "object", "properties": CHUNKING_PROPERTIES, "additionalProperties": False}
_ATTRIBUTES = {
    "chunking_strategy": "strategy",
    "chunk_size": "size",
    "chunk_overlap": "overlap",
    "similarity_threshold": "similarity_threshold",
    "min_chunk_size": "min_size",
}


def check_settings(given: Any, names: Group[str]) -> dict[str, Any]:
    """Return the settings as given if each is known and within its limits.

    names: those that may be given. Raises InvalidInput for `settings` or, say, `settings.chunk_size`.
    """
    if not isinstance(given, Mapping):
        raise InvalidInput("settings must be an object.", field="settings")
    for name in given:
        if name not in names:
            check_storable(name, "settings")
            raise _invalid_setting(name[:100], f"is not a setting; there are {', '.join(names)}")
    for name, value in given.items():
        _CHECKS[name](name, value)
    return dict(given)


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
    own = {name: value for name, value in stored.items() if name in CHUNKING_NAMES}
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


def _check_strategy(name: str, value: Any) -> None:
    if value not in STRATEGIES:
        raise _invalid_setting(name, f"must be one of {', '.join(STRATEGIES)}")


def _integer_check(low: int, high: int) -> Any:
    def check(name: str, value: Any) -> None:
        if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
            raise _invalid_setting(name, f"must be an integer from {low} to {high}")

    return check


def _check_threshold(name: str, value: Any) -> None:
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 <= value <= 1:
        raise _invalid_setting(name, "must be a number from 0 to 1")


def _check_model(name: str, value: Any) -> None:
    if value != get_embedding_model():
        raise _invalid_setting(
            name, f"must be {get_embedding_model()}, the model that this server searches with"
        )


def _check_permissions(name: str, value: Any) -> None:
    if not isinstance(value, dict):
        raise _invalid_setting(name, "must be an object")
    for key, entry in value.items():
        if key == "visibility":
            if entry not in VISIBILITIES:
                raise _invalid_setting(f"{name}.visibility", f"must be one of {', '.join(VISIBILITIES)}")
        elif key not in ("allowed_users", "allowed_groups"):
            raise _invalid_setting(name, "takes visibility, allowed_users and allowed_groups only")
        elif not _is_list_of_names(entry):
            raise _invalid_setting(f"{name}.{key}", f"must be a list of at most {MAX_PRINCIPALS} strings")


def _is_list_of_names(value: Any) -> bool:
    return (
        isinstance(value, list)
        and len(value) <= MAX_PRINCIPALS
        and all(isinstance(item, str) and 0 < len(item) <= MAX_PRINCIPAL_CHARS for item in value)
    )


def _invalid_setting(name: str, rule: str) -> InvalidInput:
    return InvalidInput(f"settings.{name} {rule}.", field=f"settings.{name}")


_CHECKS: dict[str, Any] = {
    "chunking_strategy": _check_strategy,
    "chunk_size": _integer_check(MIN_SIZE, MAX_SIZE),
    "chunk_overlap": _integer_check(0, MAX_SIZE // 2),
    "similarity_threshold": _check_threshold,
    "min_chunk_size": _integer_check(1, MAX_SIZE),
    "embedding_model": _check_model,
    "default_permissions": _check_permissions,
}
