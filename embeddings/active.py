"""Which model's vectors are written and searched: the one that the settings name, never two mixed."""

from typing import Any

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.db import transaction
from django.utils import timezone

from embeddings import queue
from embeddings.models import EmbeddingModel
from embeddings.protocols import Embedder
from knowlex.common.components import component
from knowlex.common.database import with_retries
from knowlex.common.errors import EmbedderRejected


class ModelMismatch(EmbedderRejected):
    """The stored vectors are of another model than the one that the settings name."""


def provider() -> str:
    """ "local", "openai": the module of the configured embedder."""
    spec: dict[str, Any] = settings.KNOWLEX["EMBEDDER"]
    return str(spec["class"]).split(".")[-2]


def active_model() -> EmbeddingModel:
    """The row of the configured embedder, made active on first use. Raises ModelMismatch.

    dimensions is 0 until the first vector tells, where neither provider nor settings fix it.
    """
    embedder = component("EMBEDDER", Embedder)
    model = with_retries(EmbeddingModel.objects.active().first)
    if model is not None and _fits(model, embedder):
        return model
    return with_retries(lambda: _activate(embedder))


def ensure_model_matches() -> None:
    """For the start of `up` and of a worker. Raises ImproperlyConfigured if vectors would be mixed."""
    try:
        active_model()
    except ModelMismatch as exc:
        raise ImproperlyConfigured(exc.message) from exc


def learn_dimensions(model: EmbeddingModel, dimensions: int) -> bool:
    """Fix the model's size by its first vectors; False if they are of another size. In a transaction."""
    if model.dimensions == 0:
        EmbeddingModel.objects.filter(pk=model.pk, dimensions=0).update(dimensions=dimensions)
        model.refresh_from_db(fields=["dimensions"])
    return model.dimensions == dimensions


def _fits(model: EmbeddingModel, embedder: Embedder) -> bool:
    same_size = not model.dimensions or embedder.dimensions in (None, model.dimensions)
    return model.name == embedder.model_name and model.provider == provider() and same_size


@transaction.atomic
def _activate(embedder: Embedder) -> EmbeddingModel:
    queue.lock(queue.MODEL_LOCK)
    rows = EmbeddingModel.objects.select_for_update()
    for other in rows.all():
        if not _fits(other, embedder) and (other.active or other.name == embedder.model_name):
            _retire(other, embedder)
    model, _ = rows.get_or_create(
        name=embedder.model_name,
        defaults={"provider": provider(), "dimensions": embedder.dimensions or 0},
    )
    model.active = model.wanted = True
    model.activated_at = model.activated_at or timezone.now()
    model.dimensions = model.dimensions or embedder.dimensions or 0
    model.save(update_fields=["active", "wanted", "activated_at", "dimensions"])
    return model


def _retire(other: EmbeddingModel, embedder: Embedder) -> None:
    """A model without vectors goes with what was asked of it; one with vectors is not given up silently."""
    if other.embeddings.exists():
        raise ModelMismatch(
            f"The stored vectors are of {_described(other.name, other.provider, other.dimensions)}, but the "
            f"settings name {_described(embedder.model_name, provider(), embedder.dimensions)}. Vectors of "
            "two models cannot be searched together: set KNOWLEX_EMBEDDER, KNOWLEX_EMBEDDING_MODEL and "
            "KNOWLEX_EMBEDDING_DIMENSIONS back, or use a new data folder or database."
        )
    other.delete()


def _described(name: str, of: str, dimensions: int | None) -> str:
    return f"{name} ({of}{f', {dimensions} dimensions' if dimensions else ''})"
