"""A follow-up question with the terms that it lacks, taken from what was said before. Plain Python.

Deterministic, for those who run no chat model. What it cannot tell stays as it was asked.
"""

import re
from collections.abc import Sequence

from rag.conversation.reading import Read, follow_up, is_unspaced, new_topic, pronoun_place, read
from rag.conversation.topics import bare, in_brackets, name_runs, owner, person, runs_alike, topic
from rag.conversation.types import Turn
from rag.conversation.vocabulary import DETERMINERS

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


MAX_CHARS = 2000  # of a question
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
        made = of_other_topic(before[0], new_topic(asked), asked)
    else:
        made = _completed(asked, before)
    return made if made and len(made) <= MAX_CHARS else question


def _with_name(asked: Read, before: Sequence[Read], turns: Sequence[Turn]) -> str:
    place = pronoun_place(asked)
    if place is None:
        return ""
    word = asked.words[place]
    if word.plain in _POSSESSIVES and place == 1 and (made := _of_same_owner(asked, before[0])):
        return made
    quote = read(turns[0].quote or turns[0].answer, like=turns[0].question)
    name = person(before[0], quote, word.plain) or _centre(before)
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


def _of_same_owner(asked: Read, before: Read) -> str:
    """ "And its melting point?", after "What is the boiling point of water?": the same of something else.

    "" where the follow-up is more than that, or the previous question was about no part of something.
    """
    rest, held = asked.words[2:], topic(before)
    if asked.words[0].plain not in asked.vocabulary.connectors or not all(map(asked.is_content, rest)):
        return ""
    part, of, _ = held.partition(" of ")
    place = before.text.find(held)
    if not rest or place < 0 or not (of or owner(held)):
        return ""
    new = asked.text[rest[0].start : rest[-1].end]
    if owner(held):
        start = place + len(owner(held)) + len("'s ")
        return replaced(before.text, (start, place + len(held)), new)
    article = next((f"{one} " for one in ("the", "The") if part.startswith(f"{one} ")), "")
    return replaced(before.text, (place + len(article), place + len(part)), new)


def _centre(before: Sequence[Read]) -> str:
    """What the conversation is about: Kenya, if "Kenya's capital" was asked about and Kenya before that."""
    held = next(filter(None, map(topic, before)), "")
    owning = owner(held)
    if not owning or len(before) < 2 or held in before[1].text:
        return held
    return owning if bare(owning) in before[1].text or owner(topic(before[1])) else held


def _completed(asked: Read, before: Sequence[Read]) -> str:
    """With what it is about in brackets: all of the previous question where nothing else is named."""
    held = in_brackets(before[0])
    if is_unspaced(asked.text):
        about = "" if asked.text.rstrip(END).endswith("呢") else held
        about = about or before[0].text.partition(" (")[0].strip(END)
        return f"{asked.text.rstrip(END)} ({about}){asked.text[len(asked.text.rstrip(END)) :].strip()}"
    about = next(filter(None, map(topic, before)), "")
    names_something = any(asked.is_content(word) for word in asked.words)
    if not about or not names_something:
        about = held or _lowered(before[0])
    end = asked.text[len(asked.text.rstrip(END)) :].strip() or ""
    return f"{asked.text.rstrip(END)} ({about}){end}"


def _lowered(question: Read) -> str:
    text = question.text.strip(END + "¿¡")
    first = question.words[0] if question.words else None
    return text[:1].lower() + text[1:] if first and not question.is_content(first) else text
