"""The vectors of questions that were asked before: in this process, then in Valkey, else from the model.

Each is of one state of what it is searched in: what a model is called says little, since a folder's files, an
Ollama tag or a server's address may come to stand for other weights; documents embedded by those change the
state, and questions follow at once.
"""

import json
from collections import OrderedDict
from collections.abc import Awaitable, Callable

import numpy as np

from embeddings.types import ModelSpec, Vector
from knowlex.runtime import cache

KEPT = 1000  # in the process
TTL_S = 24 * 3600  # in Valkey
KIND = "question_vector"
_VERSION = 1

_vectors: OrderedDict[str, Vector] = OrderedDict()


async def question_vector(
    text: str, model: ModelSpec, state: str, embed: Callable[[], Awaitable[Vector]]
) -> Vector:
    """Return what `embed` gives for this text by this model, whose dimensions are known; raise what it
    raises.

    state: of what is searched; "" if unknown: then it is always embedded. Nobody may write into the vector.
    """
    if not state or not cache.enabled():
        return await embed()
    key = _key(text, model, state)
    vector = _recall(key)
    if vector is None:
        vector = await _fetch_shared(key, model.dimensions)
    cache.count(KIND, hit=vector is not None)
    if vector is None:
        vector = await embed()
        if _is_sound(vector, model.dimensions):
            _remember(key, vector)
            cache.shared.put(KIND, key, vector.astype("<f4").tobytes, TTL_S)
        return vector
    _remember(key, vector)
    return vector


def forget() -> None:
    """Forget what this process keeps."""
    _vectors.clear()


def _key(text: str, model: ModelSpec, state: str) -> str:
    return json.dumps([_VERSION, model.provider, model.name, model.dimensions, model.options, state, text])


def _recall(key: str) -> Vector | None:
    vector = _vectors.get(key)
    if vector is not None:
        _vectors.move_to_end(key)
    return vector


def _remember(key: str, vector: Vector) -> None:
    _vectors[key] = vector
    if len(_vectors) > KEPT:
        _vectors.popitem(last=False)


async def _fetch_shared(key: str, dimensions: int) -> Vector | None:
    """Fetch the vector from Valkey; return None for a value that is no such vector, too."""
    value = await cache.shared.get(KIND, key)
    if value is None or len(value) != 4 * dimensions:
        return None
    vector = np.frombuffer(value, "<f4").astype(np.float32)
    return vector if _is_sound(vector, dimensions) else None


def _is_sound(vector: Vector, dimensions: int) -> bool:
    return vector.shape == (dimensions,) and bool(np.isfinite(vector).all()) and bool(vector.any())
