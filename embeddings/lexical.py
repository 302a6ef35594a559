"""Words of a text as BM25 sees them: one analysis for chunks, sentences and questions. Plain Python.

The weight of a lexeme in a chunk depends on the chunk alone (a constant stands for the average length), so a
stored weight never has to be rebuilt; idf joins it at question time.
BM25: Robertson and Zaragoza, "The Probabilistic Relevance Framework", 2009; k1 = 1.2, b = 0.75.
"""

import math
import re
import unicodedata
import zlib
from collections import Counter
from collections.abc import Iterable

import Stemmer

K1 = 1.2
B = 0.75
USUAL_LENGTH = 120.0  # lexemes in a usual chunk of about 300 tokens, stop words not counted
IMAGINED_CHUNKS = 50  # that hold none of the words; chosen on collections of 1 to 200 chunks
SPARSE_DIMENSIONS = 2**24


def _words(listed: str) -> frozenset[str]:
    return frozenset(listed.split())


_STOP_WORDS = _words(
    """
    i me my myself we our ours ourselves you your yours yourself yourselves he him his himself she her
    hers herself it its itself they them their theirs themselves what which who whom this that these
    those am is are was were be been being have has had having do does did doing a an the and but if or
    because as until while of at by for with about against between into through during before after
    above below to from up down in out on off over under again further then once here there when where
    why how all any both each few more most other some such no nor not only own same so than too very s
    t can will just don should now many much
    """
)
_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
_TERM = re.compile(rf"([{_CJK}]+)|([^\W_{_CJK}]+)(?:['’][a-z]+)?")
_WORD = re.compile(r"([^\W_]+)(?:['’][a-z]+)?")
_HAS_CJK = re.compile(f"[{_CJK}]")
_LONGEST = 64
_stemmer = Stemmer.Stemmer("english", 30_000)


def lexemes(text: str) -> list[str]:
    """Stemmed words in order, stop words left out; runs of CJK characters as overlapping pairs."""
    folded = unicodedata.normalize("NFKC", text).lower()
    if _HAS_CJK.search(folded):
        return [lexeme for run, word in _TERM.findall(folded) for lexeme in (_pairs(run) or _stems([word]))]
    return _stems(_WORD.findall(folded))  # the usual case, in a third of the time


def _stems(words: list[str]) -> list[str]:
    kept = [word[:_LONGEST] for word in words if word not in _STOP_WORDS]
    stems: list[str] = _stemmer.stemWords(kept)
    return stems


def _pairs(run: str) -> list[str]:
    return [run] if len(run) == 1 else [run[i : i + 2] for i in range(len(run) - 1)]


def position(lexeme: str) -> int:
    """0-based place of the lexeme in the sparse vector: 24 bits of its CRC-32."""
    return zlib.crc32(lexeme.encode()) & 0xFFFFFF


def term_weights(words: Iterable[str]) -> dict[int, float]:
    """BM25's term-frequency part for each lexeme, at its hashed position.

    tf * (k1 + 1) / (tf + k1 * (1 - b + b * length / usual length)); lexemes that share a position add up.
    """
    counts = Counter(words)
    norm = K1 * (1 - B + B * sum(counts.values()) / USUAL_LENGTH)
    weights: dict[int, float] = {}
    for word, tf in counts.items():
        place = position(word)
        weights[place] = weights.get(place, 0.0) + tf * (K1 + 1) / (tf + norm)
    return weights


def idf(chunks_with: int, chunks: int) -> float:
    """ln(1 + (N - n + 0.5) / (n + 0.5)), positive for every n from 0 to N = chunks + IMAGINED_CHUNKS.

    The fewer the chunks, the less their counts say: in a collection of one chunk, a word that it holds and
    one that it lacks would otherwise weigh 0.3 and 1.4.
    """
    imagined = chunks + IMAGINED_CHUNKS
    return math.log(1 + (imagined - chunks_with + 0.5) / (chunks_with + 0.5))
