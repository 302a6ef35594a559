"""The previous question with another topic in the place of its own: "And the south tower?" Plain Python."""

import re

from rag.standalone.reading import Read
from rag.standalone.topics import bare, name_runs, owner, runs_alike, topic
from rag.standalone.vocabulary import DETERMINERS

END = " \t?!.。？！"
_NUMBER = re.compile(r"\d+")


def of_other_topic(before: Read, new: str, asked: Read) -> str:
    """The previous question with the new topic in the place of its own."""
    core = _core(new, asked)
    if not core:
        return ""
    placed = core != new and new.split()[0].lower() in asked.vocabulary.prepositions
    if placed:
        span = _after(before, new.split()[0].lower(), core) or _of_same_number(before, core)
        span = span or _of_same_names(before, core, asked, placed=True)
        if span:
            return replaced(before.text, span, core)
        return extended(before.text, new[:1].lower() + new[1:])
    span = _of_same_head(before, core) or _of_same_number(before, core)
    span = span or _of_same_names(before, core, asked)
    if span:
        return replaced(before.text, span, bare(core))
    return _in_place_of_topic(before, core, new)


def _in_place_of_topic(before: Read, core: str, new: str) -> str:
    """The new one in the place of what is like it, or of what was asked about; of a thing's owner nothing."""
    held = topic(before)
    article = "" if core == new else new.split()[0].lower()
    alike = runs_alike(before, core, article)
    if alike:
        return replaced(before.text, alike[-1], core)
    owning = owner(held)
    place = before.text.find(held) if held else -1
    if place < 0:
        return extended(before.text, new)
    if owning and core[:1].islower():
        start = place + len(owning) + len("'s ")
        return replaced(before.text, (start, place + len(held)), core)
    return replaced(before.text, (place, place + len(held)), new)


def _after(before: Read, preposition: str, core: str) -> tuple[int, int] | None:
    """ "on Sundays", for "on public holidays": what stands behind the same preposition at the end."""
    words = before.words
    places = [n for n, word in enumerate(words) if word.plain == preposition and 0 < n < len(words) - 1]
    if not places or core[:1].isdigit() != words[places[-1] + 1].text[:1].isdigit():
        return None
    rest = words[places[-1] + 1 :]
    if not all(before.is_content(word) or word.plain in DETERMINERS for word in rest):
        return None
    start = next((word.start for word in rest if word.plain not in before.vocabulary.determiners), 0)
    return (start, rest[-1].end) if start else None


def _core(new: str, asked: Read) -> str:
    """Without prepositions and articles before it."""
    words = new.split()
    while words and words[0].lower() in asked.vocabulary.prepositions | DETERMINERS:
        words = words[1:]
    return " ".join(words)


def _of_same_head(before: Read, core: str) -> tuple[int, int] | None:
    """ "black tea", for "green tea": as many words as the new topic has, ending with the same one."""
    words = core.lower().split()
    for place, word in enumerate(before.words):
        if len(words) > 1 and word.plain == words[-1] and before.is_content(word):
            first = place
            while first > 0 and place - first < len(words) - 1 and before.is_content(before.words[first - 1]):
                first -= 1
            return before.words[first].start, word.end
    return None


def _of_same_number(before: Read, core: str) -> tuple[int, int] | None:
    """The last number, where the new topic is nothing but one as long."""
    if not _NUMBER.fullmatch(core):
        return None
    numbers = [found.span() for found in _NUMBER.finditer(before.text) if len(found[0]) == len(core)]
    return numbers[-1] if numbers else None


def _of_same_names(before: Read, core: str, asked: Read, *, placed: bool = False) -> tuple[int, int] | None:
    """The last name, where the new topic is one too.

    placed: the new one stands behind a preposition, and so must the old one: not "Rust", for "on Windows".
    """
    runs = name_runs(before)
    if placed:
        known = before.vocabulary.prepositions
        after = {
            one.start
            for one, other in zip(before.words[1:], before.words, strict=False)
            if other.plain in known
        }
        runs = [run for run in runs if run[0] in after]
    capitals = [word[:1].isupper() for word in core.split() if word.lower() not in asked.vocabulary.stop]
    return runs[-1] if runs and capitals and all(capitals) else None


def replaced(text: str, span: tuple[int, int], new: str) -> str:
    return text[: span[0]] + new + text[span[1] :]


def extended(text: str, new: str) -> str:
    bare = text.rstrip(END)
    return f"{bare} {new}{text[len(bare) :].strip() or '?'}"
