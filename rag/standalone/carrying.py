"""A follow-up question with the terms that it lacks, taken from what was said before. Plain Python.

Deterministic, for those who run no chat model. What it cannot tell stays as it was asked.
"""

import re
from collections.abc import Sequence

from rag.standalone.reading import Read, follow_up, is_unspaced, new_topic, pronoun_place, read
from rag.standalone.topics import name_runs, person, topic
from rag.standalone.types import Turn
from rag.standalone.vocabulary import DETERMINERS

MAX_CHARS = 2000  # of a question
_END = " \t?!.。？！"
_NUMBER = re.compile(r"\d+")
_OBJECTS = frozenset(["it", "they", "them", "he", "him", "she"])
_POSSESSIVES = frozenset(["its", "their", "his"])


def carried(question: str, turns: Sequence[Turn]) -> str:
    """The question made to stand alone, or as it is: where it does already, or nothing is known for it.

    turns: newest first.
    """
    if not turns:
        return question
    asked = read(question, like=turns[0].question)
    kind = follow_up(asked) if asked.words else None
    if kind is None:
        return question
    before = [read(turn.question, like=question) for turn in turns]
    if kind == "pronoun":
        made = _with_name(asked, before, turns)
    elif kind == "topic":
        made = _of_other_topic(before[0], new_topic(asked), asked)
    else:
        made = _completed(asked, before)
    return made if made and len(made) <= MAX_CHARS else question


def _with_name(asked: Read, before: Sequence[Read], turns: Sequence[Turn]) -> str:
    place = pronoun_place(asked)
    if place is None:
        return ""
    word = asked.words[place]
    quote = read(turns[0].quote or turns[0].answer, like=turns[0].question)
    name = person(before[0], quote, word.plain) or next(filter(None, map(topic, before)), "")
    if not name:
        return _completed(asked, before)
    following = place + 1 < len(asked.words) and asked.is_content(asked.words[place + 1])
    instead = f"{word.text} ({name})"
    if asked.language == "en":
        if word.plain in _POSSESSIVES or (word.plain == "her" and following):
            instead = f"{name}’" if name.endswith("s") else f"{name}'s"
        elif word.plain in _OBJECTS or word.plain == "her":
            instead = name
    if not place:
        instead = instead[:1].upper() + instead[1:]
    return asked.text[: word.start] + instead + asked.text[word.end :]


def _of_other_topic(before: Read, new: str, asked: Read) -> str:
    """The previous question with the new topic in the place of its own."""
    core = _core(new, asked)
    if not core:
        return ""
    span = _of_same_head(before, core) or _of_same_number(before, core) or _of_same_names(before, core, asked)
    if span:
        return _replaced(before.text, span, core)
    if core != new and new.split()[0].lower() in asked.vocabulary.prepositions:
        return _extended(before.text, new[:1].lower() + new[1:])
    held = topic(before)
    place = before.text.find(held) if held else -1
    if place >= 0:
        return _replaced(before.text, (place, place + len(held)), new)
    return _extended(before.text, new)


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


def _of_same_names(before: Read, core: str, asked: Read) -> tuple[int, int] | None:
    """The last name, where the new topic is one too."""
    runs = name_runs(before)
    capitals = [word[:1].isupper() for word in core.split() if word.lower() not in asked.vocabulary.stop]
    return runs[-1] if runs and capitals and all(capitals) else None


def _completed(asked: Read, before: Sequence[Read]) -> str:
    """With what it is about in brackets: all of the previous question where nothing else is named."""
    about = "" if is_unspaced(asked.text) else next(filter(None, map(topic, before)), "")
    names_something = any(asked.is_content(word) for word in asked.words)
    if not about or not names_something:
        about = _lowered(before[0])
    end = asked.text[len(asked.text.rstrip(_END)) :].strip() or ""
    return f"{asked.text.rstrip(_END)} ({about}){end}"


def _lowered(question: Read) -> str:
    text = question.text.strip(_END + "¿¡")
    first = question.words[0] if question.words else None
    return text[:1].lower() + text[1:] if first and not question.is_content(first) else text


def _replaced(text: str, span: tuple[int, int], new: str) -> str:
    return text[: span[0]] + new + text[span[1] :]


def _extended(text: str, new: str) -> str:
    bare = text.rstrip(_END)
    return f"{bare} {new}{text[len(bare) :].strip() or '?'}"
