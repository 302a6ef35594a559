"""The embedder that needs no key and no network: all-MiniLM-L6-v2 on ONNX Runtime."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnxruntime
from numpy.typing import NDArray
from onnxruntime.capi.onnxruntime_pybind11_state import Fail, InvalidGraph, InvalidProtobuf, RuntimeException

from documents.text.tokens import WordPieceCounter
from embeddings.embedders.build import MODEL_NAME, ensure_model
from embeddings.embedders.graph import SLOW_FUSIONS
from embeddings.embedders.on_cpu import TokenEmbedder, scale_to_unit, sentence_vectors
from embeddings.onnx_sessions import session_options
from embeddings.protocols import Span
from embeddings.types import EmbeddedText, Vector
from knowlex.base.errors import EmbedderRejected, EmbedderUnavailable

MAX_TOKENS = 512  # [CLS] and [SEP] included; what lies beyond has no place in the model


class LocalEmbedder(TokenEmbedder):
    """Mean of the token vectors, scaled to length 1, as sentence-transformers does for this model.

    One text a run, never a batch: dynamic int8 takes its scales from the whole input, so a neighbour (or its
    padding) would change a text's vector, and a chunk's own text would no longer lie at distance 0 from it.
    """

    def __init__(self, *, models_dir: Path | str, model_name: str = MODEL_NAME) -> None:
        if model_name != MODEL_NAME:
            raise ValueError(f"{model_name}: this embedder has only {MODEL_NAME}.")
        super().__init__(model_name, 384, lambda: _MiniLmModel(Path(models_dir)))


class _MiniLmModel:
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

    def passage(self, text: str) -> Vector:
        return scale_to_unit(self.token_vectors(text).mean(axis=0))

    question = passage

    def embed_passage(self, text: str, spans: Sequence[Span]) -> EmbeddedText:
        ids, ends = self._tokenizer.encode(text, MAX_TOKENS - 2)
        vectors = self._run(ids)
        return EmbeddedText(scale_to_unit(vectors.mean(axis=0)), sentence_vectors(vectors[1:-1], ends, spans))

    def token_vectors(self, text: str) -> NDArray[np.float32]:
        """Return (tokens, 384): the last layer, those of [CLS] and [SEP] included."""
        return self._run(self._tokenizer.ids(text, MAX_TOKENS - 2))

    def _run(self, ids: Sequence[int]) -> NDArray[np.float32]:
        tokens = np.array([[self._cls, *ids, self._sep]], dtype=np.int64)
        try:
            (hidden,) = self._session.run(None, {"input_ids": tokens})
        except (Fail, RuntimeException) as exc:  # memory, for the most part
            raise EmbedderUnavailable("The local embedding model could not run.") from exc
        return np.asarray(hidden[0], dtype=np.float32)


def open_session(path: Path) -> onnxruntime.InferenceSession:
    return onnxruntime.InferenceSession(
        path, session_options(), ["CPUExecutionProvider"], disabled_optimizers=SLOW_FUSIONS
    )
