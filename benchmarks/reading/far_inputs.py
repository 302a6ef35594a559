"""Keeps the inputs that reach farthest out of a graph's 8 bits, in float.

    python -m benchmarks.reading.far_inputs FOLDER OUT WRITTEN.gz

FOLDER holds a reader as `train` writes it, OUT gets the new one; WRITTEN.gz: see `pairs`. All inputs of a
product share one scale, that of the farthest. Of a feed-forward product one or two reach ten times as far as
the others, which are left with a tenth of the steps (Dettmers and others, LLM.int8(): 8-bit Matrix
Multiplication for Transformers at Scale, 2022).
"""

import argparse
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import onnx
import onnxruntime
from numpy.typing import NDArray
from onnx import NodeProto, TensorProto, helper, numpy_helper

from benchmarks.reading.pairs import ReadPair, read_written
from embeddings.onnx_sessions import session_options
from rag.synthesizers.reader_model import GRAPH, TOKENIZER, WORDS, ReaderModel

FAR = 2  # inputs of 384; of more inputs as many more
READ = 200  # pairs that show how far inputs reach
FEED_FORWARD = {(384, 1536), (1536, 384)}  # shapes of the weights


class Product(NamedTuple):
    """output: of the node that brings it to its scale. weights: (inputs, outputs)."""

    output: str
    weights: NDArray[np.float32]


def keep_far_inputs(model: onnx.ModelProto, reach: Mapping[str, NDArray[np.float32]]) -> None:
    """Change the graph. reach: by the name of what is quantized, the largest amount of each input."""
    graph = model.graph
    nodes: list[NodeProto] = []
    added: dict[str, list[NodeProto]] = {}  # by the output that they follow
    for node in graph.node:
        if node.op_type == "DynamicQuantizeLinear" and node.input[0] in reach:
            name = node.input[0]
            far = _farthest(reach[name])
            near = np.ones_like(reach[name])
            near[far] = 0.0
            graph.initializer.append(numpy_helper.from_array(near, f"{name}_is_near"))
            graph.initializer.append(numpy_helper.from_array(far, f"{name}_places"))
            for product in list(_products_of(graph, node)):
                weights = f"{product.output}_far_weights"
                graph.initializer.append(numpy_helper.from_array(product.weights[far], weights))
                added[f"{product.output}_near"] = [
                    helper.make_node("MatMul", [f"{name}_far", weights], [f"{product.output}_far"]),
                    helper.make_node(
                        "Add", [f"{product.output}_near", f"{product.output}_far"], [product.output]
                    ),
                ]
                _rename_output(graph, product.output, f"{product.output}_near")
            nodes += [
                helper.make_node("Gather", [name, f"{name}_places"], [f"{name}_far"], axis=-1),
                helper.make_node("Mul", [name, f"{name}_is_near"], [f"{name}_near"]),
            ]
            node.input[0] = f"{name}_near"
        nodes.append(node)
    ordered = [each for node in nodes for each in (node, *added.get(node.output[0], ()))]
    del graph.node[:]
    graph.node.extend(ordered)


def _farthest(reach: NDArray[np.float32]) -> NDArray[np.int64]:
    count = FAR if len(reach) < 1000 else 2 * FAR
    return np.sort(np.argsort(-reach)[:count]).astype(np.int64)


def _products_of(graph: onnx.GraphProto, quantized: NodeProto) -> Iterator[Product]:
    """Yield the products of what a node quantizes, each followed by a cast and the product with its scale."""
    stored = {one.name: one for one in graph.initializer}
    for integer in _users(graph, quantized.output[0]):
        (cast,) = _users(graph, integer.output[0])
        (scaled,) = _users(graph, cast.output[0])
        scale = next(name for name in scaled.input if name != cast.output[0])
        (scaling,) = (node for node in graph.node if scale in node.output)
        steps = next(numpy_helper.to_array(stored[name]) for name in scaling.input if name in stored)
        whole, zero = (numpy_helper.to_array(stored[name]) for name in (integer.input[1], integer.input[3]))
        weights = (whole.astype(np.float32) - zero.astype(np.float32)) * steps
        yield Product(scaled.output[0], weights.astype(np.float32))


def _users(graph: onnx.GraphProto, output: str) -> list[NodeProto]:
    return [node for node in graph.node if output in node.input]


def _rename_output(graph: onnx.GraphProto, old: str, new: str) -> None:
    (node,) = (node for node in graph.node if old in node.output)
    node.output[0] = new


def reach_of(folder: Path, pairs: Sequence[ReadPair]) -> dict[str, NDArray[np.float32]]:
    """Return how far each input of the feed-forward products reaches where the pairs are read."""
    model, reader = onnx.load(folder / GRAPH), ReaderModel(folder)
    shape = {one.name: tuple(one.dims) for one in model.graph.initializer}
    names = [
        node.input[0]
        for node in model.graph.node
        if node.op_type == "DynamicQuantizeLinear"
        and any(shape[one.input[1]] in FEED_FORWARD for one in _users(model.graph, node.output[0]))
    ]
    for name in names:
        model.graph.output.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, None))
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), session_options(), ["CPUExecutionProvider"]
    )
    reach: dict[str, NDArray[np.float32]] = {}
    for pair in pairs:
        found = session.run(names, reader.inputs_for(pair.question, pair.window))
        for name, numbers in zip(names, found, strict=True):
            largest = np.abs(numbers).max(axis=(0, 1))
            reach[name] = np.maximum(reach.get(name, largest), largest)
    return reach


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("written", type=Path)
    arguments = parser.parse_args()
    pairs = read_written([arguments.written], headed=True).learnt[:READ]
    reach = reach_of(arguments.folder, pairs)
    model = onnx.load(arguments.folder / GRAPH)
    keep_far_inputs(model, reach)
    arguments.out.mkdir(parents=True, exist_ok=True)
    onnx.save(model, arguments.out / GRAPH)
    for name in (TOKENIZER, WORDS):
        shutil.copy(arguments.folder / name, arguments.out)


if __name__ == "__main__":
    main()
