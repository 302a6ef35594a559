"""A real ONNX cross-encoder, made in the test: the share of the question's tokens that are in the passage."""

from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from documents.text.tokens import load_tokenizer

INPUTS = ("input_ids", "attention_mask", "token_type_ids")


def make_overlap_model(folder: Path, *, below: str = "", outputs: int = 1) -> Path:
    """tokenizer.json and model.onnx (in the folder `below`): logit = 10 x share - 5, so many times over."""
    (folder / below).mkdir(parents=True, exist_ok=True)
    load_tokenizer().save(str(folder / "tokenizer.json"))
    onnx.save(_model(outputs), folder / below / "model.onnx")
    return folder


def _model(outputs: int) -> Any:
    constants = {
        "last": np.array([2]), "middle": np.array([1]), "ten": np.float32([[10]]), "five": np.float32([[5]]),
        "one": np.float32(1), "widths": np.array([1, outputs]),
    }  # fmt: skip
    steps = [
        ("Unsqueeze", ["input_ids", "last"], "rows"), ("Unsqueeze", ["input_ids", "middle"], "columns"),
        ("Equal", ["rows", "columns"], "same"), ("Cast", ["same"], "equal"),
        ("Cast", ["token_type_ids"], "passage"), ("Unsqueeze", ["passage", "middle"], "in_passage"),
        ("Mul", ["equal", "in_passage"], "found"), ("ReduceMax", ["found", "last"], "held"),
        ("Sub", ["one", "passage"], "question"), ("Mul", ["held", "question"], "shared"),
        ("ReduceSum", ["shared", "middle"], "sum"), ("ReduceSum", ["question", "middle"], "count"),
        ("Div", ["sum", "count"], "share"), ("Mul", ["share", "ten"], "grown"),
        ("Sub", ["grown", "five"], "single"), ("Tile", ["single", "widths"], "logits"),
    ]  # fmt: skip
    axes = {"ReduceMax": {"keepdims": 0}, "ReduceSum": {"keepdims": 1}, "Cast": {"to": TensorProto.FLOAT}}
    graph = helper.make_graph(
        [helper.make_node(kind, given, [made], **axes.get(kind, {})) for kind, given, made in steps],
        "overlap",
        [helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "tokens"]) for name in INPUTS],
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch", outputs])],
        [numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
