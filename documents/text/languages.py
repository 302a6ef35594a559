"""Detection of a document's language from samples of its text: by script, by stop words, else by a model."""

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Sequence
from functools import lru_cache
from threading import Lock

from documents.text.stop_words import count_stop_words

PIECES = 8  # spread over the document: a foreign preface does not decide
PIECE_CHARS = 1000
MIN_LETTERS = 20  # of a piece whose script has many languages
CLEAR_SHARE = 0.2  # of the words are stop words of the language, in running text
CLEAR_LEAD = 0.6  # and no other language has more than this share of as many
CONFIDENT = 0.9  # no language of more was wrong on translated messages of 30 to 2,000 characters
_loading = Lock()
_WORD = re.compile(r"[^\W\d_]+")
_KANA_SHARE = 0.05  # of a text's East Asian characters: Japanese is not written without
_IDEOGRAPH = 2.5  # letters that one of them stands for
_BY_SCRIPT = {
    "HANGUL": "ko", "THAI": "th", "LAO": "lo", "KHMER": "km", "MYANMAR": "my", "GREEK": "el", "HEBREW": "he",
    "TAMIL": "ta", "ARMENIAN": "hy", "GEORGIAN": "ka", "BENGALI": "bn", "TELUGU": "te", "KANNADA": "kn",
    "MALAYALAM": "ml", "GUJARATI": "gu", "GURMUKHI": "pa", "SINHALA": "si", "ETHIOPIC": "am", "CJK": "zh",
}  # fmt: skip
_SHARED_SCRIPTS = {
    "ARABIC": ("ar", "fa", "ps", "ur"),
    "CYRILLIC": ("be", "bg", "kk", "mk", "ru", "sr", "uk"),
    "DEVANAGARI": ("hi", "mr", "ne"),
}
# Their probabilities are added up: they are analysed alike.
_VARIETIES = {"nn": "no", "arz": "ar", "ary": "ar", "bs": "hr", "sr": "hr"}


def detect_language(text: str) -> str:
    """Return the ISO 639-1 code of the language of most of the text, "" if it cannot be detected.

    The same text gives the same language, at a cost that does not grow with it: some milliseconds. The model
    is asked only of pieces that can still decide.
    """
    pieces = _sample_pieces(text)
    votes = [_detect_cheaply(piece) for piece in pieces]
    for index, piece in enumerate(pieces):
        if votes[index] is None and not _is_decided(votes):
            votes[index] = _detect_by_model(piece)
    counts = Counter(filter(None, votes))
    return max(counts, key=lambda code: counts[code], default="")  # of as many pieces, what comes first


def _is_decided(votes: Sequence[str | None]) -> bool:
    """Tell whether one language leads whatever the pieces are whose vote is None."""
    (_, first), (_, second) = [*Counter(filter(None, votes)).most_common(2), ("", 0), ("", 0)][:2]
    return first > second + votes.count(None)


def _sample_pieces(text: str) -> list[str]:
    """Return up to PIECES samples of PIECE_CHARS, evenly spread; only the first may begin within a word."""
    step = max(PIECE_CHARS, len(text) // PIECES)
    pieces = [text[start : start + PIECE_CHARS] for start in range(0, len(text), step)][:PIECES]
    return pieces[:1] + [piece.partition(" ")[2] or piece for piece in pieces[1:]]


def _detect_cheaply(piece: str) -> str | None:
    """Return the language, "" where there is too little to tell it; None where only the model can."""
    scripts = _count_scripts(piece)
    script = max(scripts, key=lambda name: scripts[name], default="")
    if script == "CJK":
        return "ja" if scripts["KANA"] > _KANA_SHARE * scripts["CJK"] else "zh"
    if script in _BY_SCRIPT:
        return _BY_SCRIPT[script]
    words = [word for word in _WORD.findall(piece.lower()) if len(word) > 1]
    if sum(map(len, words)) < MIN_LETTERS:
        return ""
    return _detect_by_stop_words(words) or None


def languages_of_script(text: str) -> tuple[str, ...]:
    """Return the languages whose script most of the text's letters are of; () for Latin and unknown ones.

    Several where they share the script.
    """
    scripts = _count_scripts(text)
    script = max(scripts, key=lambda name: scripts[name], default="")
    if script == "CJK":
        return ("ja",) if scripts["KANA"] > _KANA_SHARE * scripts["CJK"] else ("ja", "zh")
    return (_BY_SCRIPT[script],) if script in _BY_SCRIPT else _SHARED_SCRIPTS.get(script, ())


def _count_scripts(piece: str) -> Counter[str]:
    """Count letters by script; East Asian ones weigh more, and kana count as CJK too."""
    counts: Counter[str] = Counter()
    for letter, times in Counter(filter(str.isalpha, piece)).items():
        script = _script_of(letter)
        if script in ("HIRAGANA", "KATAKANA"):
            counts["KANA"] += times
            script = "CJK"
        counts[script] += times
    counts["CJK"] = round(counts["CJK"] * _IDEOGRAPH)
    counts["KANA"] = min(counts["KANA"], counts["CJK"] - 1)
    return +counts


@lru_cache(maxsize=4096)
def _script_of(letter: str) -> str:
    return unicodedata.name(letter, "").partition(" ")[0].partition("-")[0]


def _detect_by_stop_words(words: Sequence[str]) -> str:
    """Return the language if stop words make it clear: that saves the model, which costs a process 75 MB."""
    counted = count_stop_words(words).most_common(2)
    if not counted or counted[0][1] < CLEAR_SHARE * len(words) or len(words) < MIN_LETTERS:
        return ""
    (first, most), *others = counted
    return first if not others or others[0][1] <= CLEAR_LEAD * most else ""


def _detect_by_model(piece: str) -> str:
    with _loading:  # its first users would all unpack it
        rank = _load_model()
    ranked = rank(piece)
    best = ranked[0][0]
    family = _VARIETIES.get(best, best)
    sure = sum(probability for code, probability in ranked if _VARIETIES.get(code, code) == family)
    code = best if len(best) == 2 and best != "nn" else family
    return code if sure >= CONFIDENT and len(code) == 2 else ""


@lru_cache(maxsize=1)
def _load_model() -> Callable[[str], list[tuple[str, float]]]:
    from py3langid import langid

    identifier = langid.LanguageIdentifier.from_model_file(langid.MODEL_FILE, norm_probs=True)
    return identifier.rank  # type: ignore[no-any-return]
