"""Words of a text as BM25 sees them: one analysis for chunks, sentences and questions. Plain Python.

The weight of a lexeme in a chunk depends on the chunk alone (a constant stands for the average length), so a
stored weight never has to be rebuilt; idf joins it at question time.
BM25: Robertson and Zaragoza, "The Probabilistic Relevance Framework", 2009; k1 = 1.2, b = 0.75.
"""

import math
import zlib
from collections import Counter
from collections.abc import Iterable
from functools import lru_cache

from documents.text.stop_words import stop_words
from embeddings.lexical.languages import (
    detect_question_languages,
    english_lexemes,
    language_lexemes,
    language_rules,
)

K1 = 1.2
B = 0.75
USUAL_LENGTH = 120.0  # lexemes in a usual chunk of about 300 tokens, stop words not counted
IMAGINED_CHUNKS = 50  # that hold none of the words; chosen on collections of 1 to 200 chunks
SPARSE_DIMENSIONS = 2**24
# Different ones of a text; of the longest letters they just fit into a tsvector, and easily into a sparsevec.
MOST_LEXEMES = 4000
KEPT_QUESTIONS = 256
UNKNOWN = ""  # a language that nobody could tell: analysed as English
_ENGLISH = (UNKNOWN, "en")


def lexemes(text: str, language: str = UNKNOWN) -> list[str]:
    """Return stems in order without stop words, as the language (ISO 639-1) has them; "" and "en" are
    English.

    Runs of scripts that put no space between words (Chinese, Japanese, Korean, Thai...) as overlapping pairs.
    A text that is looked for in a document is analysed by the document's language.
    """
    return _lexemes(text, language, _without(language))


def question_lexemes(text: str, languages: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Return for each of the documents' languages the question's distinct lexemes in that analysis, in order.

    A passage is judged by those of its document's language; candidates are looked for by all of them.
    Besides the language's own stop words, those of the language that the question seems to be in are left
    out: "die" of a German question is no rare word of an English document. `languages` without a question's
    own language still gives names and numbers; [] gives {}.
    """
    return {language: _distinct(text, language) for language in languages}


@lru_cache(maxsize=KEPT_QUESTIONS)
def _distinct(text: str, language: str) -> tuple[str, ...]:
    """Analyse the question once for all stages."""
    without = _without(language, detect_question_languages(text))
    words = _lexemes(text, language, without) or lexemes(text, language)
    return tuple(dict.fromkeys(words))


@lru_cache(maxsize=KEPT_QUESTIONS)
def _without(language: str, question_languages: tuple[str, ...] = ()) -> frozenset[str]:
    """Return the stop words of the language, and of those that a question may be in."""
    own = stop_words("en") if language in _ENGLISH else language_rules(language).stop_words
    return own.union(*(language_rules(code).stop_words for code in question_languages))


def _lexemes(text: str, language: str, without: frozenset[str]) -> list[str]:
    if language in _ENGLISH:
        words = english_lexemes(text, without)
    else:
        words = language_lexemes(text, language_rules(language), without)
    if len(words) <= MOST_LEXEMES:
        return words
    kept = frozenset(list(dict.fromkeys(words))[:MOST_LEXEMES])
    return [word for word in words if word in kept]


def match_words(text: str, languages: Iterable[str]) -> str:
    """Return a tsquery for chunks with all words of the text, by the analysis of any of the languages."""
    queries = ({quote_lexeme(word) for word in lexemes(text, language)} for language in languages)
    return " | ".join(f"({' & '.join(sorted(words))})" for words in queries if words)


def quote_lexeme(word: str) -> str:
    """Quote a lexeme as a tsquery writes it."""
    return "'" + word.replace("\\", "\\\\").replace("'", "''") + "'"


def hash_position(lexeme: str) -> int:
    """Return the 0-based place of the lexeme in the sparse vector: 24 bits of its CRC-32."""
    return zlib.crc32(lexeme.encode()) & 0xFFFFFF


def term_weights(words: Iterable[str], headings: Iterable[str] = ()) -> dict[int, float]:
    """Return the `term_weight` of each lexeme, at its hashed position; those that share one add up.

    headings: the lexemes above the text, each of which counts as said once more in it. The text is no longer
    for them: BM25F, Robertson, Zaragoza and Taylor, CIKM 2004, with one weight and one length.
    """
    counts = Counter(words)
    length = sum(counts.values())
    counts.update(set(headings))
    weights: dict[int, float] = {}
    for word, times in counts.items():
        place = hash_position(word)
        weights[place] = weights.get(place, 0.0) + term_weight(times, length)
    return weights


def term_weight(times: int, length: int) -> float:
    """Return BM25's term-frequency part of a lexeme: tf * (k1 + 1) / (tf + k1 * (1 - b + b * length / usual
    length)).

    length: of the text, in lexemes.
    """
    return times * (K1 + 1) / (times + K1 * (1 - B + B * length / USUAL_LENGTH))


def idf(chunks_with: int, chunks: int) -> float:
    """Return ln(1 + (N - n + 0.5) / (n + 0.5)), positive for n from 0 to N = chunks + IMAGINED_CHUNKS.

    The fewer the chunks, the less their counts say: in a collection of one chunk, a word that it holds and
    one that it lacks would otherwise weigh 0.3 and 1.4.
    """
    imagined = chunks + IMAGINED_CHUNKS
    return math.log(1 + (imagined - chunks_with + 0.5) / (chunks_with + 0.5))
