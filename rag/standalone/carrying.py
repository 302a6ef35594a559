"""A follow-up question with the terms that it lacks, taken from what was said before. Plain Python.

Deterministic, for those who run no chat model. What it cannot tell stays as it was asked.
"""

from collections.abc import Sequence

from rag.standalone.reading import Read, follow_up, is_unspaced, new_topic, pronoun_place, read
from rag.standalone.replacing import END, of_other_topic, replaced
from rag.standalone.topics import bare, in_brackets, owner, person, topic
from rag.standalone.types import Turn

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
