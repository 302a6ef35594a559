"""The models that there are, by name, and how far each of them is."""

from dataclasses import dataclass

from embeddings.models import EmbeddingModel
from knowlex.base.errors import KnowlexError, NotFound
from knowlex.db.threads import execute, with_retries
from knowlex.net.ollama import short_name

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
    """What is asked for cannot be done with the models as they are."""

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
    """Ollama's may be named with the tag `latest`. Raises NotFound, naming those that there are."""
    model = with_retries(EmbeddingModel.objects.filter(name__in={name, short_name(name)}).first)
    if model is None:
        names = ", ".join(with_retries(lambda: list(EmbeddingModel.objects.values_list("name", flat=True))))
        raise NotFound(f"There is no model {name!r}; there are: {names or 'none'}.")
    return model


def fetch_counts() -> dict[int, ModelCounts]:
    """Of all models, by their ids."""
    return {row[0]: ModelCounts(*row[1:]) for row in with_retries(lambda: execute(_COUNTS, {"model": None}))}


def fetch_counts_of(model_id: int) -> ModelCounts | None:
    """None if the model is gone."""
    rows = with_retries(lambda: execute(_COUNTS, {"model": model_id}))
    return ModelCounts(*rows[0][1:]) if rows else None


def describe_state(model: EmbeddingModel, held: ModelCounts, before: EmbeddingModel | None) -> str:
    """active; previous (what `rollback` goes back to); building; ready; idle (not kept up); added."""
    if model.active:
        return "active"
    if not model.wanted:
        return "idle" if held.vectors else "added"
    if held.missing:
        return "building"
    return "previous" if model == before else "ready"


def measure_bytes(model_id: int) -> int:
    """Of its vectors and those of sentences; reads through all of them."""
    return int(with_retries(lambda: execute(_BYTES, {"model": model_id}))[0][0])


def describe_index(model_id: int) -> str:
    """Its vector index in a word or two."""
    rows = with_retries(lambda: execute(_INDEX, [model_id]))
    if not rows:
        return "none"
    kind, serves = rows[0]
    return str(kind) if serves else f"{kind}, not used"
