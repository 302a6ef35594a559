"""A user's own labelled pairs of question and passage -> the pairs that relevance is fitted to."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from uuid import UUID

import numpy as np

from embeddings.lexical import idf, lexemes
from embeddings.protocols import Embedder
from embeddings.types import Vector
from knowlex.common.errors import InvalidInput
from rag.fitting import Pair
from rag.relevance import features_of
from rag.sentences import question_terms, score_sentences
from rag.types import Passage

BATCH = 20


@dataclass(frozen=True, slots=True)
class Labelled:
    """One line of a pairs file: {"question", "passage", "relevant"} and, if the passage has one, "title"."""

    question: str
    passage: str
    relevant: bool
    title: str = ""


def read_labelled(lines: Iterable[str]) -> list[Labelled]:
    """Raises InvalidInput, naming the line that is not as described."""
    found = []
    for number, line in enumerate(lines, start=1):
        if line.strip():
            try:
                labelled = Labelled(**json.loads(line))
            except (TypeError, ValueError) as exc:
                raise InvalidInput(f"Line {number} is not a labelled pair: {exc}") from exc
            texts = (labelled.question, labelled.passage, labelled.title)
            if not all(isinstance(text, str) for text in texts) or not isinstance(labelled.relevant, bool):
                raise InvalidInput(f"Line {number} is not a labelled pair: a field is of the wrong type.")
            found.append(labelled)
    return found


def pairs(labelled: Sequence[Labelled], embedder: Embedder) -> Iterator[Pair]:
    """The passages stand for the collection: how rare a word is, is counted in them.

    Blocking; raises as `Embedder.embed`.
    """
    texts = list(dict.fromkeys(text for one in labelled for text in (one.question, one.passage)))
    vectors: dict[str, Vector] = {}
    for start in range(0, len(texts), BATCH):
        batch = texts[start : start + BATCH]
        vectors |= dict(zip(batch, embedder.embed(batch), strict=True))
    passages = {one.passage for one in labelled}
    counts = Counter(word for passage in passages for word in set(lexemes(passage)))
    for one in labelled:
        worth = {word: idf(counts[word], len(passages)) for word in lexemes(one.question)}
        question, passage = vectors[one.question], vectors[one.passage]
        cosine = float(question @ passage / (np.linalg.norm(question) * np.linalg.norm(passage)))
        terms = question_terms(one.question, worth)
        sentences = score_sentences(one.passage, terms)
        yield Pair(features_of(_passage(one, 1 - cosine), sentences, terms), one.relevant)


def _passage(one: Labelled, distance: float) -> Passage:
    nobody = UUID(int=0)
    return Passage(
        chunk_id=nobody,
        document_id=nobody,
        document_name="",
        title=one.title,
        chunk_index=0,
        content=one.passage,
        page_number=None,
        last_page=None,
        chapter="",
        section="",
        start_char=0,
        token_count=0,
        distance=distance,
    )
