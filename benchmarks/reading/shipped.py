"""Makes what a training of the reader goes on from: the reader that ships, as `base` and `train` have it.

    python -m benchmarks.reading.shipped OUT [--folder FOLDER]

Needs torch, transformers and onnx. FOLDER holds a reader as it ships, OUT gets the folder that transformers
loads (`--base`) and `state.pt` (`--begin`). Weights come back from 8 bits: of 150 readings they are .15 (root
mean square) from those of the graph. The output for the answer's place, which does not ship, is left to
chance.
"""

import argparse
import shutil
from pathlib import Path

import numpy as np
import onnx
import torch
from numpy.typing import NDArray
from onnx import numpy_helper
from tokenizers import Tokenizer
from transformers import BertModel

from benchmarks.reading.base import config_of, wrap_tokenizer
from benchmarks.reading.train import Reader
from embeddings.multilingual_wheel import dequantize
from rag.synthesizers.reader_model import GRAPH, TOKENIZER, WORDS
from rag.synthesizers.sentence_reader import SHIPPED

BESIDE = "model."  # before the names of what is not quantized


def weights_of(model: onnx.ModelProto) -> dict[str, NDArray[np.float32]]:
    """Return a graph's weights by the names that `Reader` has for them, those of products turned."""
    stored = {one.name: numpy_helper.to_array(one) for one in model.graph.initializer}
    found = {name.removeprefix(BESIDE): array for name, array in stored.items() if name.startswith(BESIDE)}
    found = {name: array for name, array in found.items() if not name.startswith("head.weight")}
    for node in model.graph.node:
        if node.op_type not in ("MatMul", "MatMulInteger") or not node.name:
            continue  # without a name: the inputs that reach far, once more
        weights = next((name for name in node.input if name in stored and stored[name].ndim == 2), None)
        if weights is None:
            continue
        name = node.name.rpartition("/")[0].removeprefix("/").replace("/", ".")
        array = stored[weights].astype(np.float32)
        if node.op_type == "MatMulInteger":
            array = (array - stored[node.input[3]].astype(np.float32)) * _steps(weights, stored)
        found[f"{name}.weight"] = np.ascontiguousarray(array.T)
    return found


def _steps(weights: str, stored: dict[str, NDArray]) -> NDArray[np.float32]:
    return stored[weights.removesuffix("_quantized") + "_scale"]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("out", type=Path)
    parser.add_argument("--folder", type=Path, default=SHIPPED)
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    words = np.load(arguments.folder / WORDS)
    found = weights_of(onnx.load(arguments.folder / GRAPH))
    found["enc.embeddings.word_embeddings.weight"] = dequantize(words)
    wrap_tokenizer(Tokenizer.from_file(str(arguments.folder / TOKENIZER))).save_pretrained(arguments.out)
    shutil.copy(arguments.folder / WORDS, arguments.out)
    BertModel(config_of(len(words))).save_pretrained(arguments.out)
    reader = Reader(str(arguments.out))
    state = reader.state_dict()
    left = {name for name in state.keys() - found.keys() if not name.startswith(("span.", "enc.pooler."))}
    if left or found.keys() - state.keys():
        parser.error(f"not in the graph: {sorted(left)}; not known: {sorted(found.keys() - state.keys())}")
    torch.save(
        state | {name: torch.tensor(array) for name, array in found.items()}, arguments.out / "state.pt"
    )


if __name__ == "__main__":
    main()
