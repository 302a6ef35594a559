"""The embedder that needs no key and no network: all-MiniLM-L6-v2 on ONNX Runtime."""

import asyncio
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Lock

import numpy as np
import onnxruntime
from numpy.typing import NDArray
from onnxruntime.capi.onnxruntime_pybind11_state import Fail, InvalidGraph, InvalidProtobuf, RuntimeException

from documents.tokens import WordPieceCounter
from embeddings.embedders.build import MODEL_NAME, ensure_model
from embeddings.embedders.graph import SLOW_FUSIONS
from embeddings.embedders.sentences import sentence_vectors
from embeddings.protocols import Span
from embeddings.types import Embedded, Vector
from knowlex.common.errors import EmbedderRejected, EmbedderUnavailable

MAX_TOKENS = 512  # [CLS] and [SEP] included; what lies beyond has no place in the model
QUERY_THREADS = 2
QUESTIONS_KEPT = 1000  # 1.5 kB each


class LocalEmbedder:
    """Mean of the token vectors, scaled to length 1, as sentence-transformers does for this model.

    One text a run, never a batch: dynamic int8 takes its scales from the whole input, so a neighbour (or its
    padding) would change a text's vector, and a chunk's own text would no longer lie at distance 0 from it.
    """

    def __init__(self, *, models_dir: Path | str, model_name: str = MODEL_NAME) -> None:
        if model_name != MODEL_NAME:
            raise ValueError(
                f"KNOWLEX_EMBEDDING_MODEL={model_name}: the local embedder has only {MODEL_NAME}."
            )
        self.model_name = model_name
        self.dimensions: int | None = 384
        self._models_dir = Path(models_dir)
        self._model: _Model | None = None
        self._loading = Lock()
        self._query_threads = ThreadPoolExecutor(QUERY_THREADS, "embed-query")  # starts them when needed
        self._asked: dict[str, Vector] = {}

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        model = self._loaded()
        return [model.vector(text) for text in texts]

    def embed_with_sentences(self, texts: Sequence[str], spans: Sequence[Sequence[Span]]) -> list[Embedded]:
        model = self._loaded()
        return [model.embedded(text, wanted) for text, wanted in zip(texts, spans, strict=True)]

    async def aembed_query(self, text: str) -> Vector:
        """A question asked again costs nothing: the model is a pure function of the text."""
        vector = self._asked.get(text)
        if vector is None:
            loop = asyncio.get_running_loop()
            (vector,) = await loop.run_in_executor(self._query_threads, self.embed, [text])
            vector.flags.writeable = False  # many will share it
            self._asked[text] = vector
            if len(self._asked) > QUESTIONS_KEPT:
                self._asked.pop(next(iter(self._asked)), None)  # the oldest
        return vector

    def _loaded(self) -> "_Model":
        """Loaded at the first text: after a worker has forked, where a session's threads would be lost."""
        with self._loading:
            if self._model is None:
                self._model = _Model(self._models_dir)
            return self._model


class _Model:
    """Tokenizer and session of one process; safe for several threads."""

    def __init__(self, models_dir: Path) -> None:
        self._tokenizer = WordPieceCounter()
        self._cls, self._sep = self._tokenizer.special
        try:
            path = ensure_model(models_dir)
            self._session = open_session(path)
        except (OSError, Fail, InvalidGraph, InvalidProtobuf, RuntimeException) as exc:
            raise EmbedderRejected(
                "The local embedding model cannot be loaded. Remove KNOWLEX_MODELS_DIR and run "
                "`manage.py build_model`."
            ) from exc

    def vector(self, text: str) -> Vector:
        return _pooled(self.token_vectors(text))

    def embedded(self, text: str, spans: Sequence[Span]) -> Embedded:
        vectors = self.token_vectors(text)
        ends = self._tokenizer.ends(text, MAX_TOKENS - 2)
        return Embedded(_pooled(vectors), sentence_vectors(vectors[1:-1], ends, spans))

    def token_vectors(self, text: str) -> NDArray[np.float32]:
        """(tokens, 384): the last layer, those of [CLS] and [SEP] included."""
        words = self._tokenizer.ids(text, MAX_TOKENS - 2)
        ids = np.array([[self._cls, *words, self._sep]], dtype=np.int64)
        try:
            (hidden,) = self._session.run(None, {"input_ids": ids})
        except (Fail, RuntimeException) as exc:  # memory, for the most part
            raise EmbedderUnavailable("The local embedding model could not run.") from exc
        return np.asarray(hidden[0], dtype=np.float32)


def _pooled(token_vectors: NDArray[np.float32]) -> Vector:
    mean = token_vectors.mean(axis=0)
    return np.asarray(mean / np.linalg.norm(mean), dtype=np.float32)


def open_session(path: Path) -> onnxruntime.InferenceSession:
    return onnxruntime.InferenceSession(
        path, _options(), ["CPUExecutionProvider"], disabled_optimizers=SLOW_FUSIONS
    )


def _options() -> onnxruntime.SessionOptions:
    """One thread: the worker processes are the parallelism, and a waiting session must not burn a core."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.enable_mem_pattern = False  # a plan is kept for every length of input
    options.log_severity_level = 3
    return options
