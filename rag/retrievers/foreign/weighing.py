"""What the words of a question are worth in a collection of which only the nearest records are known.

Counted are the candidates. In how many of the others a word stands is guessed from the far half of them,
which have little but their subject in common with the question: a quarter of that half's share is taken. On
the evaluation's collections that does as well as the true counts, without a request (docs/evaluation.md).
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache

from embeddings.lexical import idf, lexemes, position, question_lexemes, term_weights
from rag.ordering import BM25, bm25
from rag.sentences import terms_by_language
from rag.types import Passage

FAR_SHARE = 0.25
KEPT = 4096  # analysed once, some 5 kB each


def worth(text: str, passages: Sequence[Passage], records: int) -> dict[str, float]:
    """idf of every distinct lexeme of the question, in the analysis of each of the passages' languages.

    passages: the candidates, nearest first. records: of the whole collection.
    """
    asked = question_lexemes(text, dict.fromkeys(passage.language for passage in passages))
    words = frozenset[str]().union(*asked.values())
    held = [words & words_of(passage.content, passage.language) for passage in passages]
    near = Counter(word for found in held for word in found)
    far = held[len(held) // 2 :]
    beyond = Counter(word for found in far for word in found)
    records = max(records, len(passages))
    others = FAR_SHARE * (records - len(passages)) / max(1, len(far))
    return {word: idf(round(near[word] + others * beyond[word]), records) for word in words}


def in_order(text: str, passages: Sequence[Passage], idf_of: Mapping[str, float]) -> list[Passage]:
    """Best first, by the first half of rag/ordering.py: cosine, and BM25 as a share of its most."""
    terms = terms_by_language(text, passages, idf_of)
    shares = [bm25(terms[p.language], _weights(p.content, p.language)) for p in passages]
    by_words = sorted((n for n, share in enumerate(shares) if share > 0), key=lambda n: -shares[n])
    rank = {n: place for place, n in enumerate(by_words, start=1)}
    ranked = [
        passage.but(
            dense_rank=n + 1,
            sparse_rank=rank.get(n),
            sparse_score=_bm25(idf_of, passage) if n in rank else None,
            score=(score := 1 - (passage.distance or 0.0) + BM25 * shares[n]),
            fused_score=score,
        )
        for n, passage in enumerate(passages)
    ]
    return sorted(ranked, key=lambda passage: -passage.score)  # stable: of equals, the nearest first


@lru_cache(maxsize=KEPT)
def words_of(content: str, language: str) -> frozenset[str]:
    return frozenset(lexemes(content, language))


@lru_cache(maxsize=KEPT)
def _weights(content: str, language: str) -> Mapping[int, float]:
    return term_weights(lexemes(content, language))


def _bm25(idf_of: Mapping[str, float], passage: Passage) -> float:
    weights = _weights(passage.content, passage.language)
    return sum(weight * weights.get(position(word), 0.0) for word, weight in idf_of.items())
