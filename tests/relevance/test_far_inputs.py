"""Products in 8 bits, the farthest of whose inputs stay in float."""

from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.quantization import QuantType, quantize_dynamic

from benchmarks.reading.far_inputs import keep_far_inputs

INPUTS, OUTPUTS, FAR = 384, 1536, 7


@pytest.fixture
def quantized(tmp_path: Path) -> onnx.ModelProto:
    weights = np.random.default_rng(3).normal(size=(INPUTS, OUTPUTS)).astype(np.float32)
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["given", "weights"], ["found"])],
        "product",
        [helper.make_tensor_value_info("given", TensorProto.FLOAT, [1, None, INPUTS])],
        [helper.make_tensor_value_info("found", TensorProto.FLOAT, [1, None, OUTPUTS])],
        [numpy_helper.from_array(weights, "weights")],
    )
    onnx.save(
        helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8),
        tmp_path / "float.onnx",
    )
    quantize_dynamic(
        tmp_path / "float.onnx", tmp_path / "8.onnx", per_channel=True, weight_type=QuantType.QInt8
    )
    return onnx.load(tmp_path / "8.onnx")


def run(model: onnx.ModelProto, given: NDArray[np.float32]) -> NDArray[np.float32]:
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    (found,) = session.run(None, {"given": given})
    return np.asarray(found)


def test_an_input_that_reaches_far_no_longer_costs_the_others_their_steps(quantized: onnx.ModelProto) -> None:
    given = np.random.default_rng(4).normal(scale=0.5, size=(1, 5, INPUTS)).astype(np.float32)
    near = run(quantized, given)  # as good as 8 bits are where no input reaches far
    given[..., FAR] += 40.0
    weights = next(one for one in quantized.graph.initializer if one.name == "weights_quantized")
    scales = next(one for one in quantized.graph.initializer if one.name == "weights_scale")
    far = numpy_helper.to_array(weights)[FAR].astype(np.float32) * numpy_helper.to_array(scales)
    expected = near + 40.0 * far

    before = np.abs(run(quantized, given) - expected).mean()
    keep_far_inputs(quantized, {"given": np.abs(given).max(axis=(0, 1))})
    after = np.abs(run(quantized, given) - expected).mean()

    assert after < before / 5
