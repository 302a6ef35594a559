"""A real ONNX model of inference, made in the test: entailed is what the premise holds many tokens of."""

import json
from pathlib import Path

import onnx
from onnx import helper, numpy_helper

from tests.rag.overlap_model import make_overlap_model

LABELS = {"0": "contradiction", "1": "neutral", "2": "entailment"}


def make_nli_model(
    folder: Path, *, biases: tuple[float, float, float] = (0, 0, 0), labels: dict[str, str] | None = None
) -> Path:
    """Logits (-x, 0, x) + biases, x = 10 x the share of the premise's tokens that the claim holds - 5."""
    import numpy as np

    make_overlap_model(folder)
    (folder / "config.json").write_text(json.dumps({"id2label": labels or LABELS}))
    model = onnx.load(folder / "model.onnx")
    weights = numpy_helper.from_array(np.float32([[-1, 0, 1]]), "weights")
    added = numpy_helper.from_array(np.float32(biases), "biases")
    graph = model.graph
    graph.initializer.extend([weights, added])
    for node in graph.node:
        node.output[:] = ["overlap" if name == "logits" else name for name in node.output]
    graph.node.append(helper.make_node("MatMul", ["overlap", "weights"], ["weighted"]))
    graph.node.append(helper.make_node("Add", ["weighted", "biases"], ["logits"]))
    del graph.output[:]
    graph.output.append(helper.make_tensor_value_info("logits", onnx.TensorProto.FLOAT, ["batch", 3]))
    onnx.save(model, folder / "model.onnx")
    return folder
