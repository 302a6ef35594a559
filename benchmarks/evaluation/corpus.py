"""Documents in memory, searched as the server searches them: for fitting and measuring without a server."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from uuid import UUID, uuid5

import numpy as np

from benchmarks.evaluation.vectors import Vectors
from documents.chunkers.sentence import SentenceChunker
from documents.extractors.job import Job, guess_name_kind
from documents.extractors.readers import read_document
from documents.text.tokens import WordPieceCounter
from documents.types import ALL_SOURCES, ChunkingSettings
from embeddings.lexical.terms import hash_position, idf, lexemes, question_lexemes, term_weights
from rag.ranking.sentences import words_of_headings
from rag.retrievers.paraphrases import LANGUAGE, paraphrases_of, weigh_paraphrases
from rag.types.retrieval import Passage, Retrieval, Saying

DEPTH = 40  # of each ranking
SUREST = 5  # of each that are candidates in any case
CANDIDATES = 20  # of both together, as the server hands them on
_SPACE = UUID(int=0)


def read_passages(files: Iterable[Path], languages: Mapping[str, str] | None = None) -> list[Passage]:
    """All chunks of the files, as passages that have not been ranked yet; languages: by file name."""
    chunker = SentenceChunker(tokenizer=WordPieceCounter())
    passages = []
    for path in files:
        extraction = read_document(path.read_bytes(), Job("auto", guess_name_kind(path.name), ALL_SOURCES))
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
                language=(languages or {}).get(path.name, ""),
                table_head=chunk.table.texts if chunk.table else (),
            )
            for chunk in chunker.split(extraction, ChunkingSettings())
        ]
    return passages


class Corpus:
    """Hybrid retrieval over passages, or over some of them as if there were no others."""

    def __init__(self, passages: Sequence[Passage], vectors: Vectors) -> None:
        self.passages = passages
        self.model_name = vectors.model_name
        self.vectors = vectors
        self._embedded = [vectors.passage(passage.content) for passage in passages]
        vectors.save()
        self._vectors = np.stack([vector for vector, _, _ in self._embedded])
        words = [lexemes(passage.content, passage.language) for passage in passages]
        above = [
            words_of_headings(passage).union(lexemes("\n".join(passage.table_head), passage.language))
            for passage in passages
        ]
        self._held = [headings.union(found) for found, headings in zip(words, above, strict=True)]
        self._weights = [term_weights(found, headings) for found, headings in zip(words, above, strict=True)]
        self._languages = sorted({passage.language for passage in passages})

    def retrieve(
        self, question: str, among: Sequence[int] | None = None, candidates: int = CANDIDATES
    ) -> Retrieval:
        """among: places in `passages`; None for all."""
        places = np.array(range(len(self.passages)) if among is None else among)
        vector = self.vectors.question(question)
        distances = 1 - self._vectors[places] @ vector
        worth = self._worth(question, places)
        sparse = np.array([self._bm25(worth, place) for place in places])
        dense_rank = _ranks(np.argsort(distances, kind="stable")[:DEPTH])
        sparse_rank = _ranks(n for n in np.argsort(-sparse, kind="stable")[:DEPTH] if sparse[n] > 0)
        scores = {n: _fused((dense_rank.get(n), sparse_rank.get(n))) for n in {*dense_rank, *sparse_rank}}
        sure = {n for ranks in (dense_rank, sparse_rank) for n, rank in ranks.items() if rank <= SUREST}
        chosen = sorted(scores, key=lambda n: (n not in sure, -scores[n], distances[n]))[:candidates]
        best = sorted(chosen, key=lambda n: (-scores[n], distances[n]))
        passages = tuple(
            self._compared(places[n], vector)._replace(
                distance=max(0.0, float(distances[n])),
                dense_rank=dense_rank.get(n),
                sparse_rank=sparse_rank.get(n),
                sparse_score=float(sparse[n]),
                score=scores[n],
                fused_score=scores[n],
            )
            for n in best
        )
        paraphrases = self._paraphrases(question, worth, places)
        return Retrieval(passages, worth, self.model_name, paraphrases=paraphrases)

    def retrieve_within(
        self, question: str, document_ids: Collection[UUID], among: Sequence[int] | None = None
    ) -> Retrieval:
        """The same of some documents. among: as `retrieve` takes it."""
        places = range(len(self.passages)) if among is None else among
        return self.retrieve(question, [n for n in places if self.passages[n].document_id in document_ids])

    def find_sayings(self, words: Collection[str], among: Sequence[int] | None = None) -> list[Saying]:
        """Return which documents say these lexemes. among: as `retrieve` takes it."""
        places = range(len(self.passages)) if among is None else among
        sizes = Counter(self.passages[n].document_id for n in places)
        sayings: list[Saying] = []
        for word in sorted(words):
            said = Counter(self.passages[n].document_id for n in places if word in self._held[n])
            sayings += [
                Saying(word, id_, n, sizes[id_], said.total(), len(places)) for id_, n in said.items()
            ]
        return sayings

    def _compared(self, place: int, question: np.ndarray) -> Passage:
        _, bounds, sentences = self._embedded[place]
        if bounds is None or sentences is None:
            return self.passages[place]
        similarities = tuple((sentences.astype(np.float32) @ question).tolist())
        return self.passages[place]._replace(bounds=tuple(bounds), similarities=similarities)

    def _bm25(self, worth: Mapping[str, float], place: int) -> float:
        weights = self._weights[place]
        return sum(weight * weights.get(hash_position(word), 0) for word, weight in worth.items())

    def _paraphrases(
        self, question: str, worth: Mapping[str, float], places: np.ndarray
    ) -> dict[str, dict[str, float]]:
        if LANGUAGE not in self._languages:
            return {}
        asked = question_lexemes(question, [LANGUAGE])[LANGUAGE]
        others = frozenset(paraphrases_of(asked)) - worth.keys()
        counts = Counter(word for place in places for word in others & self._held[place])
        told = {word: idf(many, len(places)) for word, many in counts.items()}
        return weigh_paraphrases(asked, told | worth)

    def _worth(self, question: str, places: np.ndarray) -> dict[str, float]:
        """Of the question's words in the analysis of every language that the documents are in."""
        asked = frozenset().union(*question_lexemes(question, self._languages).values())
        counts = Counter(word for place in places for word in asked & self._held[place])
        return {word: idf(counts[word], len(places)) for word in asked}


def _ranks(places: Iterable[int]) -> dict[int, int]:
    return {int(place): rank for rank, place in enumerate(places, start=1)}


def _fused(ranks: Iterable[int | None]) -> float:
    """Reciprocal rank fusion, k = 60, as in the statement of the retriever."""
    return sum(1 / (60 + rank) for rank in ranks if rank is not None)
