"""An ONNX model in a folder that reads two texts: what is in it, and its numbers for one pair."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
from onnxruntime.capi.onnxruntime_pybind11_state import Fail, InvalidArgument, RuntimeException
from tokenizers import Tokenizer

from rag.local_models.errors import ModelFailed

MODELS = ("model.onnx", "onnx/model.onnx")
MAX_TOKENS = 512
MADE_OF = {"tensor(int64)": np.int64, "tensor(int32)": np.int32}


class OnnxPairs:
    """tokenizer.json and model.onnx (or onnx/model.onnx); `outputs` logits a pair. Safe for several threads.

    One pair a run, never a batch: dynamic int8 takes its scales from the whole input, so a neighbour would
    change a pair's score, and on a CPU batches bring nothing. Raises ValueError for a folder without such a
    model.
    """

    def __init__(self, folder: Path, *, outputs: int) -> None:
        self._outputs = outputs
        try:
            self._tokenizer = _tokenizer(folder)
            self._session = onnxruntime.InferenceSession(
                model_file(folder), _options(), ["CPUExecutionProvider"]
            )
            self._inputs = {one.name: MADE_OF[one.type] for one in self._session.get_inputs()}
            self.logits("question", "passage")
        except ModelFailed as exc:
            raise ValueError(exc.message) from exc
        except Exception as exc:  # tokenizers has no narrower one, ONNX Runtime a class for each of its codes
            raise ValueError(f"{folder} holds no cross-encoder that can be used: {exc}"[:500]) from exc

    def logits(self, first: str, second: str) -> list[float]:
        """Raises ModelFailed."""
        pair = self._tokenizer.encode(first, second)
        given = {
            "input_ids": pair.ids,
            "attention_mask": pair.attention_mask,
            "token_type_ids": pair.type_ids,
        }
        fed = {name: np.array([given[name]], dtype=kind) for name, kind in self._inputs.items()}
        try:
            logits = np.asarray(self._session.run(None, fed)[0], dtype=np.float64)
        except (Fail, InvalidArgument, RuntimeException) as exc:  # memory, for the most part
            raise ModelFailed("The model could not run.") from exc
        if logits.size != self._outputs or not np.isfinite(logits).all():
            raise ModelFailed(
                f"The model gives {logits.size} numbers a pair instead of {self._outputs} that are finite."
            )
        return [float(logit) for logit in logits.reshape(-1)]


def model_file(folder: Path) -> Path:
    """Raises ValueError."""
    found = [folder / name for name in MODELS if (folder / name).is_file()]
    if not (folder / "tokenizer.json").is_file() or not found:
        raise ValueError(f"{folder} holds no tokenizer.json with a {' or '.join(MODELS)}")
    return found[0]


def _tokenizer(folder: Path) -> Tokenizer:
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.enable_truncation(_max_tokens(folder), strategy="longest_first")
    return tokenizer


def _max_tokens(folder: Path) -> int:
    """What the model has places for, at most 512; RoBERTa and its kin begin to count at 2."""
    config = config_of(folder)
    places = config.get("max_position_embeddings")
    if not isinstance(places, int):
        return MAX_TOKENS
    kin = str(config.get("model_type", "")).startswith(("roberta", "xlm-roberta", "camembert"))
    return max(8, min(MAX_TOKENS, places - 2 if kin else places))


def config_of(folder: Path) -> dict[str, Any]:
    """What config.json says; {} without one."""
    path = folder / "config.json"
    found = json.loads(path.read_text()) if path.is_file() else {}
    return found if isinstance(found, dict) else {}


def _options() -> onnxruntime.SessionOptions:
    """One thread a pair: the pairs are the parallelism, and a waiting session must not burn a core."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.enable_mem_pattern = False  # a plan is kept for every length of input
    options.log_severity_level = 3
    return options
