"""What the folder of a sentence-transformers model says of it."""

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

GRAPHS = ("onnx/model.onnx", "model.onnx", "onnx/model_quantized.onnx", "model_quantized.onnx")
MAX_TOKENS = 512  # unless the folder says it
LONGEST = 8192  # whatever it says: attention grows with the square
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
        pooling, dimensions = _pooling(folder)
        query, passage = _prompts(folder)
        size = _max_tokens(folder)
        return cls(folder, folder / "tokenizer.json", graph, pooling, dimensions, size, query, passage)

    def with_prefixes(self, query: str | None, passage: str | None) -> "FolderSettings":
        return replace(
            self,
            query_prefix=self.query_prefix if query is None else query,
            passage_prefix=self.passage_prefix if passage is None else passage,
        )


def _json(path: Path) -> Any:
    """{} where there is no such file."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as exc:
        raise ValueError(f"{path} cannot be read: {exc}") from exc


def _pooling(folder: Path) -> tuple[Pooling, int | None]:
    modules = _json(folder / "modules.json") or []
    kinds = {str(one.get("type", "")).rsplit(".", 1)[-1]: one.get("path", "") for one in modules}
    if unknown := kinds.keys() - {"Transformer", "Pooling", "Normalize"}:
        raise ValueError(f"{folder} has a module {sorted(unknown)[0]}, which is not known here")
    found = _json(folder / (kinds.get("Pooling") or "1_Pooling") / "config.json")
    dimensions = found.get("word_embedding_dimension") or found.get("embedding_dimension")
    dimensions = dimensions or _json(folder / "config.json").get("hidden_size")
    return _mode(folder, found), int(dimensions) if dimensions else None


def _mode(folder: Path, found: dict[str, Any]) -> Pooling:
    """Mean where nothing is said, as sentence-transformers does."""
    wanted = {name.removeprefix("pooling_mode_") for name, on in found.items() if on is True}
    wanted &= {
        "cls_token",
        "mean_tokens",
        "max_tokens",
        "mean_sqrt_len_tokens",
        "weightedmean_tokens",
        "lasttoken",
    }
    if isinstance(mode := found.get("pooling_mode"), str):
        wanted = {mode}
    names: dict[str, Pooling] = {"cls_token": "cls", "cls": "cls", "mean_tokens": "mean", "mean": "mean"}
    if not wanted:
        return "mean"
    if len(wanted) > 1 or not wanted <= names.keys():
        raise ValueError(f"{folder} is pooled by {', '.join(sorted(wanted))}; known are mean and cls")
    return names[wanted.pop()]


def _prompts(folder: Path) -> tuple[str, str]:
    """(before questions, before passages)."""
    found = _json(folder / "config_sentence_transformers.json")
    prompts = found.get("prompts") or {}
    default = prompts.get(found.get("default_prompt_name") or "", "")
    query = prompts.get("query", default)
    passage = next((prompts[name] for name in ("passage", "document") if name in prompts), default)
    return str(query or ""), str(passage or "")


def _max_tokens(folder: Path) -> int:
    said = _json(folder / "sentence_bert_config.json").get("max_seq_length")
    said = said or _json(folder / "tokenizer_config.json").get("model_max_length")
    if not isinstance(said, int) or isinstance(said, bool) or said < 8:
        return MAX_TOKENS
    return min(said, LONGEST) if said < 1_000_000 else MAX_TOKENS  # no limit is written as 10**30
