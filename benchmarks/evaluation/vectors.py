"""Vectors of questions and passages, made once and kept in a file: experiments then take seconds."""

import asyncio
import pickle
from collections.abc import Callable
from pathlib import Path

import numpy as np

from documents.text.sentences import sentence_spans
from embeddings.protocols import Embedder, SentenceAware

Spans = list[tuple[int, int]]
SAVE_EVERY = 200


class Vectors:
    """cache: a file of its own for each model, written and read by this class only."""

    def __init__(self, model_name: str, build: Callable[[], Embedder], cache: Path) -> None:
        self.model_name = model_name
        self._build, self._cache = build, cache
        self._embedder: Embedder | None = None
        self._known: dict[str, dict] = {"q": {}, "p": {}}
        if cache.exists():
            self._known = pickle.loads(cache.read_bytes())
        self._unsaved = 0

    def question(self, text: str) -> np.ndarray:
        if text not in self._known["q"]:
            self._known["q"][text] = asyncio.run(self._model().aembed_query(text))
            self._count()
        return self._known["q"][text]

    def passage(self, text: str) -> tuple[np.ndarray, Spans | None, np.ndarray | None]:
        """Its vector, the bounds of its sentences and their vectors; None for a model that has none."""
        if text not in self._known["p"]:
            self._known["p"][text] = self._embedded(text)
            self._count()
        return self._known["p"][text]

    def save(self) -> None:
        if self._unsaved:
            self._cache.parent.mkdir(parents=True, exist_ok=True)
            self._cache.write_bytes(pickle.dumps(self._known))
            self._unsaved = 0

    def _embedded(self, text: str) -> tuple[np.ndarray, Spans | None, np.ndarray | None]:
        model = self._model()
        if not isinstance(model, SentenceAware):
            return model.embed([text])[0], None, None
        spans = sentence_spans(text)
        (found,) = model.embed_with_sentences([text], [spans])
        sentences = found.sentences
        return found.vector, spans, None if sentences is None else sentences.astype(np.float16)

    def _model(self) -> Embedder:
        if self._embedder is None:
            self._embedder = self._build()
        return self._embedder

    def _count(self) -> None:
        self._unsaved += 1
        if self._unsaved >= SAVE_EVERY:
            self.save()
