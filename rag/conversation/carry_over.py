"""A follow-up question completed by the names and terms of the question before it. Plain Python.

Roughly, for installations without a chat model: a pronoun gives way to the name that was asked about, a
fragment replaces what is like it, and else the terms are added in brackets. What is not recognised as a
follow-up stays as it is.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from rag.conversation.parsing import (
    END,
    POSSESSIVE,
    ParsedQuestion,
    Word,
    find_fragment,
    find_pronoun,
    in_all_languages,
    is_elliptic,
    is_unspaced,
    parse_question,
)

MAX_CHARS = 2000  # of a question
_BRACKETS = re.compile(r"\(([^()]+)\)\W*$")
_UNSPACED_PRONOUN = re.compile(
    r"它|牠|(?<!其)他|她|这个|那个|这里|那里|这些|那些|呢[？?]?$|それ|これ|その|この|あれ|彼|そこ|ここ"
)


class Turn(NamedTuple):
    """A question that was asked before, as it stood alone, and its answer without markers.

    answer: "" where there was none. quote: the sentence that supports the answer's first claim, "" if none.
    """

    question: str
    answer: str = ""
    quote: str = ""


def carry_over(question: str, turns: Sequence[Turn]) -> str:
    """Return the question made to stand alone, or as it is where it does already.

    turns: newest first.
    """
    if not turns:
        return question
    if is_unspaced(question):
        completed = _bracketed(question, turns[0].question) if _UNSPACED_PRONOUN.search(question) else ""
    else:
        completed = _complete(parse_question(question, like=turns[0].question), turns)
    return completed if completed and len(completed) <= MAX_CHARS else question


def _complete(asked: ParsedQuestion, turns: Sequence[Turn]) -> str:
    """Return "" for a question of its own."""
    before = parse_question(turns[0].question, like=asked.text)
    fragment = find_fragment(asked)
    if fragment:
        return _with_fragment(before, fragment, asked)
    pronoun = find_pronoun(asked)
    if pronoun is None and not is_elliptic(asked):
        return ""
    if pronoun is None and not asked.content:
        return _bracketed(asked.text, before.text)
    earlier = (parse_question(turn.question, like=asked.text) for turn in turns)
    name = next(filter(None, map(topic_name, earlier)), "")
    if pronoun is not None and not name and pronoun.plain in asked.small.persons:
        reply = parse_question(turns[0].quote or turns[0].answer, like=asked.text)
        name = topic_name(reply, is_statement=True)
    if pronoun is not None and name:
        return _with_name(asked, pronoun, name)
    return _bracketed(asked.text, name or _terms(before))


def topic_name(asked: ParsedQuestion, *, is_statement: bool = False) -> str:
    """Return the first name with its article and its genitive: "the belfry of Ghent"; "" without one.

    is_statement: its first word may belong to a name.
    """
    places = [n for n in range(len(asked.words)) if asked.is_name(n)]
    if not places:
        return ""
    words, small = asked.words, asked.small
    first = last = places[0]
    if is_statement and first == 1 and words[0] in asked.content:
        first = 0
    first = _skip_back(words, first, small.articles)
    owner = _skip_back(words, first, small.genitives)
    if owner < first and owner and words[owner - 1] in asked.content:
        first = _skip_back(words, owner, frozenset(word.plain for word in asked.content))
        first = _skip_back(words, first, small.articles)
    while last + 1 < len(words) and _goes_on(asked, last + 1):
        last += 1
    while words[last].plain in small.stop:
        last -= 1
    return POSSESSIVE.sub("", asked.text[words[first].start : words[last].end])


def _skip_back(words: Sequence[Word], place: int, skipped: frozenset[str]) -> int:
    while place and words[place - 1].plain in skipped:
        place -= 1
    return place


def _goes_on(asked: ParsedQuestion, place: int) -> bool:
    """Tell whether a word belongs to the name before it: a name, a number, or what joins it to the next."""
    word, small = asked.words[place], asked.small
    if asked.text[asked.words[place - 1].end : word.start] not in (" ", "-"):
        return False
    joins = word.plain in small.genitives | small.connectors | small.articles
    ends = POSSESSIVE.search(asked.words[place - 1].text)
    if joins:
        return place + 1 < len(asked.words) and _goes_on(asked, place + 1)
    return not ends and (asked.is_name(place) or word.text.isdigit())


def _with_name(asked: ParsedQuestion, pronoun: Word, name: str) -> str:
    """Put a name in the place of a pronoun; behind it where the language would bend the words around it."""
    instead = f"{pronoun.text} ({name})"
    if asked.language == "en":
        next_place = asked.words.index(pronoun) + 1
        followed = next_place < len(asked.words) and asked.words[next_place] in asked.content
        instead = name
        if pronoun.plain in asked.small.possessives and followed:
            instead = f"{name}’" if name.endswith("s") else f"{name}'s"
        elif pronoun.plain in asked.small.weak_pronouns:
            instead = f"{pronoun.text} ({name})"
    if not pronoun.start:
        instead = instead[:1].upper() + instead[1:]
    return asked.text[: pronoun.start] + instead + asked.text[pronoun.end :]


def _with_fragment(before: ParsedQuestion, fragment: str, asked: ParsedQuestion) -> str:
    """Put a fragment in the place of what is like it in the question before, or add that question to it."""
    small = asked.small
    parsed = parse_question(fragment, like=before.text)
    core = [word for word in parsed.words if word.plain not in small.prepositions | small.articles]
    placed = bool(core) and parsed.words[0].plain in small.prepositions
    span = _find_alike(before, core, placed=placed)
    if span is not None:
        new = POSSESSIVE.sub("", fragment[core[0].start :])
        return before.text[: span[0]] + new + before.text[span[1] :]
    if both := _with_parts(before, parsed, placed=placed):
        return both
    if not placed:
        return _bracketed(asked.text, before.text)
    question = before.text.rstrip(END)
    return f"{question} {fragment[:1].lower() + fragment[1:]}{before.text[len(question) :].strip() or '?'}"


def _with_parts(before: ParsedQuestion, fragment: ParsedQuestion, *, placed: bool) -> str:
    """Put each part of a fragment, "Amazon in 2019", in place of what is like it; "" where one has none."""
    parts: list[list[Word]] = [[]]
    for word in fragment.words:
        if word.plain in before.small.prepositions:
            parts.append([])
        elif word.plain not in before.small.articles:
            parts[-1].append(word)
    filled = [part for part in parts if part]
    spans = [_find_alike(before, part, placed=placed or bool(n)) for n, part in enumerate(filled)]
    places = [(span, part) for span, part in zip(spans, filled, strict=True) if span]
    if len({span for span, _ in places}) < max(2, len(filled)):
        return ""
    text = before.text
    for (start, end), part in sorted(places, key=lambda one: one[0], reverse=True):
        text = text[:start] + POSSESSIVE.sub("", fragment.text[part[0].start : part[-1].end]) + text[end:]
    return text


def _find_alike(before: ParsedQuestion, new: Sequence[Word], *, placed: bool) -> tuple[int, int] | None:
    """Return the span that a new topic may replace: with the same last word, a number, or names for names.

    placed: the new topic stands behind a preposition, and so must the name: not "Rust", for "on Windows".
    """
    words, content = before.words, before.content
    for place, word in enumerate(words):
        run = words[max(0, place + 1 - len(new)) : place + 1]
        if len(new) > 1 and word.plain == new[-1].plain and all(one in content for one in run):
            return run[0].start, word.end
    for word in reversed(words):
        if len(new) == 1 and new[0].text.isdigit() and word.text.isdigit():
            return word.start, word.end
    names = [place for place in range(len(words)) if before.is_name(place)]
    if not names or not new or not all(word.text[0].isupper() for word in new):
        return None
    first = last = names[-1]
    while first - 1 in names:
        first -= 1
    if placed and words[first - 1].plain not in before.small.prepositions:
        return None
    end = words[last].start + len(POSSESSIVE.sub("", words[last].text))
    return words[first].start, end


def _terms(before: ParsedQuestion) -> str:
    """Return the stretch of a question from its first to its last word that names something."""
    in_brackets = _BRACKETS.search(before.text)
    if in_brackets:
        return in_brackets[1]
    content = before.content
    if not content:
        return before.text
    first = before.words.index(content[0])
    if first and before.words[first - 1].plain in before.small.articles:
        first -= 1
    return before.text[before.words[first].start : content[-1].end]


def _bracketed(question: str, about: str) -> str:
    """Add what a question is about; of a question with brackets these alone."""
    in_brackets = _BRACKETS.search(about)
    about = in_brackets[1] if in_brackets else about.strip(END + "¿¡")
    if about.partition(" ")[0].istitle() and about.partition(" ")[0].lower() in in_all_languages(
        "question_words"
    ):
        about = about[:1].lower() + about[1:]
    bare = question.rstrip(END)
    return f"{bare} ({about}){question[len(bare) :].strip()}"
