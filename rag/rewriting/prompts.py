"""What a chat model is asked about a question, and what of its replies can be searched for. Plain Python.

The question stands on one line, so it cannot add a line to the list. No document ever stands in these
prompts, and a reply is only ever searched for: whatever it says, it orders nothing.
"""

import re

from rag.prompts import says_not_found

MAX_TOKENS = 150
MAX_EXPANSIONS = 3
MAX_CHARS = 2000  # of each, as of a question

_HYDE = """Given the question, write a short paragraph
that would answer it. Write as if you know the answer.

Question: {query}

Hypothetical answer:"""
_EXPANSIONS = """Generate 3 alternative phrasings of this question:

Question: {query}

Alternative phrasings:
1."""

_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]+")
_NUMBERED = re.compile(r"[*_#>\s-]*\(?(\d{1,2})\s?[.):\]][*_]*\s+(?=\S)")
_BULLET = re.compile(r"\s*[-*•–]\s+(?=\S)")
_SPACES = re.compile(r"[ \t]+")
_IN_ONE_LINE = re.compile(r" (?=\(?[23][.)] \S)")
_AROUND = " \t\"'`*_“”„«»‘’"
_NO_WORD = re.compile(r"[\W_]+")


def hyde_prompt(question: str) -> str:
    return _HYDE.format(query=_one_line(question))


def expansion_prompt(question: str) -> str:
    return _EXPANSIONS.format(query=_one_line(question))


def hypothetical_answer(reply: str) -> str:
    """The paragraph, on one line; "" where the model declined to write one."""
    text = _one_line(reply).removeprefix("Hypothetical answer:").strip()
    return "" if says_not_found(text) or not any(map(str.isalpha, text)) else text[:MAX_CHARS].rstrip()


def expansions(reply: str, question: str) -> tuple[str, ...]:
    """At most three other phrasings, none the question itself and none twice.

    The prompt has begun the list: a reply goes on after its "1.", or begins it anew. What stands before the
    numbers or goes on after them is no phrasing; without numbers, bullets are, or the first line.
    """
    seen = {_words(question)}
    found: list[str] = []
    for item in _items(reply[: 8 * MAX_CHARS]):
        text = _one_line(item)[:MAX_CHARS].strip(_AROUND)
        if any(map(str.isalpha, text)) and _words(text) not in seen:
            seen.add(_words(text))
            found.append(text)
    return tuple(found[:MAX_EXPANSIONS])


def _items(reply: str) -> list[str]:
    lines = [line for line in _IN_ONE_LINE.sub("\n", _SPACES.sub(" ", reply)).splitlines() if line.strip()]
    numbered = [(int(match[1]), line[match.end() :]) for line in lines if (match := _NUMBERED.match(line))]
    if not numbered:
        bullets = [line[match.end() :] for line in lines if (match := _BULLET.match(line))]
        return bullets or _first(lines)
    continued = _first(lines) if numbered[0][0] == 2 else []
    return continued + [text for _, text in numbered]


def _first(lines: list[str]) -> list[str]:
    """The first line, unless it only announces what follows."""
    return [line for line in lines[:1] if not line.rstrip().endswith(":")]


def _one_line(text: str) -> str:
    return " ".join(_CONTROL.sub(" ", text).split())


def _words(text: str) -> str:
    """For comparing: letters and digits alone."""
    return _NO_WORD.sub(" ", text).strip().casefold()
