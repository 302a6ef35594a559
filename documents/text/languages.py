"""The language of a document, told from pieces of its text: by script, by stop words, else by a model."""

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Sequence
from functools import lru_cache
from threading import Lock

from documents.text.stop_words import count_stop_words

PIECES = 8  # spread over the document: a foreign preface does not decide
PIECE_CHARS = 1000
MIN_LETTERS = 20  # of a piece whose script does not tell
CLEAR_SHARE = 0.2  # of the words are stop words of the language, in running text
CLEAR_LEAD = 0.6  # and no other language has more than this share of as many
CONFIDENT = 0.9  # on translated messages of 30 to 2,000 characters no language told with more was wrong
_loading = Lock()
_WORD = re.compile(r"[^\W\d_]+")
_KANA_SHARE = 0.05  # of a text's East Asian characters: Japanese is not written without
_IDEOGRAPH = 2.5  # letters that one of them stands for
_BY_SCRIPT = {
    "HANGUL": "ko", "THAI": "th", "LAO": "lo", "KHMER": "km", "MYANMAR": "my", "GREEK": "el", "HEBREW": "he",
    "TAMIL": "ta", "ARMENIAN": "hy", "GEORGIAN": "ka", "BENGALI": "bn", "TELUGU": "te", "KANNADA": "kn",
    "MALAYALAM": "ml", "GUJARATI": "gu", "GURMUKHI": "pa", "SINHALA": "si", "ETHIOPIC": "am", "CJK": "zh",
}  # fmt: skip
# What is sure of them together is sure enough: they are analysed alike.
_VARIETIES = {"nn": "no", "arz": "ar", "ary": "ar", "bs": "hr", "sr": "hr"}


def detect_language(text: str) -> str:
    """ISO 639-1 code of most of what the text is written in, "" if nothing tells.

    The same text gives the same language, at a cost that does not grow with it: some milliseconds.
    """
    told = Counter(map(_detect_piece, _sample_pieces(text)))
    told.pop("", None)
    return max(told, key=lambda code: told[code], default="")  # of as many pieces, what comes first


def _sample_pieces(text: str) -> list[str]:
    """Up to PIECES of up to PIECE_CHARS, evenly spread; none but the first begins within a word."""
    step = max(PIECE_CHARS, len(text) // PIECES)
    pieces = [text[start : start + PIECE_CHARS] for start in range(0, len(text), step)][:PIECES]
    return pieces[:1] + [piece.partition(" ")[2] or piece for piece in pieces[1:]]


def _detect_piece(piece: str) -> str:
    scripts = _count_scripts(piece)
    script = max(scripts, key=lambda name: scripts[name], default="")
    if script == "CJK":
        return "ja" if scripts["KANA"] > _KANA_SHARE * scripts["CJK"] else "zh"
    if script in _BY_SCRIPT:
        return _BY_SCRIPT[script]
    words = [word for word in _WORD.findall(piece.lower()) if len(word) > 1]
    if sum(map(len, words)) < MIN_LETTERS:
        return ""
    return _detect_by_stop_words(words) or _detect_by_model(piece)


def _count_scripts(piece: str) -> Counter[str]:
    """How many letters are of each script; East Asian ones weigh more, kana are counted in CJK too."""
    found: Counter[str] = Counter()
    for letter, times in Counter(filter(str.isalpha, piece)).items():
        script = _script_of(letter)
        if script in ("HIRAGANA", "KATAKANA"):
            found["KANA"] += times
            script = "CJK"
        found[script] += times
    found["CJK"] = round(found["CJK"] * _IDEOGRAPH)
    found["KANA"] = min(found["KANA"], found["CJK"] - 1)
    return +found


@lru_cache(maxsize=4096)
def _script_of(letter: str) -> str:
    return unicodedata.name(letter, "").partition(" ")[0].partition("-")[0]


def _detect_by_stop_words(words: Sequence[str]) -> str:
    """Where it is clear: then the model is not needed, which costs a process 75 MB."""
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
