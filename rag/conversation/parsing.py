"""A question as words of its language, and what of it needs the question before it. Plain Python.

The words that say so are in `data/`, by language (ISO 639-1).
"""

import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from documents.text.stop_words import stop_words
from embeddings.lexical.languages import detect_question_languages
from rag.ranking.sentences import NOUNS_ARE_CAPITAL
from rag.word_data import read_lines

MOST_OF_FRAGMENT = 5  # content words of a follow-up that is no sentence
END = " \t?!.。？！"
_DATA = Path(__file__).parent / "data"
POSSESSIVE = re.compile(r"['’]s?$")
_WORD = re.compile(r"[^\W_]+(?:[.'’][^\W_]+)*")
_PHRASES = ("openers", "instructions", "asides")
_UNSPACED = re.compile("[\u3040-\u30ff\u3400-\u9fff]")


@dataclass(frozen=True, slots=True)
class SmallWords:
    """The words of one language that name nothing.

    weak_pronouns: refer to something only at the end of a question, or where it names next to nothing else.
    expletive_marks: what follows a pronoun that refers to nothing ("how long does it take to").
    genitives: join the words of one phrase. openers: beginnings after which only a new topic stands.
    instructions: beginnings of a sentence that says how to answer, greets or thanks; asides: whole questions
    that ask nothing. polite: words before either. speakers: stand for who asks and who is asked.
    """

    pronouns: frozenset[str] = frozenset()
    weak_pronouns: frozenset[str] = frozenset()
    possessives: frozenset[str] = frozenset()
    persons: frozenset[str] = frozenset()
    expletive_marks: frozenset[str] = frozenset()
    connectors: frozenset[str] = frozenset()
    question_words: frozenset[str] = frozenset()
    auxiliaries: frozenset[str] = frozenset()
    prepositions: frozenset[str] = frozenset()
    genitives: frozenset[str] = frozenset()
    articles: frozenset[str] = frozenset()
    empty_words: frozenset[str] = frozenset()
    openers: frozenset[str] = frozenset()
    instructions: frozenset[str] = frozenset()
    asides: frozenset[str] = frozenset()
    polite: frozenset[str] = frozenset()
    speakers: frozenset[str] = frozenset()
    stop: frozenset[str] = frozenset()


@lru_cache(maxsize=64)
def small_words(language: str) -> SmallWords:
    """Read the words of a language; only its stop words where there is no file for it."""
    path = _DATA / f"{language}.txt"
    lines = read_lines(path) if path.is_file() else {}
    phrases = {name: frozenset(", ".join(lines.pop(name, [])).split(", ")) - {""} for name in _PHRASES}
    lists = {name: frozenset(" ".join(words).split()) for name, words in lines.items()}
    return SmallWords(**lists, **phrases, stop=stop_words(language).union(*lists.values()))


class Word(NamedTuple):
    """plain: in lower case, without a possessive ending. start, end: offsets into the question."""

    text: str
    plain: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class ParsedQuestion:
    """A question as words of one language."""

    text: str
    words: tuple[Word, ...]
    small: SmallWords
    language: str

    @property
    def content(self) -> list[Word]:
        """Return the words that name something."""
        return [word for word in self.words if word.plain not in self.small.stop]

    def is_name(self, place: int) -> bool:
        """Tell whether a word is written with a capital, and not only because it comes first."""
        word = self.words[place]
        return place > 0 and word.text[0].isupper() and word in self.content and not self.text.isupper()


def parse_question(text: str, *, like: str = "") -> ParsedQuestion:
    """like: a text of the same conversation, for the language where the question itself does not tell."""
    languages = detect_question_languages(text) or detect_question_languages(f"{text} {like}") or ("en",)
    words = tuple(
        Word(match[0], POSSESSIVE.sub("", match[0].lower()), *match.span()) for match in _WORD.finditer(text)
    )
    return ParsedQuestion(text, words, small_words(languages[0]), languages[0])


def is_unspaced(text: str) -> bool:
    """Tell whether a text is written in a script without spaces between words."""
    return bool(_UNSPACED.search(text))


def find_fragment(asked: ParsedQuestion) -> str:
    """Return what alone is named, after "and", "what about" or with a preposition; "" in a whole question."""
    small, text = asked.small, asked.text.strip(" ¿¡" + END)
    for opener in sorted(small.openers, key=len, reverse=True):
        if text.lower().startswith(f"{opener} "):
            return text[len(opener) :].strip()
    words = list(asked.words)
    begins = small.connectors | small.prepositions
    if not words or words[0].plain not in begins or not 0 < len(asked.content) <= MOST_OF_FRAGMENT:
        return ""
    if words[0].plain in small.connectors:
        words = words[1:]
    if any(word.plain in small.question_words | small.auxiliaries | small.pronouns for word in words):
        return ""
    return asked.text[words[0].start : words[-1].end]


def find_pronoun(asked: ParsedQuestion) -> Word | None:
    """Return the first word that stands for something which the question does not name itself."""
    small = asked.small
    for place, word in enumerate(asked.words):
        after = [other.plain for other in asked.words[place + 1 : place + 6]]
        lower = not place or word.text.islower() or asked.text.isupper()  # not the German "Sie"
        weak = word.plain in small.weak_pronouns and (not after or len(asked.content) <= 1)
        if not lower or (word.plain not in small.pronouns and not weak):
            continue
        if not small.expletive_marks.intersection(after) and not _is_named_before(asked, place):
            return word
    return None


def _is_named_before(asked: ParsedQuestion, place: int) -> bool:
    """Tell whether a name, or a clause with a term, stands before a pronoun: "When was it built, and who
    ...".
    """
    before = asked.words[:place]
    if asked.language not in NOUNS_ARE_CAPITAL and any(asked.is_name(n) for n in range(place)):
        return True
    for word in before:
        between = asked.text[word.end : asked.words[place].start].lower()
        ends_clause = "," in between or any(f" {one} " in between for one in asked.small.connectors)
        if ends_clause and word in asked.content:
            return True
    return False


def is_elliptic(asked: ParsedQuestion) -> bool:
    """Tell whether a question names next to nothing: "Why?", "Which year?", "Tell me more"."""
    small, plain = asked.small, {word.plain for word in asked.words}
    if not asked.content:
        return bool(plain)
    asks = asked.words[0].plain in small.question_words
    return asks and bool(small.auxiliaries) and len(asked.content) == 1 and not plain & small.auxiliaries


@lru_cache(maxsize=16)
def in_all_languages(name: str) -> frozenset[str]:
    """Return the words of all languages that have this name in `SmallWords`."""
    codes = [path.stem for path in _DATA.glob("*.txt")]
    return frozenset[str]().union(*(getattr(small_words(code), name) for code in codes))
