"""The one embedder for each model in this process, whichever models settings and database name."""

from typing import Any

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.utils.module_loading import import_string

from embeddings.protocols import Embedder
from embeddings.types import ModelSpec
from knowlex.base.errors import EmbedderRejected
from knowlex.net import ollama
from knowlex.runtime.components import component, kept

# What makes another model of it. model: the provider's own name for it, where it is kept under another one.
MODEL_OPTIONS = ("dimensions", "model", "path", "query_prefix", "passage_prefix")


def embedder_for(model: ModelSpec) -> Embedder:
    """Build it on first use and keep it; the part EMBEDDER itself where the settings name this very model.

    Raises EmbedderRejected, saying what is missing, if it cannot be built.
    """
    try:
        if _is_configured(model):
            return component("EMBEDDER", Embedder)
        key = ("EMBEDDER", model.provider, model.name, model.options)
        return kept(key, lambda: _build(model))
    except (ImproperlyConfigured, ImportError, TypeError, ValueError, OSError) as exc:
        raise EmbedderRejected(f"The embedding model {model} cannot be used: {exc}") from exc


def _is_configured(model: ModelSpec) -> bool:
    try:
        return is_same_model(model, configured_model())
    except ImproperlyConfigured:  # that is no reason why another could not be built
        return False


def configured_model() -> ModelSpec:
    """Return the model that the settings name. Raises ImproperlyConfigured."""
    embedder = component("EMBEDDER", Embedder)
    given = settings.KNOWLEX["EMBEDDER"].get("options", {})
    options = {name: given[name] for name in MODEL_OPTIONS if given.get(name) is not None}
    return ModelSpec.of(
        {
            "provider": configured_provider(),
            "name": embedder.model_name,
            "dimensions": embedder.dimensions or 0,
            "options": options,
        }
    )


def configured_provider() -> str:
    """Return "local", "openai" or "ollama", of the configured embedder."""
    spec: dict[str, Any] = settings.KNOWLEX["EMBEDDER"]
    return str(spec.get("provider") or spec["class"].split(".")[-2])


def is_same_model(model: ModelSpec, other: ModelSpec) -> bool:
    """Return whether both make the same vectors, as far as is known: an unknown size agrees with any."""
    sizes = {model.dimensions, other.dimensions} - {0}
    return (
        (model.provider, _identifier(model)) == (other.provider, _identifier(other))
        and len(sizes) < 2
        and _prefixes(model) == _prefixes(other)
    )


def _identifier(model: ModelSpec) -> str:
    """Return its folder, which is a model by itself whatever its name, or the server's name with its tag."""
    identifier = str(dict(model.options).get("path") or server_name(model))
    return ollama.full_name(identifier) if model.provider == "ollama" else identifier


def server_name(model: ModelSpec) -> str:
    """Return what its provider calls it."""
    return str(dict(model.options).get("model") or model.name)


def _prefixes(model: ModelSpec) -> dict[str, Any]:
    return {name: value for name, value in model.options if name.endswith("_prefix")}


def _build(model: ModelSpec) -> Embedder:
    """Build it with the settings' connection options and the model's own options."""
    options = dict(model.options)
    options["model_name"] = options.pop("model", model.name)
    built: Embedder = import_string(_part(model.provider)["class"])(**connection_options(model) | options)
    return built


def is_remote(model: ModelSpec) -> bool:
    """Return whether a server has it, and not this process."""
    return bool({"base_url", "host"} & connection_options(model).keys())


def is_paid(model: ModelSpec) -> bool:
    """Return whether its tokens cost money, so that they are counted and a day's may be spent."""
    return model.provider == "openai"


def is_ollama(model: ModelSpec) -> bool:
    return "host" in connection_options(model)


def connection_options(model: ModelSpec) -> dict[str, Any]:
    """Return what the settings say of the model's provider: keys, addresses, times."""
    options = _part(model.provider).get("options", {})
    return {name: value for name, value in options.items() if name not in MODEL_OPTIONS}


def _part(name: str) -> dict[str, Any]:
    try:
        return settings.KNOWLEX["EMBEDDER"] if name == configured_provider() else settings.EMBEDDERS[name]
    except KeyError:
        raise ValueError(f"there is no provider named {name!r}") from None
