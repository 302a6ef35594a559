"""Models on this machine's own processor that read pairs of texts, and the limits under which they run."""

import asyncio
import json
import logging
import math
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import onnxruntime
from onnxruntime.capi.onnxruntime_pybind11_state import (
    Fail,
    InvalidArgument,
    RuntimeException,
)
from tokenizers import Tokenizer

from embeddings.onnx_sessions import session_options
from knowlex.base.errors import KnowlexError


class ModelFailed(KnowlexError):
    """No scores this time. It never reaches a client: what was there without the model stays."""


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
                model_file(folder), session_options(), ["CPUExecutionProvider"]
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
    """Return what the model has places for, at most 512; RoBERTa and its kin begin to count at 2."""
    config = config_of(folder)
    places = config.get("max_position_embeddings")
    if not isinstance(places, int):
        return MAX_TOKENS
    kin = str(config.get("model_type", "")).startswith(("roberta", "xlm-roberta", "camembert"))
    return max(8, min(MAX_TOKENS, places - 2 if kin else places))


def config_of(folder: Path) -> dict[str, Any]:
    """Return what config.json says; {} without one."""
    path = folder / "config.json"
    found = json.loads(path.read_text()) if path.is_file() else {}
    return found if isinstance(found, dict) else {}


T = TypeVar("T")
log = logging.getLogger(__name__)

FAILURES = 3  # in a row
REST_S, LONGEST_REST_S = 15.0, 240.0


class Limit:
    """timeout_s: of one call. After `FAILURES` calls in a row without a result the model rests.

    Then one call tries it again, the others going on without: a result ends the rest, a failure doubles it.
    what: the model, as the log calls it.
    """

    def __init__(
        self,
        timeout_s: float,
        *,
        what: str = "reranker",
        rest_s: float = REST_S,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._what = what
        self._timeout_s, self._first_rest_s, self._clock = timeout_s, rest_s, clock
        self._failures, self._rest_s, self._rests_until = 0, rest_s, 0.0
        self._trying = False

    @property
    def resting(self) -> bool:
        """Return whether the model is off at the moment, or on trial after it was."""
        return self._failures >= FAILURES

    async def call(
        self, work: Callable[[], Awaitable[T]], *, within_s: float = math.inf, timeout_s: float | None = None
    ) -> T | None:
        """Return the result, or None: too slow, failed (ModelFailed), or not asked at all.

        within_s: what the question has left for it; that this was too little is no fault of the model.
        timeout_s: of this call, if it is another than the usual one.
        """
        timeout_s = self._timeout_s if timeout_s is None else timeout_s
        if self.resting and (self._trying or self._clock() < self._rests_until):
            return None
        on_trial = self._trying = self.resting
        try:
            async with asyncio.timeout(min(timeout_s, within_s)):
                result = await work()
        except TimeoutError:
            if within_s < timeout_s:
                return None
            self._failed(f"The {self._what} took longer than {timeout_s:g} s.", on_trial)
            return None
        except ModelFailed as exc:
            self._failed(exc.message, on_trial)
            return None
        finally:
            self._trying = self._trying and not on_trial
        self._failures, self._rest_s = 0, self._first_rest_s
        return result

    def _failed(self, reason: str, on_trial: bool) -> None:
        self._failures += 1
        log.warning("done without the %s", self._what, extra={"reason": reason, "failures": self._failures})
        if on_trial or self._failures == FAILURES:  # those that were under way do not prolong it
            self._rests_until = self._clock() + self._rest_s
            log.error("the %s is off for a while", self._what, extra={"rest_s": self._rest_s})
            self._rest_s = min(2 * self._rest_s, LONGEST_REST_S)
