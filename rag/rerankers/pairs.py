"""An ONNX cross-encoder: the score of one pair."""

from pathlib import Path

from rag.local_models.errors import ModelFailed
from rag.local_models.pairs import OnnxPairs
from rag.rerankers.errors import RerankFailed


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
