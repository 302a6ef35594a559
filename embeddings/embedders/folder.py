"""Any sentence-transformers model that was exported to ONNX, out of its folder; nothing is downloaded."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnxruntime
from numpy.typing import NDArray
from onnxruntime.capi.onnxruntime_pybind11_state import (
    Fail,
    InvalidArgument,
    InvalidGraph,
    InvalidProtobuf,
    NoSuchFile,
    RuntimeException,
)
from tokenizers import Encoding, Tokenizer

from embeddings.embedders.folder_settings import FolderSettings
from embeddings.embedders.on_cpu import TokenEmbedder, unit
from embeddings.embedders.sentences import sentence_vectors
from embeddings.embedders.sessions import session_options
from embeddings.protocols import Span
from embeddings.types import Embedded, Vector
from knowlex.common.errors import EmbedderRejected, EmbedderUnavailable

UNUSABLE = (OSError, Fail, InvalidArgument, InvalidGraph, InvalidProtobuf, NoSuchFile, RuntimeException)
KNOWN_INPUTS = {"input_ids", "attention_mask", "token_type_ids", "position_ids"}


class FolderEmbedder(TokenEmbedder):
    """The folder's own pooling and prefixes, unless other prefixes are given. Raises ValueError for a folder
    that holds no such model.
    """

    def __init__(
        self,
        *,
        model_name: str,
        path: str | Path,
        query_prefix: str | None = None,
        passage_prefix: str | None = None,
    ) -> None:
        found = FolderSettings.read(Path(path)).with_prefixes(query_prefix, passage_prefix)
        super().__init__(model_name, found.dimensions, lambda: _Model(found))


class _Model:
    def __init__(self, settings: FolderSettings) -> None:
        self._settings = settings
        try:
            self._tokenizer = Tokenizer.from_file(str(settings.tokenizer))
            self._session = onnxruntime.InferenceSession(
                settings.graph, session_options(), ["CPUExecutionProvider"]
            )
        except Exception as exc:  # tokenizers has no narrower one, ONNX Runtime a class for each of its codes
            raise EmbedderRejected(f"The model in {settings.folder} cannot be loaded: {exc}") from exc
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(settings.max_tokens)
        self._inputs = {one.name: one.type for one in self._session.get_inputs()}
        if unknown := self._inputs.keys() - KNOWN_INPUTS:
            raise EmbedderRejected(
                f"The model in {settings.folder} asks for {', '.join(sorted(unknown))}: not known here."
            )
        outputs = self._session.get_outputs()
        self._output = next((o.name for o in outputs if len(o.shape or ()) == 3), outputs[0].name)

    def passage(self, text: str) -> Vector:
        return self._pooled(self._run(self._encoded(self._settings.passage_prefix + text)))

    def question(self, text: str) -> Vector:
        return self._pooled(self._run(self._encoded(self._settings.query_prefix + text)))

    def embedded(self, text: str, spans: Sequence[Span]) -> Embedded:
        """A graph that pools by itself gives no token vectors."""
        prefix = self._settings.passage_prefix
        encoding = self._encoded(prefix + text)
        hidden = self._run(encoding)
        if hidden.ndim == 1:
            return Embedded(unit(hidden))
        places = [(n, end - len(prefix)) for n, end in enumerate(_ends(encoding)) if end > len(prefix)]
        own, ends = [n for n, _ in places], [end for _, end in places]
        return Embedded(self._pooled(hidden), sentence_vectors(hidden[own], ends, spans))

    def _encoded(self, text: str) -> Encoding:
        return self._tokenizer.encode(text)

    def _run(self, encoding: Encoding) -> NDArray[np.float32]:
        """(tokens, dimensions); (dimensions,) of a graph that pools by itself."""
        ids = encoding.ids
        given = {
            "input_ids": ids,
            "attention_mask": [1] * len(ids),
            "token_type_ids": encoding.type_ids,
            "position_ids": list(range(len(ids))),
        }
        feed = {
            name: np.array([given[name]], np.int32 if kind == "tensor(int32)" else np.int64)
            for name, kind in self._inputs.items()
        }
        try:
            (hidden,) = self._session.run([self._output], feed)
        except UNUSABLE as exc:  # memory, for the most part
            raise EmbedderUnavailable(f"The model in {self._settings.folder} could not run.") from exc
        return np.asarray(hidden[0], dtype=np.float32)

    def _pooled(self, hidden: NDArray[np.float32]) -> Vector:
        if hidden.ndim == 1:
            return unit(hidden)
        return unit(hidden[0] if self._settings.pooling == "cls" else hidden.mean(axis=0))


def _ends(encoding: Encoding) -> list[int]:
    """Where each token ends in the text that was encoded; 0 for special ones."""
    return [
        0 if special else end
        for (_, end), special in zip(encoding.offsets, encoding.special_tokens_mask, strict=True)
    ]
