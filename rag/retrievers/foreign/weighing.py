"""What the words of a question are worth in a collection of which only the nearest records are known.

Counted are the candidates. In how many of the others a word stands is guessed from the far half of them,
which have little but their subject in common with the question: a quarter of that half's share is taken. On
the evaluation's collections that does as well as the true counts, without a request (docs/evaluation.md).
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache

from embeddings.lexical.terms import hash_position, idf, lexemes, question_lexemes, term_weights
from rag.ranking.order import BM25, bm25
from rag.ranking.sentences import question_terms
from rag.retrievers.foreign.records import Candidate, passage_of
from rag.types.retrieval import Passage

FAR_SHARE = 0.25
KEPT = 2048  # analysed once, some 10 kB each


def worth(text: str, candidates: Sequence[Candidate], records: int) -> dict[str, float]:
    """idf of every distinct lexeme of the question, in the analysis of each of the candidates' languages.

    candidates: nearest first. records: of the whole collection.
    """
    asked = question_lexemes(text, dict.fromkeys(one.language for one in candidates))
    words = frozenset[str]().union(*asked.values())
    places = {word: hash_position(word) for word in words}
    weights = [_weights(one.content, one.language) for one in candidates]
    held = [[word for word, place in places.items() if place in found] for found in weights]
    near = Counter(word for found in held for word in found)
    far = held[len(held) // 2 :]
    beyond = Counter(word for found in far for word in found)
    records = max(records, len(candidates))
    others = FAR_SHARE * (records - len(candidates)) / max(1, len(far))
    return {word: idf(round(near[word] + others * beyond[word]), records) for word in words}


def best(text: str, candidates: Sequence[Candidate], idf_of: Mapping[str, float], most: int) -> list[Passage]:
    """At most `most`, by the first half of rag/ordering.py: cosine, and BM25 as a share of its most.

    candidates: nearest first.
    """
    languages = {one.language for one in candidates}
    terms = {language: question_terms(text, idf_of, language) for language in languages}
    shares = [bm25(terms[one.language], _weights(one.content, one.language)) for one in candidates]
    scores = [1 - one.record.distance + BM25 * share for one, share in zip(candidates, shares, strict=True)]
    by_words = sorted((n for n, share in enumerate(shares) if share > 0), key=lambda n: -shares[n])
    rank = {n: place for place, n in enumerate(by_words, start=1)}
    order = sorted(range(len(candidates)), key=lambda n: -scores[n])  # stable: of equals, the nearest first
    return [
        passage_of(candidates[n])._replace(
            dense_rank=n + 1,
            sparse_rank=rank.get(n),
            sparse_score=_bm25(idf_of, candidates[n]) if n in rank else None,
            score=scores[n],
            fused_score=scores[n],
        )
        for n in order[:most]
    ]


@lru_cache(maxsize=KEPT)
def _weights(content: str, language: str) -> Mapping[int, float]:
    return term_weights(lexemes(content, language))


def _bm25(idf_of: Mapping[str, float], candidate: Candidate) -> float:
    weights = _weights(candidate.content, candidate.language)
    return sum(weight * weights.get(hash_position(word), 0.0) for word, weight in idf_of.items())
