"""A small model that reads a sentence beside a question, and says whether it answers.

Words and vectors say what a sentence is about; where a document is about the subject but silent on what is
asked, its sentences look to them like answers. The model ships with Knowlex (reader/README.md: what it was
made of, and how good it is). It knows English, and questions with an interrogative.
"""

import asyncio
import math
import re
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Lock
from typing import NamedTuple

from embeddings.lexical.languages import detect_question_languages
from rag.local_models import Limit, ModelFailed, OnnxPairs, model_file
from rag.question_forms import asks_for_overview, comparison_in
from rag.ranking.logits import logit_of
from rag.types.question import Question

SHIPPED = Path(__file__).parent / "reader"
MOST_CHARS = 1200  # of a sentence; the model has 512 places
# Others can be answered without a sentence that does: "Summarize ...", "revenue 2023", "Is it allowed?".
_ASKS = re.compile(r"\b(?:who|whom|whose|what|when|where|which|why|how)\b", re.IGNORECASE)


class Weights(NamedTuple):
    """Of the logit that an answer answers: by relevance, by the reading (both logits), and of neither."""

    relevance: float
    reading: float
    intercept: float

    def logit(self, relevance: float, reading: float) -> float:
        return self.relevance * logit_of(relevance) + self.reading * reading + self.intercept


# Fitted by benchmarks/evaluation/fit_reading.py; how good they are is in docs/evaluation.md.
# Of relevant passages the relevance says no more.
WEIGHTS = Weights(relevance=0.0, reading=0.51, intercept=3.62)
# Where no passage is relevant enough by itself.
LONE = Weights(relevance=0.31, reading=0.48, intercept=1.13)


class SentenceReader:
    """Slow or failing, it reads nothing, and answers are as they were without it; see `Limit`.

    model: a folder, see `OnnxPairs`, whose one number a pair is the logit that the sentence answers. Raises
    ValueError for a folder without the files of a model.
    """

    def __init__(self, folder: Path = SHIPPED, *, timeout_s: float = 1.0) -> None:
        model_file(folder)
        self._folder = folder
        self.limit = Limit(timeout_s, what="sentence reader")
        self._model: OnnxPairs | None = None
        self._loading = Lock()
        self._threads = ThreadPoolExecutor(1, "reader")  # starts it when needed

    async def read(self, question: Question, sentences: Sequence[str]) -> list[float] | None:
        """Return the logit of each that it answers; None where that cannot be told now."""
        loop = asyncio.get_running_loop()
        return await self.limit.call(
            lambda: loop.run_in_executor(self._threads, self._logits, question.text, sentences),
            within_s=question.spare(math.inf),
        )

    def _logits(self, question: str, sentences: Sequence[str]) -> list[float]:
        try:
            model = self._loaded()
        except ValueError as exc:
            raise ModelFailed("The sentence reader's model cannot be loaded.") from exc
        return [model.logits(question, sentence[:MOST_CHARS])[0] for sentence in sentences]

    def _loaded(self) -> OnnxPairs:
        with self._loading:
            if self._model is None:
                self._model = OnnxPairs(self._folder, outputs=1)
            return self._model


def can_read(text: str, languages: Sequence[str]) -> bool:
    """Return whether the question and all of the texts are what the model was made for.

    text: of the question. languages: of what it is to be read beside, "" where it is unknown.
    """
    return (
        _ASKS.search(text) is not None
        and detect_question_languages(text) in ((), ("en",))
        and all(language in ("", "en") for language in languages)
        and not asks_for_overview(text)
        and comparison_in(text) is None
    )


def answers(relevance: float, reading: float, least: float, weights: Weights = WEIGHTS) -> bool:
    """Return whether it is at least so probable that the sentence answers.

    relevance: of the best passage. reading: a logit. least: as for a passage; 0 lets everything pass.
    """
    if least <= 0:
        return True
    return weights.logit(relevance, reading) >= logit_of(least)
