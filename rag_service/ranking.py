"""The order of records by words, and their headings, which count as if they stood above the text.

idf is estimated where only the nearest records are known. Counted are the candidates. In how many of the
others a word stands is guessed from the far half of them, which have little but their subject in common with
the question: a quarter of that half's share is taken. On the evaluation's collections that does as well as
the true counts, without a request (docs/evaluation.md).

Knowlex's own chunks mostly hold the headings that they stand under; a record of others has them in its
metadata alone: "All personnel must wear gloves" under "Safety Protocols". What is cited and shown to a model
stays the text itself.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

from embeddings.lexical.terms import hash_position, idf, lexemes, question_lexemes, term_weights
from rag.protocols import Reranker
from rag.ranking.order import BM25, bm25
from rag.ranking.sentences import question_terms
from rag.relevance.assessment import assess
from rag.types.question import Question
from rag.types.retrieval import Passage, Retrieval
from rag_service.records import CleanRecord, to_passage

FAR_SHARE = 0.25
CACHED = 2048  # texts analysed once, some 10 kB each
HEADING_CHARS = 200  # at the beginning of a text, in which it may state its heading itself


def estimate_idf(text: str, candidates: Sequence[CleanRecord], total: int) -> dict[str, float]:
    """Weigh every distinct lexeme of the question, in the analysis of each of the candidates' languages.

    candidates: nearest first. total: records of the whole collection.
    """
    by_language = question_lexemes(text, dict.fromkeys(one.language for one in candidates))
    places = {word: hash_position(word) for word in frozenset[str]().union(*by_language.values())}
    weights = [_term_weights(one.content, one.language) for one in candidates]
    contained = [[word for word, place in places.items() if place in of_text] for of_text in weights]
    far = contained[len(contained) // 2 :]
    near_counts = Counter(word for words in contained for word in words)
    far_counts = Counter(word for words in far for word in words)
    total = max(total, len(candidates))
    others = FAR_SHARE * (total - len(candidates)) / max(1, len(far))
    return {word: idf(round(near_counts[word] + others * far_counts[word]), total) for word in places}


def rank_candidates(
    text: str, candidates: Sequence[CleanRecord], idf_of: Mapping[str, float], most: int
) -> list[Passage]:
    """Order them by cosine and BM25 as a share of its most: the first half of rag/ranking/order.py.

    candidates: nearest first.
    """
    languages = {one.language for one in candidates}
    terms = {language: question_terms(text, idf_of, language) for language in languages}
    shares = [bm25(terms[one.language], _term_weights(one.content, one.language)) for one in candidates]
    scores = [1 - one.record.distance + BM25 * share for one, share in zip(candidates, shares, strict=True)]
    by_words = sorted((n for n, share in enumerate(shares) if share > 0), key=lambda n: -shares[n])
    rank = {n: place for place, n in enumerate(by_words, start=1)}
    order = sorted(range(len(candidates)), key=lambda n: -scores[n])  # stable: of equals, the nearest first
    return [
        to_passage(candidates[n])._replace(
            dense_rank=n + 1,
            sparse_rank=rank.get(n),
            sparse_score=_bm25_score(idf_of, candidates[n]) if n in rank else None,
            score=scores[n],
            fused_score=scores[n],
        )
        for n in order[:most]
    ]


class HeadingReranker:
    """A Reranker that gives another one the passages with their headings."""

    def __init__(self, reranker: Reranker) -> None:
        self._reranker = reranker

    async def rerank(self, question: Question, retrieval: Retrieval) -> Retrieval:
        return _remove_headings(await self._reranker.rerank(question, _add_headings(retrieval)), retrieval)


def assess_with_headings(
    question_text: str, retrieval: Retrieval, calibration: Mapping[str, Any] | None
) -> Retrieval:
    """Assess relevance as `rag.relevance.assess` does, with the headings above the texts."""
    return _remove_headings(assess(question_text, _add_headings(retrieval), calibration), retrieval)


def _add_headings(retrieval: Retrieval) -> Retrieval:
    """Their sentences are to be scored anew."""
    passages = (
        p._replace(content=_missing_headings(p) + p.content, sentences=()) for p in retrieval.passages
    )
    return replace(retrieval, passages=tuple(passages))


def _missing_headings(passage: Passage) -> str:
    """Return chapter and section, a line each, unless the text states them itself."""
    beginning = passage.content[:HEADING_CHARS].casefold()
    headings = dict.fromkeys(filter(None, (passage.chapter, passage.section)))
    return "".join(f"{heading}\n" for heading in headings if heading.casefold() not in beginning)


def _remove_headings(headed: Retrieval, before: Retrieval) -> Retrieval:
    """Keep the new order and scores with the texts as before; sentences of headings go."""
    contents = {passage.chunk_id: passage.content for passage in before.passages}
    passages = (_restore(passage, contents[passage.chunk_id]) for passage in headed.passages)
    return replace(headed, passages=tuple(passages))


def _restore(headed: Passage, content: str) -> Passage:
    length = len(headed.content) - len(content)
    sentences = (
        sentence._replace(start=max(0, sentence.start - length), end=sentence.end - length)
        for sentence in headed.sentences
        if sentence.end > length
    )
    return headed._replace(content=content, sentences=tuple(sentences))


@lru_cache(maxsize=CACHED)
def _term_weights(content: str, language: str) -> Mapping[int, float]:
    return term_weights(lexemes(content, language))


def _bm25_score(idf_of: Mapping[str, float], candidate: CleanRecord) -> float:
    weights = _term_weights(candidate.content, candidate.language)
    return sum(weight * weights.get(hash_position(word), 0.0) for word, weight in idf_of.items())
