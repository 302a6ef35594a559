"""Questions that name two things: "Which is older, A or B?", "Compare A with B". Plain Python, no model.

Roughly, in several languages: what is not recognised is searched for as any other question.
"""

import re
from functools import lru_cache
from typing import NamedTuple

KEPT_QUESTIONS = 256
LONGEST = 500  # characters of a question that is looked at

_AND, _OR = r"\s+(?:and|und|et|y|e)\s+", r",?\s+(?:or|oder|ou|o)\s+"
_WITH = r"\s+(?:and|with|to|against|und|mit|et|avec|y|con)\s+"
_BETWEEN = r"(?:between|zwischen|entre|tra|fra)\s+"
_A, _B = r"(?P<a>\S.*?)", r"(?P<b>\S.*?)\W*$"
_COMPARE = r"(?:compare|contrast|vergleiche?|vergleichen\s+sie|comparez|compara)"
_DIFFERENCE = r"(?:differ\w*|similarit\w*|unterschied\w*|gemeinsamkeit\w*|différence\w*|diferencia\w*)"
_IS = r"(?:is|are|was|were|do|does|did|has|have|ist|sind|war|waren|hat|haben)"
_WHICH = r"(?:which|who|what|where|welche[mnrs]?|wer|was|wo)\s"
_MORE = r"(?:more|less|worse|first|last|most|least|mehr|zuerst|zuletzt|\w{2,}er|\w{3,}est(?:en)?)\b"
_A_WORDS = r"(?P<a>[^\s,:][^,:]*?)"
_NO_CLAUSE = r"(?!(?:and|but|und|aber|if|is|was|are|were|who|when|what|where|which)\s)"
# Each finds the two things, and `asked`, what is asked of both where it is said apart from them.
_PATTERNS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"^\W*(?:please\s+|bitte\s+)?{_COMPARE}\s+{_A}{_WITH}{_B}",
        rf"\b(?:comparison|vergleich|comparaison|comparación)\s+(?:of|von|{_BETWEEN}){_A}{_WITH}{_B}",
        rf"\b{_DIFFERENCE}\b[^?]*?{_BETWEEN}{_A}{_AND}{_B}",
        rf"\bunterscheide[nt]\s+sich\s+{_A}\s+(?:und|von)\s+{_B}",
        rf"^\W*how\s+do(?:es)?\s+{_A}\s+(?:differ\s+from|compare\s+(?:to|with))\s+{_B}",
        rf"^\W*how\s+do\s+{_A}{_AND}(?P<b>\S.*?)\s+(?:differ|compare)\b",
        rf"^\W*(?P<asked>{_WHICH}[^,:]*?\b{_MORE}[^,:]*)[,:]\s*{_NO_CLAUSE}{_A_WORDS}{_OR}(?P<b>[^,:]+?)\W*$",
        rf"^\W*{_IS}\s+(?P<a>\S.*)\s+(?P<asked>{_MORE}(?:\s+\w+){{0,3}})\s+(?:than|als)\s+{_B}",
        rf"^\W*(?:(?P<asked>\w.*?)\s*[,:]\s*)?{_A}\s+(?:vs\.?|versus)\s+{_B}",
    )
)
# "the revenue of" in "the revenue of A and B", "Amcor's" in "Amcor's sales and profits", "in 2023" behind B.
_HEAD = re.compile(r"(?:\S.*\s)?(?:of|for|in|by|von|des|für|im|de|du|del)\s+(?=\S)|\S+['’]s\s+(?=\S)")
_TAIL = re.compile(r"\s+(?:in|of|for|during|im|von|für|während|en|pour|para)\s+(?:\w+\s+){0,3}\d{4}\b.*$")
_OWN = re.compile(
    r"(?:the|an?|its|their|d(?:er|ie|as|en|em|es)|eine?[mnrs]?|l[aeo]s?|el|une?|una?)\s|l['’]", re.IGNORECASE
)
_NAMED_BY = re.compile(r"\b[A-Z]\w*\s+(?:\w+\s+)*(?:of|for|in|by)\s$")  # "the Tower of" is part of a name


class Comparison(NamedTuple):
    """subjects: the two things as the question names them. halves: what is to be searched for of each."""

    subjects: tuple[str, str]
    halves: tuple[str, str]


@lru_cache(maxsize=KEPT_QUESTIONS)
def comparison_in(text: str) -> Comparison | None:
    """What two things a question compares; None where it does not, or where that is not recognised."""
    text = " ".join(text.split())
    if len(text) > LONGEST:
        return None
    for pattern in _PATTERNS:
        if found := pattern.search(text):
            parts = found.groupdict()
            return _comparison(parts["a"], parts["b"], parts.get("asked") or "")
    return None


def _comparison(one: str, other: str, asked: str) -> Comparison | None:
    """What stands only with one of them, but is said of both, is given to the other, too."""
    if one.casefold() == other.casefold():
        return None
    tail = _TAIL.search(other)
    after = tail[0] if tail and not _TAIL.search(one) else ""
    other = other.removesuffix(after)
    head = _HEAD.match(one)
    before = head[0] if head and _is_shared(head[0], other) else ""
    subjects = one[len(before) :], other
    first, second = (f"{asked} {before}{subject}{after}".strip() for subject in subjects)
    return Comparison(subjects, (first, second))


def _is_shared(head: str, other: str) -> bool:
    """Not where the other has an article of its own, nor where the head belongs to a name."""
    if other.isdecimal():
        return True
    return not (_OWN.match(other) or _HEAD.match(other) or _NAMED_BY.search(head))
