"""English, and what is of unknown language. Stored entries rest on it: who changes it has to re-index."""

import re
import unicodedata

import Stemmer


def _words(listed: str) -> frozenset[str]:
    return frozenset(listed.split())


STOP_WORDS = _words(
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
CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
LONGEST = 64  # characters of a word that count
_TERM = re.compile(rf"([{CJK}]+)|([^\W_{CJK}]+)(?:['’][a-z]+)?")
_WORD = re.compile(r"([^\W_]+)(?:['’][a-z]+)?")
_HAS_CJK = re.compile(f"[{CJK}]")
_stemmer = Stemmer.Stemmer("english", 30_000)


def lexemes(text: str, without: frozenset[str] = STOP_WORDS) -> list[str]:
    """Stemmed words in order; runs of CJK characters as overlapping pairs."""
    folded = unicodedata.normalize("NFKC", text).lower()
    if _HAS_CJK.search(folded):
        found = _TERM.findall(folded)
        return [lexeme for run, word in found for lexeme in (pairs(run) or _stems([word], without))]
    return _stems(_WORD.findall(folded), without)  # the usual case, in a third of the time


def pairs(run: str) -> list[str]:
    return [run] if len(run) == 1 else [run[i : i + 2] for i in range(len(run) - 1)]


def _stems(words: list[str], without: frozenset[str]) -> list[str]:
    kept = [word[:LONGEST] for word in words if word not in without]
    stems: list[str] = _stemmer.stemWords(kept)
    return stems
