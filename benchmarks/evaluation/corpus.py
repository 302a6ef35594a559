"""Documents in memory, searched as the server searches them: for fitting and measuring without a server."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from uuid import UUID, uuid5

import numpy as np

from documents.chunkers.sentence import SentenceChunker
from documents.extractors.kinds import name_kind
from documents.extractors.limits import Job
from documents.extractors.reading import read_document
from documents.tokens import WordPieceCounter
from documents.types import ALL_SOURCES, ChunkingSettings
from embeddings.embedders.local import LocalEmbedder
from embeddings.lexical import idf, lexemes, position, term_weights
from rag.types import Passage, Retrieval

DEPTH = 40
_SPACE = UUID(int=0)


def read_passages(files: Iterable[Path]) -> list[Passage]:
    """All chunks of the files, as passages that have not been ranked yet."""
    chunker = SentenceChunker(tokenizer=WordPieceCounter())
    passages = []
    for path in files:
        extraction = read_document(path.read_bytes(), Job("auto", name_kind(path.name), ALL_SOURCES))
        passages += [
            Passage(
                chunk_id=uuid5(_SPACE, f"{path.name}/{chunk.chunk_index}"),
                document_id=uuid5(_SPACE, path.name),
                document_name=path.name,
                title=extraction.title or path.name,
                chunk_index=chunk.chunk_index,
                content=chunk.content,
                page_number=chunk.page_number,
                last_page=chunk.last_page,
                chapter=chunk.chapter,
                section=chunk.section,
                start_char=chunk.start_char,
                token_count=chunk.token_count,
                distance=0.0,
            )
            for chunk in chunker.split(extraction, ChunkingSettings())
        ]
    return passages


class Corpus:
    """Hybrid retrieval over passages, or over some of them as if there were no others."""

    def __init__(self, passages: Sequence[Passage], embedder: LocalEmbedder) -> None:
        self.passages = passages
        self._embedder = embedder
        self._vectors = np.stack(embedder.embed([passage.content for passage in passages]))
        words = [lexemes(passage.content) for passage in passages]
        self._held = [frozenset(found) for found in words]
        self._weights = [term_weights(found) for found in words]

    def retrieve(self, question: str, among: Sequence[int] | None = None) -> Retrieval:
        """among: places in `passages`; None for all."""
        places = np.array(range(len(self.passages)) if among is None else among)
        (vector,) = self._embedder.embed([question])
        distances = 1 - self._vectors[places] @ vector
        worth = self._worth(lexemes(question), places)
        sparse = np.array(
            [sum(w * self._weights[p].get(position(word), 0) for word, w in worth.items()) for p in places]
        )
        dense_rank = _ranks(np.argsort(distances, kind="stable")[:DEPTH])
        sparse_rank = _ranks(n for n in np.argsort(-sparse, kind="stable")[:DEPTH] if sparse[n] > 0)
        scores = {n: _fused((dense_rank.get(n), sparse_rank.get(n))) for n in {*dense_rank, *sparse_rank}}
        best = sorted(scores, key=lambda n: (-scores[n], distances[n]))[:DEPTH]
        passages = tuple(
            _placed(self.passages[places[n]], float(distances[n]), dense_rank.get(n), sparse_rank.get(n))
            for n in best
        )
        return Retrieval(passages, worth, self._embedder.model_name)

    def _worth(self, words: Iterable[str], places: np.ndarray) -> dict[str, float]:
        asked = frozenset(words)
        counts = Counter(word for place in places for word in asked & self._held[place])
        return {word: idf(counts[word], len(places)) for word in asked}


def _ranks(places: Iterable[int]) -> dict[int, int]:
    return {int(place): rank for rank, place in enumerate(places, start=1)}


def _placed(passage: Passage, distance: float, dense_rank: int | None, sparse_rank: int | None) -> Passage:
    return replace(
        passage,
        distance=max(0.0, distance),
        dense_rank=dense_rank,
        sparse_rank=sparse_rank,
        score=_fused((dense_rank, sparse_rank)),
    )


def _fused(ranks: Iterable[int | None]) -> float:
    """Reciprocal rank fusion, k = 60, as in the statement of the retriever."""
    return sum(1 / (60 + rank) for rank in ranks if rank is not None)
