"""The fitting of relevance weights to labelled pairs of question and passage, and pairs read from a file."""

import asyncio
import json
import zlib
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import log
from statistics import median
from typing import Any
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from documents.text.sentences import sentence_spans
from embeddings.lexical.terms import idf, lexemes
from embeddings.protocols import Embedder, SentenceAware
from embeddings.types import EmbeddedText, Vector
from knowlex.base.errors import InvalidInput
from rag.ranking.order import SCALES, scale_by
from rag.relevance.assessment import Calibration
from rag.relevance.features import LAST_OTHER, Features, describe
from rag.rerankers.by_model import ModelReranker
from rag.types.retrieval import Passage, Retrieval
from rag.types.sentences import Scale

RIDGE = 0.3  # in pairs; keeps the weights of a small sample small
STEPS = 100
FOLDS = 8
COSINES = frozenset({"similarity", "sentence_similarity", "margin"})  # what needs a model's cosines
FIXED = frozenset({"subject", "defined"})  # of weights that ship: data seldom hold what they are there for
NAMES = tuple(name for name in Features._fields if name not in FIXED)


@dataclass(frozen=True, slots=True)
class Pair:
    """weight: how many pairs this one counts for. group: what must not be split, such as a document."""

    features: Features
    relevant: bool
    weight: float = 1.0
    group: str = ""


def fit(pairs: Sequence[Pair], *, without: Collection[str] = ()) -> Calibration:
    """Return the likeliest weights, none negative, with both labels of equal weight in all.

    without: features that are left out. Newton's method on the ridge-penalised log-likelihood; features of
    negative weight are left out. Raises ValueError unless there are pairs of both labels.
    """
    if len({pair.relevant for pair in pairs}) < 2:
        raise ValueError("Both relevant and irrelevant pairs are needed.")
    names = [name for name in NAMES if name not in without]
    while True:
        weights, intercept = _newton(pairs, names)
        lowest = min(weights, key=lambda name: weights[name], default="")
        if not lowest or weights[lowest] >= 0:
            fixed = {"subject": 0.0} if "subject" in without else {}
            return Calibration(intercept, **{**dict.fromkeys(NAMES, 0.0), **weights, **fixed})
        names.remove(lowest)


def unseen_chances(pairs: Sequence[Pair], *, without: Collection[str] = ()) -> list[float]:
    """Return for each pair the chance by weights that were fitted without any pair of its group's fold.

    Raises ValueError where the others are of one label only.
    """
    folds = [zlib.crc32(pair.group.encode()) % FOLDS for pair in pairs]
    weights = {
        fold: fit([p for p, other in zip(pairs, folds, strict=True) if other != fold], without=without)
        for fold in sorted(set(folds))
    }
    return [weights[fold].probability(pair.features) for pair, fold in zip(pairs, folds, strict=True)]


def _newton(pairs: Sequence[Pair], names: Sequence[str]) -> tuple[dict[str, float], float]:
    rows = np.array([[*(pair.features._asdict()[name] for name in names), 1.0] for pair in pairs])
    labels = np.array([pair.relevant for pair in pairs], dtype=float)
    counts = _balanced(np.array([pair.weight for pair in pairs]), labels)
    ridge = np.diag([RIDGE] * len(names) + [1e-6])
    found = np.zeros(rows.shape[1])
    for _ in range(STEPS):
        chance = 1 / (1 + np.exp(-rows @ found))
        slope = rows.T @ (counts * (labels - chance)) - ridge @ found
        curve = (rows * (counts * chance * (1 - chance))[:, None]).T @ rows + ridge
        step = np.linalg.solve(curve, slope)
        found += step
        if np.abs(step).max() < 1e-9:
            break
    return dict(zip(names, map(float, found[:-1]), strict=True)), float(found[-1])


def _balanced(counts: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Keep as many relevant pairs as irrelevant ones: how often users ask in vain is not in the sample."""
    share = counts[labels == 0].sum() / counts[labels == 1].sum()
    return np.where(labels == 1, counts * share, counts)


ANSWERABLE = 0.8  # of the questions that people ask: the default threshold is where it is as likely as not
SURE = 5.0  # questions of one kind that the level that ships is worth


def fit_level(logits: Sequence[float], answered: Sequence[bool]) -> float:
    """Return what to add to logits of relevance, so that they fit questions of which these are the best.

    logits: of each question's most relevant passage. answered: whether a passage answers it.

    The likeliest level by Newton's method, both labels of equal weight, if `ANSWERABLE` of the questions can
    be answered; a normal prior of precision `SURE` around 0. One number, since 50 questions say little about
    eight: weights that were fitted to 50 questions' passages refused nine of ten questions afterwards.
    """
    told, labels = np.array(logits), np.array(answered, dtype=float)
    counts = _balanced(np.ones(len(told)), labels)
    counts /= counts.mean()
    odds = log(ANSWERABLE / (1 - ANSWERABLE))
    level = 0.0
    for _ in range(STEPS):
        chance = 1 / (1 + np.exp(odds - told - level))
        slope = float((counts * (labels - chance)).sum()) - SURE * level
        level += slope / (float((counts * chance * (1 - chance)).sum()) + SURE)
        if abs(slope) < 1e-9:
            break
    return level


def area_under_curve(chances: Sequence[float], labels: Sequence[bool]) -> float:
    """Return the share of (relevant, irrelevant) pairs of pairs in the right order; ties count half."""
    told, true = np.array(chances), np.array(labels, dtype=bool)
    yes, no = told[true][:, None], told[~true]
    return float(((yes > no) + 0.5 * (yes == no)).mean())


BATCH = 20
_NOBODY = UUID(int=0)


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
                found.append(_labelled(json.loads(line)))
            except ValueError as exc:
                raise InvalidInput(f"Line {number} is not a labelled pair: {exc}.") from exc
    return found


def _labelled(fields: Any) -> Labelled:
    """Raises ValueError, saying what is wrong."""
    known = {"question", "passage", "relevant"}
    if not isinstance(fields, dict) or not known <= fields.keys() <= known | {"title"}:
        raise ValueError(
            'it must have "question", "passage" and "relevant", may have "title", and nothing else'
        )
    labelled = Labelled(**fields)
    texts = (labelled.question, labelled.passage, labelled.title)
    if not all(isinstance(text, str) for text in texts) or not isinstance(labelled.relevant, bool):
        raise ValueError("a field is of the wrong type")
    if not labelled.question.strip() or not labelled.passage.strip():
        raise ValueError("a text is empty")
    return labelled


def described_pairs(
    labelled: Sequence[Labelled], embedder: Embedder, reranker: ModelReranker | None = None
) -> tuple[list[Pair], Scale]:
    """Return all the passages stand for the collection: how rare a word is, is counted in them, and a
    question's nearest ones are the other candidates that a passage must stand out from. scale: of the
    model, as known or as it gives its cosines here. reranker: scores every pair, however long that takes.

    Blocking; raises as `Embedder.embed`, and RerankFailed.
    """
    collection = _Collection([(one.title, one.passage) for one in labelled], embedder)
    by_question: defaultdict[str, list[Labelled]] = defaultdict(list)
    for one in labelled:
        by_question[one.question].append(one)
    vectors = asyncio.run(_questions(list(by_question), embedder))
    scale = SCALES.get(embedder.model_name) or collection.scale(list(vectors.values()))
    scores = asyncio.run(_scores(by_question, reranker)) if reranker else {}
    found: list[Pair] = []
    for question, ones in by_question.items():
        own = [collection.places[one.title, one.passage] for one in ones]
        retrieval = collection.retrieval(question, vectors[question], own, scale)
        if reranker:
            retrieval = _scored(retrieval, scores[question], reranker.model)
        described = describe(question, retrieval)[: len(own)]
        found += [
            Pair(known.features, one.relevant, group=question)
            for one, known in zip(ones, described, strict=True)
        ]
    return found, scale


async def _questions(texts: Sequence[str], embedder: Embedder) -> dict[str, Vector]:
    try:
        return {text: await embedder.aembed_query(text) for text in texts}
    finally:
        aclose = getattr(embedder, "aclose", None)  # what an embedder on a server opened on this loop
        if aclose is not None:
            await aclose()


async def _scores(
    by_question: Mapping[str, Sequence[Labelled]], reranker: ModelReranker
) -> dict[str, list[float]]:
    """Return the scores of each question's passages, in their order."""
    try:
        return {
            question: await reranker.scores(question, [one.passage for one in ones])
            for question, ones in by_question.items()
        }
    finally:
        await reranker.aclose()


def _scored(retrieval: Retrieval, scores: Sequence[float], model: str) -> Retrieval:
    """Add the scores of the first passages; the others are only there to stand out from."""
    own = (p._replace(rerank_score=s) for p, s in zip(retrieval.passages, scores, strict=False))
    return replace(
        retrieval, passages=(*own, *retrieval.passages[len(scores) :]), rerank_model=model, scale=None
    )


class _Collection:
    """The distinct passages in memory; places: of each (title, text)."""

    def __init__(self, titled: Iterable[tuple[str, str]], embedder: Embedder) -> None:
        self.places = {key: place for place, key in enumerate(dict.fromkeys(titled))}
        self._model_name = embedder.model_name
        texts = [text for _, text in self.places]
        self._spans = [sentence_spans(text) for text in texts]
        self._embedded = _embedded(texts, self._spans, embedder)
        self._vectors = np.stack([_unit(one.vector) for one in self._embedded])
        self._counts = Counter(word for text in texts for word in set(lexemes(text)))

    def scale(self, questions: Sequence[Vector]) -> Scale:
        """Medians over the questions, as those of the models that ship were taken."""
        scales = [scale_by(self._nearest(vector)) for vector in questions]
        return Scale(median(one.base for one in scales), median(one.spread for one in scales))

    def _nearest(self, question: Vector) -> list[float]:
        nearest = np.sort(self._vectors @ _unit(question))[::-1][:LAST_OTHER]
        return [float(cosine) for cosine in nearest]

    def retrieval(self, question: str, vector: Vector, own: Sequence[int], scale: Scale) -> Retrieval:
        """Return the passages at `own`, in this order, and the nearest others, as a search would have
        found them.
        """
        unit = _unit(vector)
        cosines = self._vectors @ unit
        others = [int(place) for place in np.argsort(-cosines)[:LAST_OTHER] if place not in own]
        titled = list(self.places)
        passages = [
            _passage(*titled[place], float(cosines[place]), self._spans[place], self._embedded[place], unit)
            for place in [*own, *others]
        ]
        worth = {word: idf(self._counts[word], len(titled)) for word in lexemes(question)}
        return Retrieval(
            tuple(passages), worth, self._model_name, {"base": scale.base, "spread": scale.spread}
        )


def _embedded(
    texts: Sequence[str], spans: Sequence[list[tuple[int, int]]], embedder: Embedder
) -> list[EmbeddedText]:
    found: list[EmbeddedText] = []
    for start in range(0, len(texts), BATCH):
        batch = texts[start : start + BATCH]
        if isinstance(embedder, SentenceAware):
            found += embedder.embed_with_sentences(batch, spans[start : start + BATCH])
        else:
            found += map(EmbeddedText, embedder.embed(batch))
    return found


def _unit(vector: Vector) -> NDArray[np.float32]:
    return np.asarray(vector / np.linalg.norm(vector), dtype=np.float32)


def _passage(
    title: str,
    text: str,
    cosine: float,
    spans: list[tuple[int, int]],
    embedded: EmbeddedText,
    question: Vector,
) -> Passage:
    known = embedded.sentences is not None
    return Passage(
        chunk_id=_NOBODY,
        document_id=_NOBODY,
        document_name="",
        title=title,
        chunk_index=0,
        content=text,
        page_number=None,
        last_page=None,
        chapter="",
        section="",
        start_char=0,
        token_count=0,
        distance=1 - cosine,
        bounds=tuple(spans) if known else (),
        similarities=tuple(map(float, embedded.sentences @ question))
        if embedded.sentences is not None
        else (),
    )
