"""The choice of a local embedder."""

from pathlib import Path

from embeddings.embedders.build import MINILM, MODEL_NAME
from embeddings.embedders.e5 import E5, E5_MEAN_NAME, E5_NAME, E5Embedder
from embeddings.embedders.folder import FolderEmbedder
from embeddings.embedders.local import LocalEmbedder
from embeddings.protocols import Embedder

SOURCES = {MODEL_NAME: MINILM, E5_NAME: E5}
KNOWN = tuple(SOURCES)


def local_embedder(
    *,
    models_dir: Path | str,
    model_name: str = MODEL_NAME,
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
    if model_name == MODEL_NAME:
        return LocalEmbedder(models_dir=models_dir)
    if model_name in (E5_NAME, E5_MEAN_NAME):
        return E5Embedder(models_dir=models_dir, model_name=model_name)
    raise ValueError(
        f"{model_name} is no local model: there are {', '.join(KNOWN)}, and any sentence-transformers model "
        "in ONNX by the path of its folder"
    )
