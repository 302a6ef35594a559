"""What a question names: people, companies, products, places, numbers, years. Plain Python."""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import pairwise

from embeddings.lexical.terms import lexemes

KEPT_QUESTIONS = 256
KEPT_TEXTS = 2048
READ_CHARS = 2000
_WORD = re.compile(r"\w[\w.,&'’-]*")
_YEAR = re.compile(r"(?<![\w.,$€£-])(?:1[5-9]|20)\d\d(?![\w%-]|[.,]\d)")
_TOKEN = re.compile(r"[^\W\u2e80-\u9fff\uac00-\ud7af][^\W\u2e80-\u9fff\uac00-\ud7af'’-]*(?:[-'’]\w+)*")
_SHORTENED = re.compile(r"[A-Z]{2,3}s?(?:['’]s)?")  # EU, USA: a text may say the whole
_ENDED = re.compile(r"[.?!:]\W*$")  # between two words: the second begins a sentence
NOUNS_ARE_CAPITAL = frozenset({"de", "lb"})
SPELLED = 6  # letters from which a name may differ in one


@lru_cache(maxsize=KEPT_QUESTIONS)
def names_of(text: str, language: str) -> frozenset[str]:
    """The lexemes of numbers and of words with a capital letter that do not begin the question."""
    words = _WORD.findall(text[:READ_CHARS])
    found = [word for n, word in enumerate(words) if word[0].isdigit() or (n and word[0].isupper())]
    return frozenset(lexemes(" ".join(found), language))


@lru_cache(maxsize=KEPT_QUESTIONS)
def subjects_of(text: str, language: str) -> tuple[frozenset[str], ...]:
    """The lexemes of each name and year that a document must know if it is to answer.

    Narrower than `names_of`: only what documents spell as questions do. No numbers but years, no codes with
    digits, no abbreviations of two or three letters; nothing by its capital letter in a language where every
    noun has one, nor in a question that Is Written Like This.
    """
    text = text[:READ_CHARS]
    found = _YEAR.findall(text)
    if language not in NOUNS_ARE_CAPITAL:
        found += _runs(text)
    named = (frozenset(lexemes(name, language)) for name in dict.fromkeys(found))
    return tuple(filter(None, named))


def misspelled(name: str, words: frozenset[str]) -> bool:
    """Whether one of the words is the name but for a letter, not its first: one more, one less or another."""
    if len(name) < SPELLED:
        return False
    half = len(name) // 2  # the letter is in one of the halves: the other one is whole
    begun, ended = name[:half], name[-half:]
    alike = _by_initial(words).get(name[0], ())
    near = [word for word in alike if word.startswith(begun) or word.endswith(ended)]
    return any(_differ_by_one(name, word) for word in near)


@lru_cache(maxsize=KEPT_TEXTS)
def _by_initial(words: frozenset[str]) -> Mapping[str, Sequence[str]]:
    """Those that are long enough to be like a name. The same texts are asked about many names."""
    found: dict[str, list[str]] = defaultdict(list)
    for word in words:
        if len(word) >= SPELLED - 1:
            found[word[0]].append(word)
    return dict(found)


def _runs(text: str) -> list[str]:
    """Words with a capital letter that follow each other; none if capital letters are a matter of style."""
    tokens = list(_TOKEN.finditer(text))
    within = [
        token for before, token in pairwise(tokens) if not _ENDED.search(text, before.end(), token.start())
    ]
    if not within or _is_headline([token[0] for token in within]):
        return []
    runs: list[str] = []
    end = -1
    for token in within:
        word = token[0]
        if word[0].isupper() and not _SHORTENED.fullmatch(word) and not any(map(str.isdigit, word)):
            joined = text[end : token.start()] == " "
            runs[len(runs) - joined :] = [f"{runs[-1]} {word}" if joined else word]
            end = token.end()
    return runs


def _is_headline(words: Sequence[str]) -> bool:
    """What Is Written Like This, or LIKE THIS."""
    small = any(word.istitle() and len(word) > 1 and not lexemes(word) for word in words)
    return small or (len(words) > 1 and all(word[0].isupper() or word[0].isdigit() for word in words))


def _differ_by_one(one: str, other: str) -> bool:
    if len(one) == len(other):
        return sum([a != b for a, b in zip(one, other, strict=True)]) == 1
    shorter, longer = sorted((one, other), key=len)
    at = next((n for n, letter in enumerate(shorter) if letter != longer[n]), len(shorter))
    return shorter[at:] == longer[at + 1 :]
