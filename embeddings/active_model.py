"""The embedding model that is searched: the database names it, or at first the settings; and what to type."""

import time
from dataclasses import replace

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.db import transaction
from django.utils import timezone

from embeddings import queue
from embeddings.models import EmbeddingModel
from embeddings.registry import configured_model, embedder_for, is_same_model
from embeddings.types import ModelSpec
from knowlex.base.errors import EmbedderRejected
from knowlex.db.threads import with_retries
from knowlex.environment import FORMER_MODELS

COMMAND = "manage.py embedding_model"


def explain_mismatch(active: ModelSpec, named: ModelSpec) -> str:
    """Explain why nothing starts while the settings name another model than the one that is searched."""
    named = _name_apart(named, active)
    return (
        f"The stored vectors are of {active}, but the settings name {named}. Vectors of two models cannot be "
        f"searched together. To change to {named.name}: {commands_to_change(named)} "
        f"To go on with {active.name}: {settings_to_follow(active)}"
    )


def _name_apart(named: ModelSpec, active: ModelSpec) -> ModelSpec:
    """Return the named model; the same model in another size is kept under another name."""
    if named.name != active.name:
        return named
    options = tuple(sorted({**dict(named.options), "model": named.name}.items()))
    return replace(named, name=f"{named.name}-{named.dimensions}", options=options)


def commands_to_change(named: ModelSpec) -> str:
    """Return the commands, and say that nothing has to run for them."""
    return (
        f"`{COMMAND} add {arguments_to_add(named)}`, `{COMMAND} build {named.name}` and "
        f"`{COMMAND} activate {named.name}`; they run with these settings too."
    )


def arguments_to_add(named: ModelSpec) -> str:
    """Return the words that follow `add`."""
    words = [named.name, "--provider", named.provider]
    for name, value in named.options:
        words += [f"--{name.replace('_', '-')}", _quote(str(value))]
    return " ".join(words)


def settings_to_follow(active: ModelSpec) -> str:
    """Return how the environment names the model, or leaves it to the database."""
    return (
        f"set {environment_variables(active)}; or set none of KNOWLEX_EMBEDDER, KNOWLEX_EMBEDDING_MODEL, "
        "KNOWLEX_EMBEDDING_DIMENSIONS and OPENAI_API_KEY (which stands for KNOWLEX_EMBEDDER=openai): the "
        "active model is then used."
    )


def environment_variables(model: ModelSpec) -> str:
    """Return `NAME=value` for each variable that names the model."""
    options = dict(model.options)
    name = options.get("path") or options.get("model") or model.name
    values = {"KNOWLEX_EMBEDDER": model.provider, "KNOWLEX_EMBEDDING_MODEL": name}
    if model.provider != "local" and "dimensions" in options:
        values["KNOWLEX_EMBEDDING_DIMENSIONS"] = options["dimensions"]
    return " ".join(f"{variable}={_quote(str(value))}" for variable, value in values.items())


def _quote(value: str) -> str:
    return f'"{value}"' if not value or " " in value else value


NAME_KEPT_S = 1.0


def active_model() -> EmbeddingModel:
    """Return the active row; before anything was ever embedded, the configured model becomes it.

    dimensions is 0 until the first vector tells, where neither provider nor settings fix it.
    Raises DatabaseUnavailable, ImproperlyConfigured.
    """
    return with_retries(EmbeddingModel.objects.active().first) or with_retries(_take_configured)


class ActiveModel:
    """The part EMBEDDING_MODEL. A list asks it once for each collection, so it looks once a second only."""

    def __init__(self) -> None:
        self._name, self._looked_at = "", float("-inf")

    def name(self) -> str:
        if time.monotonic() - self._looked_at > NAME_KEPT_S:
            row = with_retries(EmbeddingModel.objects.active().first)
            self._name, self._looked_at = (row.spec if row else configured_model()).name, time.monotonic()
        return self._name


def ensure_model_matches() -> None:
    """Check at the start of `up` and of a worker, and make the configured model active where it is to be.

    Raises what `agreed_model` does.
    """
    configured = configured_model()
    if is_same_model(agreed_model(configured), configured):
        with_retries(_take_configured)


def agreed_model(configured: ModelSpec) -> ModelSpec:
    """Return the model that is searched, or will be; settings that name no model follow the active one.

    Raises ImproperlyConfigured, saying what to type, if they name another one than the active one that has
    vectors, or if the active one cannot be used here.
    """
    active = with_retries(EmbeddingModel.objects.active().first)
    if active is None:
        return configured
    if is_same_model(active.spec, configured):
        return active.spec
    if not with_retries(active.embeddings.exists):
        return configured if settings.EMBEDDER_CHOSEN or not _is_usable(active.spec) else active.spec
    if settings.EMBEDDER_CHOSEN:
        raise ImproperlyConfigured(explain_mismatch(active.spec, configured))
    _check_usable(active.spec)
    return active.spec


def describe_former_model() -> str:
    """Return what to type where the active model's vectors are of an earlier release, else ""."""
    active = with_retries(EmbeddingModel.objects.active().first)
    successor = FORMER_MODELS.get(active.name) if active else None
    if active is None or successor is None:
        return ""
    return (
        f"The stored vectors are of {successor} as an earlier release made them, and are searched as "
        f"{active.name}. For its present ones: `{COMMAND} build {successor}`, "
        f"`{COMMAND} activate {successor}`, `{COMMAND} remove {active.name}`."
    )


def learn_dimensions(model: EmbeddingModel, dimensions: int) -> bool:
    """Fix the model's size by its first vectors; False if they are of another size. In a transaction."""
    if model.dimensions == 0:
        EmbeddingModel.objects.filter(pk=model.pk, dimensions=0).update(dimensions=dimensions)
        model.refresh_from_db(fields=["dimensions"])
    return model.dimensions == dimensions


def _is_usable(model: ModelSpec) -> bool:
    try:
        embedder_for(model)
    except EmbedderRejected:
        return False
    return True


def _check_usable(model: ModelSpec) -> None:
    try:
        embedder_for(model)
    except EmbedderRejected as exc:
        raise ImproperlyConfigured(f"The stored vectors are of {model}. {exc.message}") from exc


@transaction.atomic
def _take_configured() -> EmbeddingModel:
    """Make the configured model active; what was active before has no vectors, and goes."""
    queue.lock(queue.MODEL_LOCK)
    spec = configured_model()
    # The active one first: it stays, though another row be of the same model under another name.
    rows = list(EmbeddingModel.objects.select_for_update(no_key=True).order_by("-active", "id"))
    model = next((row for row in rows if is_same_model(row.spec, spec)), None)
    for other in rows:
        if other != model and (other.active or other.name == spec.name):
            _retire(other, spec)
    return _save_as_active(model or EmbeddingModel(name=spec.name, provider=spec.provider), spec)


def _save_as_active(model: EmbeddingModel, spec: ModelSpec) -> EmbeddingModel:
    model.options = model.options or dict(spec.options)
    model.dimensions = model.dimensions or spec.dimensions
    model.active = model.wanted = True
    model.activated_at = model.activated_at or timezone.now()
    model.save()
    return model


def _retire(other: EmbeddingModel, spec: ModelSpec) -> None:
    """Delete the other model and the requests to it: the sweep asks the new one."""
    if other.embeddings.exists():
        raise ImproperlyConfigured(explain_mismatch(other.spec, spec))
    other.delete()
