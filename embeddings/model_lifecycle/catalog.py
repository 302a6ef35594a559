"""The models that there are: found by name, counted, described, and added."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.db import IntegrityError

from embeddings.models import EmbeddingModel
from embeddings.registry import embedder_for, is_same_model
from embeddings.types import ModelSpec
from knowlex.base.errors import InvalidInput, KnowlexError, NotFound
from knowlex.db.threads import execute, with_retries
from knowlex.environment import LOCAL_MODELS
from knowlex.net.ollama import short_name
from knowlex.web.fields import check_storable

_COUNTS = """
    SELECT m.id,
        (SELECT count(*) FROM embeddings_embedding e WHERE e.model_id = m.id),
        (SELECT count(*) FROM documents_chunk),
        (SELECT count(*) FROM embeddings_embeddingrequest q WHERE q.model_id = m.id AND q.failed_at IS NULL),
        (SELECT count(*) FROM embeddings_embeddingrequest q
            WHERE q.model_id = m.id AND q.failed_at IS NOT NULL),
        (SELECT coalesce(min(q.error), '') FROM embeddings_embeddingrequest q
            WHERE q.model_id = m.id AND q.failed_at IS NOT NULL)
    FROM embeddings_embeddingmodel m WHERE %(model)s::int IS NULL OR m.id = %(model)s ORDER BY m.id
"""
_BYTES = """
    SELECT (SELECT coalesce(sum(pg_column_size(vector)), 0) FROM embeddings_embedding
            WHERE model_id = %(model)s)
        + (SELECT coalesce(sum(pg_column_size(vectors)), 0) FROM embeddings_sentencevectors
            WHERE model_id = %(model)s)
"""
_INDEX = "SELECT kind, serves FROM embeddings_vectorindex WHERE model_id = %s ORDER BY number DESC LIMIT 1"


class ModelConflict(KnowlexError):
    """The request cannot be met with the models as they are."""

    code, status = "CONFLICT", 409


@dataclass(frozen=True, slots=True)
class ModelCounts:
    """chunks: all that are stored. waiting: queued or in a worker's hands. reason: of one that failed."""

    vectors: int
    chunks: int
    waiting: int
    failed: int
    reason: str

    @property
    def missing(self) -> int:
        return max(0, self.chunks - self.vectors)


def find_model(name: str) -> EmbeddingModel:
    """Return the model; Ollama's may be named with the tag `latest`. Raises NotFound, naming those there
    are.
    """
    model = with_retries(EmbeddingModel.objects.filter(name__in={name, short_name(name)}).first)
    if model is None:
        names = ", ".join(with_retries(lambda: list(EmbeddingModel.objects.values_list("name", flat=True))))
        raise NotFound(f"There is no model {name!r}; there are: {names or 'none'}.")
    return model


def fetch_counts() -> dict[int, ModelCounts]:
    """Return the counts of all models, by their ids."""
    return {row[0]: ModelCounts(*row[1:]) for row in with_retries(lambda: execute(_COUNTS, {"model": None}))}


def fetch_counts_of(model_id: int) -> ModelCounts | None:
    """Return the model's counts; None if it is gone."""
    rows = with_retries(lambda: execute(_COUNTS, {"model": model_id}))
    return ModelCounts(*rows[0][1:]) if rows else None


def describe_state(model: EmbeddingModel, counts: ModelCounts, before: EmbeddingModel | None) -> str:
    """Return active, previous (what `rollback` goes back to), building, ready, idle (not kept up) or
    added.
    """
    if model.active:
        return "active"
    if not model.wanted:
        return "idle" if counts.vectors else "added"
    if counts.missing:
        return "building"
    return "previous" if model == before else "ready"


def measure_bytes(model_id: int) -> int:
    """Return the size of its vectors and those of sentences; reads through all of them."""
    return int(with_retries(lambda: execute(_BYTES, {"model": model_id}))[0][0])


def describe_index(model_id: int) -> str:
    """Describe its vector index in a word or two."""
    rows = with_retries(lambda: execute(_INDEX, [model_id]))
    if not rows:
        return "none"
    kind, serves = rows[0]
    return str(kind) if serves else f"{kind}, not used"


MAX_NAME, MAX_DIMENSIONS = 255, 16_000
SAMPLE = "One sentence shows whether the model can embed."
NOT_FOR = {"openai": {"path", "query_prefix", "passage_prefix"}, "ollama": {"path"}}


def parse_spec(
    name: str, *, provider: str | None = None, dimensions: int | None = None, options: dict[str, Any]
) -> ModelSpec:
    """Return the wanted model with its defaults filled in. options: of `registry.MODEL_OPTIONS`.

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
        name, options = short_name(name.strip()), _shorten_model(options)
    if dimensions is not None and not 1 <= dimensions <= MAX_DIMENSIONS:
        raise InvalidInput(f"--dimensions must be from 1 to {MAX_DIMENSIONS}.")
    row = {"provider": provider, "name": name.strip(), "dimensions": dimensions or 0, "options": options}
    return ModelSpec.of(row)


def _shorten_model(options: dict[str, Any]) -> dict[str, Any]:
    return options | ({"model": short_name(options["model"])} if "model" in options else {})


def find_or_add_local(name: str) -> EmbeddingModel:
    """Return the model; a local one that is known by its name is added first. Raises as both."""
    if name in LOCAL_MODELS and not with_retries(EmbeddingModel.objects.filter(name=name).exists):
        return add_model(parse_spec(name, options={}))[0]
    return find_model(name)


def add_model(spec: ModelSpec) -> tuple[EmbeddingModel, bool]:
    """Return the model's row, and whether it is new; it is not embedded with before it is built.

    Raises EmbedderError (it cannot be loaded or reached), InvalidInput, ModelConflict (a name is another's).
    """
    name = check_storable(spec.name, "name").strip()
    if not 0 < len(name) <= MAX_NAME:
        raise InvalidInput(f"A model's name has 1 to {MAX_NAME} characters.", field="name")
    dimensions = check_embedder(spec)
    if spec.dimensions and spec.dimensions != dimensions:
        raise InvalidInput(f"{spec.name} gives vectors of {dimensions} dimensions, not {spec.dimensions}.")
    values = {"provider": spec.provider, "dimensions": dimensions, "options": dict(spec.options)}
    try:
        model, is_new = with_retries(lambda: EmbeddingModel.objects.get_or_create(name=name, defaults=values))
    except IntegrityError as exc:
        raise ModelConflict(f"{name} is being added by somebody else.") from exc
    if not is_same_model(model.spec, spec):
        raise ModelConflict(f"There is another model of the name {name}: {model.spec}. Choose another name.")
    return model, is_new


def check_embedder(spec: ModelSpec) -> int:
    """Embed one text and return the size of its vector. Raises EmbedderError."""
    (vector,) = embedder_for(spec).embed([SAMPLE])
    return len(vector)
