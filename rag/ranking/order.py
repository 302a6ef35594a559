"""The order that the default reranker gives to passages, as a number for each. Plain Python.

    strength = c + 1.5 * b + max over the sentences of (s + 0.2 * c1 + 0.2 * c2)

c: cosine of passage and question; s: of the sentence. b: the passage's BM25 as a share [0, 1) of the most
that the question's words can give; a word of its headings or its document's names counts as said once more.
c1: share of the question's idf mass in the sentence, c2: with the one before it. A passage without sentence
vectors has c for s; one that was not compared at all has neither.

The first half keeps what fits a question as a whole, the second what answers it in one place: by RRF the
articles' questions have hit@1 .82 and Cranfield nDCG@10 .404, by the best sentence alone .88 and .396, by
both .91 and .413; the weights may differ by a quarter without a change (docs/evaluation.md). A sum of scores
and not of ranks, since it loses gracefully: words that hardly meet add hardly anything. b by its theoretical
maximum as in Bruch, Gai, Ingber, "An Analysis of Fusion Functions for Hybrid Retrieval", ACM TOIS 42, 2023.
"""

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from statistics import fmean
from typing import Any

from embeddings.lexical.sentences import Analysis
from embeddings.lexical.terms import K1
from rag.ranking.sentences import Terms, analysis_in, words_of_headings
from rag.types.retrieval import Passage
from rag.types.sentences import USUAL_BASE, USUAL_SPREAD, Scale, Sentences, SentenceScores

BM25 = 1.5
WORDS = 0.2  # of c1 and of c2
IMAGINED = 2  # candidates of the usual spread, so that two that are nearly alike do not settle everything


USUAL = Scale(USUAL_BASE, USUAL_SPREAD)
SCALES = {"all-MiniLM-L6-v2": USUAL, "multilingual-e5-small": Scale(0.775, 0.02)}


def scale_of(
    model_name: str, passages: Sequence[Passage], calibration: Mapping[str, Any] | None = None
) -> Scale:
    """Return the scale as measured when the model was calibrated, or as known; else by these candidates."""
    base, spread = ((calibration or {}).get(name) for name in ("base", "spread"))
    if isinstance(base, int | float) and isinstance(spread, int | float) and spread > 0:
        return Scale(base, spread)
    cosines = [1 - passage.distance for passage in passages if passage.distance is not None]
    return SCALES.get(model_name) or (scale_by(cosines) if cosines else USUAL)


def scale_by(cosines: Sequence[float]) -> Scale:
    mean = fmean(cosines)
    squares = sum((cosine - mean) ** 2 for cosine in cosines) + IMAGINED * USUAL_SPREAD**2
    return Scale(mean, (squares / (len(cosines) + IMAGINED)) ** 0.5)


def strength(passage: Passage, sentences: Sentences, terms: Terms, scale: Scale) -> float:
    """Return the passage's strength; higher is better. sentences: scored for the question of the terms."""
    factor, shift = scale.line  # in place: there are hundreds of sentences
    cosine = 0.0 if passage.distance is None else factor * (1 - passage.distance) + shift
    in_words = bm25(terms, analysis_in(passage), words_of_headings(passage))
    scored = SentenceScores.of(sentences)
    values = [
        (cosine if similarity is None else factor * similarity + shift) + WORDS * words
        for similarity, words in zip(scored.similarities, scored.both_coverages(), strict=True)
    ]
    return cosine + BM25 * in_words + max(values, default=cosine)


def bm25(terms: Terms, analysis: Analysis, headings: AbstractSet[str] = frozenset()) -> float:
    """Return share [0, 1) of the score of a passage that says every word of the question without end.

    headings: the words above it, as `embeddings.lexical.terms.term_weights` counts them.
    """
    if not terms.mass:
        return 0.0
    places = dict(zip(terms.looked_for, terms.occurrences[analysis], strict=True))
    held = 0.0
    for word, weight in terms.weights.items():
        if many := len(places[word]) + (word in headings):
            held += weight * analysis.weight(many)
        elif others := terms.paraphrases.get(word):
            held += max(
                [
                    min(weight, worth) * analysis.weight(many)
                    for other, worth in others.items()
                    if (many := len(places[other]) + (other in headings))
                ],
                default=0.0,
            )
    return held / ((K1 + 1) * terms.mass)
