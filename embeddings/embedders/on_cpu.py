"""What local models share: ONNX Runtime's options, models loaded once a process, questions remembered."""

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Lock
from typing import Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from embeddings.protocols import Span
from embeddings.types import EmbeddedText, Vector

QUERY_THREADS = 2
MAX_QUESTIONS = 1000  # 1.5 kB each


class LoadedModel(Protocol):
    """A model in memory; safe for several threads. Vectors have length 1; all raise EmbedderError."""

    def passage(self, text: str) -> Vector: ...

    def question(self, text: str) -> Vector: ...


class TokenModel(LoadedModel, Protocol):
    """A model whose token vectors can be read."""

    def embed_passage(self, text: str, spans: Sequence[Span]) -> EmbeddedText:
        """Return a passage with the vectors of these spans of it."""
        ...


M = TypeVar("M", bound=LoadedModel)


class OnCpuEmbedder(Generic[M]):
    """An Embedder around a model, which is loaded at the first text: after a worker has forked, where a
    session's threads would be lost.
    """

    def __init__(self, model_name: str, dimensions: int | None, load: Callable[[], M]) -> None:
        self.model_name, self.dimensions, self._load = model_name, dimensions, load
        self._model: M | None = None
        self._loading = Lock()
        self._query_threads = ThreadPoolExecutor(QUERY_THREADS, "embed-query")  # starts them when needed
        self._questions: dict[str, Vector] = {}

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        model = self._load_once()
        return [model.passage(text) for text in texts]

    async def aembed_query(self, text: str) -> Vector:
        """Remember the vector: the model is a pure function of the text."""
        vector = self._questions.get(text)
        if vector is None:
            loop = asyncio.get_running_loop()
            vector = await loop.run_in_executor(self._query_threads, lambda: self._load_once().question(text))
            vector.flags.writeable = False  # many will share it
            self._questions[text] = vector
            if len(self._questions) > MAX_QUESTIONS:
                self._questions.pop(next(iter(self._questions)), None)  # the oldest
        return vector

    async def aembed_passage(self, text: str) -> Vector:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._query_threads, lambda: self._load_once().passage(text))

    def _load_once(self) -> M:
        with self._loading:
            if self._model is None:
                self._model = self._load()
            return self._model


class TokenEmbedder(OnCpuEmbedder[TokenModel]):
    """An embedder that also gives sentences their vectors, out of the text's own forward pass."""

    def embed_with_sentences(
        self, texts: Sequence[str], spans: Sequence[Sequence[Span]]
    ) -> list[EmbeddedText]:
        model = self._load_once()
        return [model.embed_passage(text, wanted) for text, wanted in zip(texts, spans, strict=True)]


def scale_to_unit(vector: NDArray[np.float32]) -> Vector:
    return np.asarray(vector / (np.linalg.norm(vector) or 1.0), dtype=np.float32)


def sentence_vectors(
    token_vectors: NDArray[np.float32], token_ends: Sequence[int], spans: Sequence[Span]
) -> NDArray[np.float32]:
    """Return (spans, dimensions): for each span the mean of its tokens' vectors, of length 1.

    token_vectors: of the text's own tokens in order, without special ones and prefixes. token_ends: where
    each ends in the text; a token is of the span in which it ends, since some tokenizers count the space
    before a word as part of it. A span without a token, or beyond what the model has read, has zeros.
    """
    vectors = np.zeros((len(spans), token_vectors.shape[1]), dtype=np.float32)
    bounds = np.searchsorted(np.asarray(token_ends), np.array(spans).reshape(-1, 2), side="right")
    for n, (first, last) in enumerate(bounds.tolist()):
        if first < last:
            mean = token_vectors[first:last].mean(axis=0)
            vectors[n] = mean / (np.linalg.norm(mean) or 1.0)
    return vectors
