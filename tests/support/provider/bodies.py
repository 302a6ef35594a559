"""The bodies a well-behaved provider sends, and the same with vectors that are wrong."""

import random
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tests.support.provider.ollama_models import dimensions_of
from tests.support.provider.vectors import (
    DEFAULT_DIMENSIONS,
    OTHER_DIMENSIONS,
    OTHER_MODEL,
    encode,
    vector_of,
)

Vectors = list[NDArray[np.float32]]
Row = dict[str, Any]
CREATED_AT = "2026-01-01T00:00:00.000000Z"
OLLAMA_TIMES = {"total_duration": 14143917, "load_duration": 1019500}  # ns


def _filled(value: float) -> Callable[[Vectors], Vectors]:
    def spoil(vectors: Vectors) -> Vectors:
        return [np.full_like(vectors[0], value), *vectors[1:]]

    return spoil


WRONG_VECTORS: dict[str, Callable[[Vectors], Vectors]] = {
    "wrong_length": lambda vectors: [v[:-1] for v in vectors],
    "mixed_length": lambda vectors: (
        [vectors[0][:-1], *vectors[1:]] if len(vectors) > 1 else [vectors[0][:-1]]
    ),
    "nan": _filled(float("nan")),
    "infinity": _filled(float("inf")),
    "zero": _filled(0.0),
    "equal": lambda vectors: [vectors[0] for _ in vectors],
}


def _shuffled(rows: list[Row]) -> list[Row]:
    return random.Random(7).sample(rows, len(rows))


WRONG_ROWS: dict[str, Callable[[list[Row]], list[Row]]] = {
    "fewer": lambda rows: rows[:-1],
    "more": lambda rows: [*rows, {**rows[-1], "index": len(rows)}],
    "reversed": lambda rows: rows[::-1],
    "shuffled": _shuffled,
    "duplicate_index": lambda rows: [{**row, "index": 0} for row in rows],
    "missing_index": lambda rows: [{k: v for k, v in row.items() if k != "index"} for row in rows],
    "null_vector": lambda rows: [{**rows[0], "embedding": None}, *rows[1:]],
}


def embeddings_body(body: dict[str, Any], texts: Sequence[str], fault: str = "") -> dict[str, Any]:
    """OpenAI's answer to /v1/embeddings."""
    model = str(body.get("model"))
    native = OTHER_DIMENSIONS if model == OTHER_MODEL else DEFAULT_DIMENSIONS
    vectors = _vectors(texts, int(body.get("dimensions") or native), fault, model)
    encoding = body.get("encoding_format") or "float"
    rows = [
        {"object": "embedding", "index": i, "embedding": encode(v, encoding)} for i, v in enumerate(vectors)
    ]
    reply: dict[str, Any] = {"object": "list", "model": body.get("model"), "usage": _usage(texts)}
    if fault != "missing_data":
        reply["data"] = WRONG_ROWS.get(fault, list)(rows)
    return reply


def ollama_embed_body(body: dict[str, Any], texts: Sequence[str], fault: str = "") -> dict[str, Any]:
    """Ollama's answer to /api/embed: no index, the order is the order of the texts."""
    model = str(body.get("model"))
    vectors = _vectors(texts, int(body.get("dimensions") or dimensions_of(model)), fault) if texts else []
    rows: list[Any] = [[float(x) for x in v] for v in vectors]
    changes = {"fewer": rows[:-1], "more": [*rows, *rows[-1:]], "null_vector": [None, *rows[1:]]}
    reply: dict[str, Any] = {"model": model, **OLLAMA_TIMES, "prompt_eval_count": sum(map(len, texts)) // 4}
    return reply if fault == "missing_data" else {**reply, "embeddings": changes.get(fault, rows)}


def _vectors(texts: Sequence[str], dimensions: int, fault: str, model: str = "") -> Vectors:
    vectors = [vector_of(text, dimensions, model=model) for text in texts]
    return WRONG_VECTORS.get(fault, list)(vectors)


def _usage(texts: Sequence[str]) -> dict[str, int]:
    tokens = sum(len(text.split()) for text in texts)
    return {"prompt_tokens": tokens, "total_tokens": tokens}


WRONG_SCORES: dict[str, Callable[[list[Row]], list[Row]]] = {
    "score_nan": lambda rows: [{**rows[0], "relevance_score": float("nan")}, *rows[1:]],
    "score_text": lambda rows: [{**rows[0], "relevance_score": "0.5"}, *rows[1:]],
    "score_missing": lambda rows: [{"index": row["index"]} for row in rows],
    "index_beyond": lambda rows: [{**rows[0], "index": len(rows)}, *rows[1:]],
    "index_twice": lambda rows: [*rows, rows[0]],
    "one_missing": lambda rows: rows[:-1],
}


def rerank_body(body: dict[str, Any], fault: str = "") -> dict[str, Any]:
    """The answer to /v1/rerank, best first: a document scores by the share of its letters that are "e".

    So nothing else puts passages into this order. A model named "logits" scores from -10 to 10.
    """
    shares = [text.count("e") / len(text) for text in body["documents"]]
    if body.get("model") == "logits":
        shares = [20 * share - 10 for share in shares]
    rows = [{"index": place, "relevance_score": share} for place, share in enumerate(shares)]
    rows.sort(key=lambda row: -float(row["relevance_score"]))
    return {"model": body.get("model"), "results": WRONG_SCORES.get(fault, list)(rows), "usage": {}}


CHAT_USAGE = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}


def chat_body(body: dict[str, Any], text: str | None) -> dict[str, Any]:
    """OpenAI's answer to /v1/chat/completions when it is not streamed."""
    message = {"role": "assistant", "content": text}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": body.get("model"),
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": CHAT_USAGE,
    }


def ollama_chat_body(body: dict[str, Any], text: str | None, *, done: bool = True) -> dict[str, Any]:
    """Ollama's answer to /api/chat (`message`) and /api/generate (`response`)."""
    said = {"message": {"role": "assistant", "content": text}} if "messages" in body else {"response": text}
    tail = {"done_reason": "stop", **OLLAMA_TIMES, "prompt_eval_count": 10, "eval_count": 5} if done else {}
    return {"model": body.get("model"), "created_at": CREATED_AT, **said, "done": done, **tail}


def ollama_loaded_body(body: dict[str, Any], reason: str) -> dict[str, Any]:
    """To who has asked for nothing: the model is in memory now, or no longer."""
    said = {"message": {"role": "assistant", "content": ""}} if "messages" in body else {"response": ""}
    return {"model": body.get("model"), "created_at": CREATED_AT, **said, "done": True, "done_reason": reason}


def ollama_tag(name: str) -> dict[str, Any]:
    details = {"format": "gguf", "family": "llama", "parameter_size": "1.2B", "quantization_level": "Q8_0"}
    size = {"size": 1321098329, "digest": "baf6a787fdff", "modified_at": CREATED_AT}
    return {"name": name, "model": name, **size, "details": details}


def ollama_show_body(model: str) -> dict[str, Any]:
    embeds = "embed" in model or "minilm" in model
    info = {"general.architecture": "bert", "bert.embedding_length": dimensions_of(model)} if embeds else {}
    return {
        "modelfile": f"FROM {model}",
        "details": ollama_tag(model)["details"],
        "model_info": info,
        "capabilities": ["embedding"] if embeds else ["completion"],
    }


def pieces(text: str, size: int | None = None) -> list[str]:
    """The text in parts of so many characters; None: in some 200 parts at most, of 6 at least."""
    size = size or max(6, len(text) // 200 + 1)
    return [text[i : i + size] for i in range(0, len(text), size)]
