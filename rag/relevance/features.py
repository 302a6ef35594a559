"""What is known of a passage, its question and the other candidates, as numbers. Plain Python."""

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from heapq import nlargest
from typing import NamedTuple, TypeVar, cast

from embeddings.lexical.sentences import Analysis
from rag.extracting.sentence_form import asks_meaning, says_what_is
from rag.ranking.logits import logit_of
from rag.ranking.order import scale_of, strength
from rag.ranking.sentences import (
    Terms,
    analysis_in,
    misspelled,
    score_passage,
    terms_by_language,
    words_of_headings,
)
from rag.types.retrieval import Passage, Retrieval
from rag.types.sentences import Scale, Sentences, SentenceScores

ENOUGH = 4.0  # idf of a word in one of some fifty chunks
# What a passage must stand out from: the mean of the sixth to the twentieth strongest candidate. Up to five
# equally good ones do not hide one another; where there are fewer than twenty, the rest count as unrelated.
FIRST_OTHER, LAST_OTHER = 5, 20
UNRELATED = 0.5


class Features(NamedTuple):
    """similarity: cosine of passage and question, as all-MiniLM-L6-v2 might give it (`Scale`), at least 0.
    sentence_similarity: of the most similar sentence, or again of the passage if sentences have no vectors.

    sentence: share of the question's idf mass that the best sentence holds, see `worth`. coverage: the share
    that the passage with its title, headings and file name holds. evidence: ln(1 + the mass it holds), so
    that one common word is little proof; a word counts at most `ENOUGH`, or else a large collection, where
    rare words weigh more, would need less proof than a small one.

    names: as `coverage`, of the question's names and numbers alone, 1 if it has none: Amazon's report has all
    words but one of a question about Apple's revenue. margin: square root of how much stronger
    (rag/ranking/order.py) it is than the usual candidate: in a large collection something always resembles
    the question a little.

    subject: of the question's name or year that the document holds least, the share that its candidates with
    their headings hold; 1 if there is none. A passage need not say what its document is about.
    defined: 1 where "What is mitosis?" is asked and a sentence begins with "Mitosis is"; else 0. In a text
    that is all about mitosis no passage stands out.
    reranked: logit of what a reranking model gives it, at most .999; 0 where none scored it.
    """

    similarity: float
    sentence: float
    coverage: float
    evidence: float
    sentence_similarity: float = 0.0
    names: float = 1.0
    margin: float = 0.0
    subject: float = 1.0
    defined: float = 0.0
    reranked: float = 0.0


class Described(NamedTuple):
    """A passage with its sentences scored. whole: it holds every word of the question. is_scored: a
    model that tells probabilities has scored it.
    """

    passage: Passage
    sentences: Sentences
    features: Features
    whole: bool
    is_scored: bool = False


T = TypeVar("T")


class _Memo(dict[frozenset[str], T]):
    """What is told by some of a question's words: twenty candidates hold or lack a few combinations."""

    def __init__(self, told: Callable[[frozenset[str]], T]) -> None:
        super().__init__()
        self._told = told

    def __missing__(self, words: frozenset[str]) -> T:
        found = self[words] = self._told(words)
        return found


class _Words:
    """A question's words in one analysis. told: coverage, evidence and names by those that a passage holds;
    subject: by those that a document lacks.

    It holds nothing that leads back to it: so all of it goes with its question, none is left to be collected.
    """

    def __init__(self, terms: Terms) -> None:
        self.asked = terms.words
        self.subjects = frozenset[str]().union(*terms.subjects)
        self.told = _Memo(partial(_coverage_evidence_names, terms))
        self.subject = _Memo(partial(_subject_without, terms))


def _coverage_evidence_names(terms: Terms, held: frozenset[str]) -> tuple[float, float, float]:
    evidence = math.log1p(sum([min(weight, ENOUGH) for weight in terms.held(held)]))
    return terms.coverage(held), evidence, terms.share_of_names(held)


def _subject_without(terms: Terms, lost: frozenset[str]) -> float:
    return terms.share_of_subjects(terms.words - lost)


def describe(question_text: str, retrieval: Retrieval) -> list[Described]:
    """Return all passages, order kept; each by the analysis of its own language."""
    passages = retrieval.passages
    terms = terms_by_language(question_text, retrieval)
    scale = scale_of(retrieval.model_name, passages, retrieval.calibration)
    scored = [passage.sentences or score_passage(passage, terms[passage.language]) for passage in passages]
    strengths = _strengths(retrieval, scored, terms, scale)
    usual = _usual(strengths)
    analyses = [analysis_in(passage) for passage in passages]
    said = [terms[p.language].words_in(text) for p, text in zip(passages, analyses, strict=True)]
    words = {language: _Words(own) for language, own in terms.items()}
    subject = _subjects(passages, analyses, said, words)
    described = [
        _described(passage, there, sentences, words[passage.language], scale.line, strong - usual, subject)
        for passage, there, sentences, strong in zip(passages, said, scored, strengths, strict=True)
    ]
    if asks_meaning(question_text):
        described = [_defining(one, words[one.passage.language].asked) for one in described]
    return [_reranked(one) for one in described] if retrieval.rerank_model else described


def _strengths(
    retrieval: Retrieval,
    scored: Sequence[Sentences],
    terms: Mapping[str, Terms],
    scale: Scale,
) -> list[float]:
    """Return what the passages were ordered by, where they were."""
    known = [passage.rerank_score for passage in retrieval.passages]
    if retrieval.scale == scale and None not in known:
        return cast(list[float], known)
    return [
        strength(passage, sentences, terms[passage.language], scale)
        for passage, sentences in zip(retrieval.passages, scored, strict=True)
    ]


def _defining(described: Described, asked: frozenset[str]) -> Described:
    """asked: what the question is about, all of which a sentence must begin with."""
    passage = described.passage
    if not described.whole or not asked:
        return described
    analysis = analysis_in(passage)
    holding = set.intersection(*[set(analysis.places(word)) for word in asked])
    texts = [passage.content[slice(*analysis.spans[n])] for n in holding]
    if not any(says_what_is(text, asked, passage.language, most=1.0) for text in texts):
        return described
    return described._replace(features=described.features._replace(defined=1.0))


def _reranked(described: Described) -> Described:
    score = described.passage.rerank_score
    if score is None:
        return described
    features = described.features._replace(reranked=logit_of(score))
    return described._replace(features=features, is_scored=True)


def _usual(strengths: Sequence[float]) -> float:
    others = nlargest(LAST_OTHER, strengths)[FIRST_OTHER:]
    places = LAST_OTHER - FIRST_OTHER
    return (sum(others) + UNRELATED * (places - len(others))) / places


def _subjects(
    passages: Sequence[Passage],
    analyses: Sequence[Analysis],
    said: Sequence[frozenset[str]],
    words: Mapping[str, _Words],
) -> dict[int, float]:
    """By document, which is its id's number; words are looked for only where the question names something.

    said: the question's words in each passage.
    """
    own = {passage.document_id.int: words[passage.language] for passage in passages}
    missing = {id_: one.subjects for id_, one in own.items()}
    if not any(missing.values()):
        return dict.fromkeys(missing, 1.0)
    for passage, there in zip(passages, said, strict=True):
        if lost := missing[passage.document_id.int] - there:
            lost -= words_of_headings(passage)
        missing[passage.document_id.int] = lost
    for passage, text in zip(passages, analyses, strict=True):
        if lost := missing[passage.document_id.int]:
            missing[passage.document_id.int] = frozenset(
                name for name in lost if not misspelled(name, text.words_with(name[0]))
            )
    return {id_: own[id_].subject[lost] for id_, lost in missing.items()}


def _described(
    passage: Passage,
    said: frozenset[str],
    sentences: Sentences,
    words: _Words,
    line: tuple[float, float],
    margin: float,
    subject: Mapping[int, float],
) -> Described:
    """Describe one passage. said: the question's words in it. line: of the `Scale`."""
    factor, shift = line
    held = said
    whole = len(held) == len(words.asked)
    if not whole:
        held |= words.asked & words_of_headings(passage)
    coverage, evidence, names = words.told[held]
    similarity = 0.0 if passage.distance is None else factor * (1.0 - passage.distance) + shift
    scored = SentenceScores.of(sentences)
    nearest = max([cosine for cosine in scored.similarities if cosine is not None], default=None)
    sentence_similarity = similarity if nearest is None else factor * nearest + shift
    features = Features(  # in their order: by name takes three times as long
        max(0.0, similarity),
        max(scored.both_coverages(), default=0.0) / 2,  # `worth`
        coverage,
        evidence,
        max(0.0, sentence_similarity),
        names,
        max(0.0, margin) ** 0.5,
        subject[passage.document_id.int],
    )
    return Described(passage, sentences, features, whole)
