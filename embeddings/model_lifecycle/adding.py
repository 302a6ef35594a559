"""A further model: its row is made when it has shown that it can embed."""

from pathlib import Path
from typing import Any

from django.db import IntegrityError

from embeddings.model_lifecycle.listing import ModelConflict
from embeddings.model_lifecycle.registry import embedder_for, is_same_model
from embeddings.models import EmbeddingModel
from embeddings.types import ModelSpec
from knowlex.base.errors import InvalidInput
from knowlex.db.threads import with_retries
from knowlex.net.ollama import short_name
from knowlex.web.fields import check_storable

MAX_NAME, MAX_DIMENSIONS = 255, 16_000
SAMPLE = "One sentence shows whether the model can embed."
NOT_FOR = {"openai": {"path", "query_prefix", "passage_prefix"}, "ollama": {"path"}}


def parse_spec(
    name: str, *, provider: str | None = None, dimensions: int | None = None, options: dict[str, Any]
) -> ModelSpec:
    """What is asked for, with what goes without saying. options: of `registry.MODEL_OPTIONS`.

    Raises InvalidInput for what does not go together.
    """
    provider = provider or ("openai" if name.startswith("text-embedding-") else "local")
    if provider == "local":
        options = {key: value for key, value in options.items() if key != "dimensions"}
        if path := options.get("path"):
            options["path"] = str(Path(path).expanduser().resolve())
    elif wrong := sorted(NOT_FOR[provider] & options.keys()):
        whose = "local models only" if wrong[0] == "path" else "local models and Ollama's only"
        raise InvalidInput(f"--{wrong[0].replace('_', '-')} is for {whose}.")
    if provider == "ollama":
        name, options = short_name(name.strip()), _short(options)
    if dimensions is not None and not 1 <= dimensions <= MAX_DIMENSIONS:
        raise InvalidInput(f"--dimensions must be from 1 to {MAX_DIMENSIONS}.")
    row = {"provider": provider, "name": name.strip(), "dimensions": dimensions or 0, "options": options}
    return ModelSpec.of(row)


def _short(options: dict[str, Any]) -> dict[str, Any]:
    return options | ({"model": short_name(options["model"])} if "model" in options else {})


def add_model(spec: ModelSpec) -> tuple[EmbeddingModel, bool]:
    """The model's row, and whether it is new; it is not embedded with before it is built.

    Raises EmbedderError (it cannot be loaded or reached), InvalidInput, ModelInTheWay (a name is another's).
    """
    name = check_storable(spec.name, "name").strip()
    if not 0 < len(name) <= MAX_NAME:
        raise InvalidInput(f"A model's name has 1 to {MAX_NAME} characters.", field="name")
    dimensions = check_embedder(spec)
    if spec.dimensions and spec.dimensions != dimensions:
        raise InvalidInput(
            f"{spec.name} gives vectors of {dimensions} dimensions, not {spec.dimensions}."
        )
    values = {"provider": spec.provider, "dimensions": dimensions, "options": dict(spec.options)}
    try:
        model, is_new = with_retries(lambda: EmbeddingModel.objects.get_or_create(name=name, defaults=values))
    except IntegrityError as exc:
        raise ModelConflict(f"{name} is being added by somebody else.") from exc
    if not is_same_model(model.spec, spec):
        raise ModelConflict(f"There is another model of the name {name}: {model.spec}. Choose another name.")
    return model, is_new


def check_embedder(spec: ModelSpec) -> int:
    """Embeds one text; the size of its vector. Raises EmbedderError."""
    (vector,) = embedder_for(spec).embed([SAMPLE])
    return len(vector)
