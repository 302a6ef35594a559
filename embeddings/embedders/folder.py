"""Any sentence-transformers model that was exported to ONNX, out of its folder; nothing is downloaded."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import onnxruntime
from numpy.typing import NDArray
from onnxruntime.capi.onnxruntime_pybind11_state import (
    Fail,
    InvalidArgument,
    InvalidGraph,
    InvalidProtobuf,
    NoSuchFile,
    RuntimeException,
)
from tokenizers import Encoding, Tokenizer

from embeddings.embedders.on_cpu import TokenEmbedder, scale_to_unit, sentence_vectors
from embeddings.onnx_sessions import session_options
from embeddings.protocols import Span
from embeddings.types import EmbeddedText, Vector
from knowlex.base.errors import EmbedderRejected, EmbedderUnavailable

GRAPHS = ("onnx/model.onnx", "model.onnx", "onnx/model_quantized.onnx", "model_quantized.onnx")
DEFAULT_MAX_TOKENS = 512  # unless the folder says it
MAX_TOKENS = 8192  # whatever it says: attention grows with the square
Pooling = Literal["mean", "cls"]


@dataclass(frozen=True, slots=True)
class FolderSettings:
    """max_tokens: special ones included; what lies beyond is not read. Vectors are scaled to length 1."""

    folder: Path
    tokenizer: Path
    graph: Path
    pooling: Pooling
    dimensions: int | None
    max_tokens: int
    query_prefix: str = ""
    passage_prefix: str = ""

    @classmethod
    def read(cls, folder: Path) -> "FolderSettings":
        """Raises ValueError, saying what is missing or not known here."""
        folder = folder.expanduser().resolve()
        if not folder.is_dir():
            raise ValueError(f"{folder} is no folder")
        graph = next((folder / name for name in GRAPHS if (folder / name).is_file()), None)
        if graph is None:
            raise ValueError(f"{folder} holds no {' or '.join(GRAPHS[:2])}")
        if not (folder / "tokenizer.json").is_file():
            raise ValueError(f"{folder} holds no tokenizer.json")
        pooling, dimensions = _read_pooling(folder)
        query, passage = _read_prompts(folder)
        size = _read_max_tokens(folder)
        return cls(folder, folder / "tokenizer.json", graph, pooling, dimensions, size, query, passage)

    def with_prefixes(self, query: str | None, passage: str | None) -> "FolderSettings":
        return replace(
            self,
            query_prefix=self.query_prefix if query is None else query,
            passage_prefix=self.passage_prefix if passage is None else passage,
        )


def _read_json(path: Path) -> Any:
    """Return {} where there is no such file."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as exc:
        raise ValueError(f"{path} cannot be read: {exc}") from exc


def _read_pooling(folder: Path) -> tuple[Pooling, int | None]:
    modules = _read_json(folder / "modules.json") or []
    kinds = {str(module.get("type", "")).rsplit(".", 1)[-1]: module.get("path", "") for module in modules}
    if unknown := kinds.keys() - {"Transformer", "Pooling", "Normalize"}:
        raise ValueError(f"{folder} has a module {sorted(unknown)[0]}, which is not known here")
    config = _read_json(folder / (kinds.get("Pooling") or "1_Pooling") / "config.json")
    dimensions = config.get("word_embedding_dimension") or config.get("embedding_dimension")
    dimensions = dimensions or _read_json(folder / "config.json").get("hidden_size")
    return _read_mode(folder, config), int(dimensions) if dimensions else None


def _read_mode(folder: Path, config: dict[str, Any]) -> Pooling:
    """Return the mean where nothing is said, as sentence-transformers does."""
    wanted = {name.removeprefix("pooling_mode_") for name, on in config.items() if on is True}
    wanted &= {
        "cls_token",
        "mean_tokens",
        "max_tokens",
        "mean_sqrt_len_tokens",
        "weightedmean_tokens",
        "lasttoken",
    }
    if isinstance(mode := config.get("pooling_mode"), str):
        wanted = {mode}
    names: dict[str, Pooling] = {"cls_token": "cls", "cls": "cls", "mean_tokens": "mean", "mean": "mean"}
    if not wanted:
        return "mean"
    if len(wanted) > 1 or not wanted <= names.keys():
        raise ValueError(f"{folder} is pooled by {', '.join(sorted(wanted))}; known are mean and cls")
    return names[wanted.pop()]


def _read_prompts(folder: Path) -> tuple[str, str]:
    """Return (before questions, before passages)."""
    config = _read_json(folder / "config_sentence_transformers.json")
    prompts = config.get("prompts") or {}
    default = prompts.get(config.get("default_prompt_name") or "", "")
    query = prompts.get("query", default)
    passage = next((prompts[name] for name in ("passage", "document") if name in prompts), default)
    return str(query or ""), str(passage or "")


def _read_max_tokens(folder: Path) -> int:
    limit = _read_json(folder / "sentence_bert_config.json").get("max_seq_length")
    limit = limit or _read_json(folder / "tokenizer_config.json").get("model_max_length")
    if not isinstance(limit, int) or isinstance(limit, bool) or not 8 <= limit < 1_000_000:
        return DEFAULT_MAX_TOKENS  # no limit is written as 10**30
    return min(limit, MAX_TOKENS)


UNUSABLE = (OSError, Fail, InvalidArgument, InvalidGraph, InvalidProtobuf, NoSuchFile, RuntimeException)
KNOWN_INPUTS = {"input_ids", "attention_mask", "token_type_ids", "position_ids"}


class FolderEmbedder(TokenEmbedder):
    """The folder's own pooling and prefixes, unless other prefixes are given. Raises ValueError for a folder
    that holds no such model.
    """

    def __init__(
        self,
        *,
        model_name: str,
        path: str | Path,
        query_prefix: str | None = None,
        passage_prefix: str | None = None,
    ) -> None:
        folder = FolderSettings.read(Path(path)).with_prefixes(query_prefix, passage_prefix)
        super().__init__(model_name, folder.dimensions, lambda: _FolderModel(folder))


class _FolderModel:
    def __init__(self, settings: FolderSettings) -> None:
        self._settings = settings
        try:
            self._tokenizer = Tokenizer.from_file(str(settings.tokenizer))
            self._session = onnxruntime.InferenceSession(
                settings.graph, session_options(), ["CPUExecutionProvider"]
            )
        except Exception as exc:  # tokenizers has no narrower one, ONNX Runtime a class for each of its codes
            raise EmbedderRejected(f"The model in {settings.folder} cannot be loaded: {exc}") from exc
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(settings.max_tokens)
        self._inputs = {node.name: node.type for node in self._session.get_inputs()}
        if unknown := self._inputs.keys() - KNOWN_INPUTS:
            raise EmbedderRejected(
                f"The model in {settings.folder} asks for {', '.join(sorted(unknown))}: not known here."
            )
        outputs = self._session.get_outputs()
        self._output = next((node.name for node in outputs if len(node.shape or ()) == 3), outputs[0].name)

    def passage(self, text: str) -> Vector:
        return self._pool(self._run(self._encode(self._settings.passage_prefix + text)))

    def question(self, text: str) -> Vector:
        return self._pool(self._run(self._encode(self._settings.query_prefix + text)))

    def embed_passage(self, text: str, spans: Sequence[Span]) -> EmbeddedText:
        """A graph that pools by itself gives no token vectors."""
        prefix = self._settings.passage_prefix
        encoding = self._encode(prefix + text)
        hidden = self._run(encoding)
        if hidden.ndim == 1:
            return EmbeddedText(scale_to_unit(hidden))
        ends = {n: end - len(prefix) for n, end in enumerate(_token_ends(encoding)) if end > len(prefix)}
        sentences = sentence_vectors(hidden[list(ends)], list(ends.values()), spans)
        return EmbeddedText(self._pool(hidden), sentences)

    def _encode(self, text: str) -> Encoding:
        return self._tokenizer.encode(text)

    def _run(self, encoding: Encoding) -> NDArray[np.float32]:
        """Return (tokens, dimensions); (dimensions,) of a graph that pools by itself."""
        ids = encoding.ids
        given = {
            "input_ids": ids,
            "attention_mask": [1] * len(ids),
            "token_type_ids": encoding.type_ids,
            "position_ids": list(range(len(ids))),
        }
        feed = {
            name: np.array([given[name]], np.int32 if kind == "tensor(int32)" else np.int64)
            for name, kind in self._inputs.items()
        }
        try:
            (hidden,) = self._session.run([self._output], feed)
        except UNUSABLE as exc:  # memory, for the most part
            raise EmbedderUnavailable(f"The model in {self._settings.folder} could not run.") from exc
        return np.asarray(hidden[0], dtype=np.float32)

    def _pool(self, hidden: NDArray[np.float32]) -> Vector:
        if hidden.ndim == 1:
            return scale_to_unit(hidden)
        return scale_to_unit(hidden[0] if self._settings.pooling == "cls" else hidden.mean(axis=0))


def _token_ends(encoding: Encoding) -> list[int]:
    """Return where each token ends in the text that was encoded; 0 for special ones."""
    return [
        0 if special else end
        for (_, end), special in zip(encoding.offsets, encoding.special_tokens_mask, strict=True)
    ]
