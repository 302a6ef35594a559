"""An ONNX cross-encoder as a reranker, which reads question and passage as one pair."""

import asyncio
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event, Lock

from rag.local_models import ModelFailed, OnnxPairs, model_file
from rag.rerankers.by_model import ModelReranker, RerankFailed, sigmoid


class PairModel(OnnxPairs):
    """One logit a pair. Raises ValueError for a folder without such a model."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, outputs=1)

    def logit(self, question: str, text: str) -> float:
        """Raises RerankFailed."""
        try:
            return self.logits(question, text)[0]
        except ModelFailed as exc:
            raise RerankFailed(exc.message) from exc


THREADS = 2


class CrossEncoderReranker(ModelReranker):
    """model: a folder, see `PairModel`. Raises ValueError for one without the files of a model."""

    name = "cross-encoder"

    def __init__(self, *, model: str, timeout_s: float = 2.0) -> None:
        super().__init__(timeout_s=timeout_s)
        if not model:
            raise ValueError("KNOWLEX_RERANKER_MODEL is not set.")
        self._folder = Path(model)
        self.model = f"{self.name}:{self._folder.resolve().name}"
        model_file(self._folder)
        self._model: PairModel | None = None
        self._loading = Lock()
        self._threads = ThreadPoolExecutor(THREADS, "rerank")  # starts them when needed

    async def scores(self, question: str, texts: Sequence[str]) -> list[float]:
        """Score the longest first, so that the threads end at about the same time."""
        stop, loop = Event(), asyncio.get_running_loop()
        places = sorted(range(len(texts)), key=lambda place: -len(texts[place]))
        shares = [places[n::THREADS] for n in range(THREADS)]
        jobs = [
            loop.run_in_executor(self._threads, self._logits, question, [texts[n] for n in share], stop)
            for share in shares
        ]
        try:
            found = await asyncio.gather(*jobs)
        finally:
            stop.set()  # what nobody waits for any more ends after its pair
        logit_of = {
            place: logit
            for share, logits in zip(shares, found, strict=True)
            for place, logit in zip(share, logits, strict=True)
        }
        return [sigmoid(logit_of[place]) for place in range(len(texts))]

    async def state(self) -> str:
        """Loads the model if that was not done yet."""
        if self.limit.resting:
            return "resting"
        await asyncio.get_running_loop().run_in_executor(self._threads, self._loaded)
        return "loaded"

    def check(self) -> None:
        """Check without keeping the model: this may be the process that starts the others."""
        PairModel(self._folder)

    def _logits(self, question: str, texts: Sequence[str], stop: Event) -> list[float]:
        try:
            model = self._loaded()
        except ValueError as exc:
            raise RerankFailed("The reranker's model cannot be loaded.") from exc
        found = []
        for text in texts:
            if stop.is_set():
                raise RerankFailed("Nobody waits for the scores any more.")
            found.append(model.logit(question, text))
        return found

    def _loaded(self) -> PairModel:
        with self._loading:
            if self._model is None:
                self._model = PairModel(self._folder)
            return self._model
