"""Claims judged by an ONNX model of natural language inference of one's own, in this process."""

import asyncio
import math
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event, Lock
from typing import NamedTuple

from rag.citations.judge import judge_claim
from rag.local_models import Limit, ModelFailed, OnnxPairs, config_of, model_file
from rag.types.claims import Claim, Finding, Judgement
from rag.types.context import Block


class Labels(NamedTuple):
    """Places of the labels among the model's `outputs` numbers."""

    outputs: int
    entailment: int
    contradiction: int


def labels_of(folder: Path) -> Labels:
    """Read the labels' places from config.json. Raises ValueError where it does not name them."""
    try:
        named = config_of(folder).get("id2label")
    except ValueError as exc:
        raise ValueError(f"the config.json of {folder} is no JSON") from exc
    if not isinstance(named, dict) or not all(str(place).isdigit() for place in named):
        raise ValueError(f"{folder} holds no config.json whose id2label names the labels")
    places = {str(label).lower(): int(place) for place, label in named.items()}
    found = [
        next((place for label, place in places.items() if label.startswith(word)), None)
        for word in ("entail", "contradict")
    ]
    if found[0] is None or found[1] is None or sorted(places.values()) != list(range(len(named))):
        raise ValueError(f"the id2label of {folder} names no entailment and contradiction")
    return Labels(len(named), found[0], found[1])


ENTAILED = 0.6  # probability from which a claim is supported
CONTRADICTED = 0.9  # probability from which it is contradicted, if all that is cited says so
MOST_PAIRS = 8  # a claim
THREADS = 2


class Chances(NamedTuple):
    entailment: float
    contradiction: float


class NliJudge:
    """Of what words leave unverified the model decides: it may support it, or contradict it.

    What stands word for word, and what the facts contradict, needs no model. One that is slow or fails leaves
    the verdict as it is; see `Limit`. model: a folder, see `OnnxPairs`, whose config.json names the labels.
    Raises ValueError for one without those files.
    """

    def __init__(self, *, model: str, timeout_s: float = 1.0) -> None:
        self._folder = Path(model)
        self.model = f"nli:{self._folder.resolve().name}"
        model_file(self._folder)
        self._labels = labels_of(self._folder)
        self.limit = Limit(timeout_s, what="judge of claims")
        self._model: OnnxPairs | None = None
        self._loading = Lock()
        self._threads = ThreadPoolExecutor(THREADS, "judge")  # starts them when needed

    async def judge(self, claim: Claim, blocks: Sequence[Block]) -> Judgement:
        judgement = judge_claim(claim, blocks)
        open_ = [one for one in judgement.findings if one.support == "unverified"][:MOST_PAIRS]
        if not open_ or judgement.is_verified:
            return judgement
        pairs = [(blocks[one.block - 1].content[one.start : one.end], claim.text) for one in open_]
        chances = await self.limit.call(lambda: self._all(pairs))
        if chances is None:
            return judgement
        if all(chance.contradiction >= CONTRADICTED for chance in chances):
            return Judgement(missing=(claim.text,))
        decided = dict(zip(open_, chances, strict=True))
        return Judgement(tuple(_decided(one, decided.get(one)) for one in judgement.findings))

    async def state(self) -> str:
        """Load the model if that was not done yet; return its state, see `ModelBacked`."""
        if self.limit.resting:
            return "resting"
        await asyncio.get_running_loop().run_in_executor(self._threads, self._loaded)
        return "loaded"

    def check(self) -> None:
        """Try the model without keeping it, since this process may start the others. Raises ValueError."""
        OnnxPairs(self._folder, outputs=self._labels.outputs)

    async def _all(self, pairs: Sequence[tuple[str, str]]) -> list[Chances]:
        stop, loop = Event(), asyncio.get_running_loop()
        jobs = [
            loop.run_in_executor(self._threads, self._chances, pairs[n::THREADS], stop)
            for n in range(THREADS)
        ]
        try:
            shares = await asyncio.gather(*jobs)
        finally:
            stop.set()  # what nobody waits for any more ends after its pair
        return [shares[n % THREADS][n // THREADS] for n in range(len(pairs))]

    def _chances(self, pairs: Sequence[tuple[str, str]], stop: Event) -> list[Chances]:
        try:
            model = self._loaded()
        except ValueError as exc:
            raise ModelFailed("The judge's model cannot be loaded.") from exc
        found = []
        for premise, claim in pairs:
            if stop.is_set():
                raise ModelFailed("Nobody waits for the verdict any more.")
            found.append(chances_of(model.logits(premise, claim), self._labels))
        return found

    def _loaded(self) -> OnnxPairs:
        with self._loading:
            if self._model is None:
                self._model = OnnxPairs(self._folder, outputs=self._labels.outputs)
            return self._model


def chances_of(logits: Sequence[float], labels: Labels) -> Chances:
    """Compute the softmax without overflow."""
    most = max(logits)
    powers = [math.exp(logit - most) for logit in logits]
    whole = sum(powers)
    return Chances(powers[labels.entailment] / whole, powers[labels.contradiction] / whole)


def _decided(finding: Finding, chances: Chances | None) -> Finding:
    if chances is None or chances.entailment < ENTAILED:
        return finding
    return finding._replace(support="supported")
