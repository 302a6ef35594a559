"""What a question is made of, and whether it needs what was said before. Plain Python."""

import re
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from embeddings.lexical.languages import detect_question_languages
from rag.conversation.vocabulary import CJK_FOLLOWS, Vocabulary, vocabulary
from rag.ranking.names import NOUNS_ARE_CAPITAL

# pronoun: a word stands for something said before. topic: the previous question, of something else.
# bare: what the question is about is left out altogether.
Kind = Literal["pronoun", "topic", "bare"]
_WORD = re.compile(r"[^\W_]+(?:[.'’][^\W_]+)*")
_POSSESSIVE = re.compile(r"['’]s$")
_CJK = re.compile("[\u3040-\u30ff\u3400-\u9fff]")
_CJK_FOLLOWS = re.compile(CJK_FOLLOWS)
_DEMONSTRATIVES = frozenset(("this", "that", "these", "those"))
_COUNTED = frozenset(("many", "much", "which", "what"))
_LIGHT_VERBS = frozenset(
    ("happen", "work", "mean", "matter", "occur", "change", "apply", "help", "cost", "take")
)
_BEFORE_ONE = frozenset(("which", "this", "that", "first", "second", "third", "last", "other"))
_BEFORE_THAT = frozenset(
    ("is", "was", "does", "did", "do", "about", "of", "like", "than", "after", "before", "why", "for", "with")
)
_THERE_IS = frozenset(("is", "are", "was", "were", "be", "been", "will", "can"))
_EXPLETIVE_ENDS = frozenset(("to", "that", "if", "whether"))
MOST_OF_TOPIC = 5  # content words of a follow-up that names nothing but another topic


@dataclass(frozen=True, slots=True)
class Word:
    """text: as it is written; plain: in lower case, without a possessive ending."""

    text: str
    plain: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Read:
    """A question with its words, by the rules of one language."""

    text: str
    words: tuple[Word, ...]
    vocabulary: Vocabulary
    language: str

    def is_content(self, word: Word) -> bool:
        return word.plain not in self.vocabulary.stop

    @property
    def content(self) -> list[Word]:
        return [word for word in self.words if self.is_content(word)]

    def is_name(self, place: int) -> bool:
        """Written with a capital, and not only because it comes first."""
        word = self.words[place]
        return word.text[:1].isupper() and self.is_content(word) and not self.text.isupper()


def read(text: str, *, like: str = "") -> Read:
    """like: a text of the same conversation, for the language where the question itself does not tell."""
    told = detect_question_languages(text) or detect_question_languages(f"{text} {like}") or ("en",)
    words = tuple(
        Word(found[0], _POSSESSIVE.sub("", found[0].lower()), *found.span()) for found in _WORD.finditer(text)
    )
    return Read(text, words, vocabulary(told[0]), told[0])


def is_unspaced(text: str) -> bool:
    return bool(_CJK.search(text))


def follow_up(question: Read) -> Kind | None:
    """In which way it needs what was said before; None for a question of its own."""
    if is_unspaced(question.text):
        return "bare" if _CJK_FOLLOWS.search(question.text.strip()) else None
    named = [word for word in question.content if word.plain not in question.vocabulary.light]
    if not named:
        place = pronoun_place(question)
        plain = "" if place is None else question.words[place].plain
        return (
            "pronoun" if place is not None and (question.content or plain not in _DEMONSTRATIVES) else "bare"
        )
    if question.language == "en" and _asks_which_one(question):
        return "bare"
    if pronoun_place(question) is not None:
        return "pronoun"
    if new_topic(question):
        return "topic"
    return "bare" if len(named) == 1 and _is_elliptic(question) else None


def pronoun_place(question: Read) -> int | None:
    """Of the first word that stands for something not said in the question itself."""
    for place, word in enumerate(question.words):
        if _stands_for_something(question, place, word.plain) and not _named_before(question, place):
            return place
    return None


def new_topic(question: Read) -> str:
    """What alone is named, after "and", "what about" or with a preposition: "the south tower". Else ""."""
    lowered = question.text.lower().lstrip(" ¿¡")
    skipped = len(question.text) - len(lowered)
    for beginning in sorted(question.vocabulary.topics, key=len, reverse=True):
        if lowered.startswith(f"{beginning} "):
            return question.text[skipped + len(beginning) :].strip(" ?!.。？")
    words, known = list(question.words), question.vocabulary
    connected = words[0].plain in known.connectors
    rest = words[1:] if connected else words
    if not rest or len(question.content) > MOST_OF_TOPIC:
        return ""
    if any(word.plain in known.asking | known.auxiliaries for word in rest):
        return ""
    if not connected and rest[0].plain not in known.prepositions:
        return ""
    return question.text[rest[0].start :].strip(" ?!.。？")


def _stands_for_something(question: Read, place: int, plain: str) -> bool:
    words, last = question.words, place == len(question.words) - 1
    if plain not in question.vocabulary.pronouns:
        return False
    if question.language == "en":
        if plain == "it":
            return not _is_expletive(question, place)
        if plain == "that":
            return last or (
                words[place - 1].plain in _BEFORE_THAT
                and (not _is_next_content(question, place) or words[place + 1].plain in _LIGHT_VERBS)
            )
        if plain == "there":
            return not any(word.plain in _THERE_IS for word in words[max(0, place - 1) : place + 2])
    if question.language == "de":
        if plain == "es":
            return not any(word.plain in ("gibt", "gab") for word in words[max(0, place - 1) : place + 2])
        if plain == "sie" and words[place].text == "Sie" and place:
            return False  # the polite form
        if plain == "sein" and last:
            return False  # the verb
    if question.language == "fr" and plain == "il":
        return not any(word.plain in ("y", "faut") for word in words[max(0, place - 3) : place + 2])
    return True


def _is_expletive(question: Read, place: int) -> bool:
    """ "How long does it take to bake bread?" """
    after = question.words[place + 1 :]
    ends = [n for n, word in enumerate(after[:5]) if word.plain in _EXPLETIVE_ENDS]
    return bool(ends) and sum(question.is_content(word) for word in after[ends[0] :]) >= 2


def _is_next_content(question: Read, place: int) -> bool:
    return place + 1 < len(question.words) and question.is_content(question.words[place + 1])


def _named_before(question: Read, place: int) -> bool:
    """Whether the question names it itself: "When was the belfry built, and who built it?" """
    articles = question.vocabulary.determiners - _DEMONSTRATIVES
    of_places = question.words[place].plain == "there"  # no article makes a place of a thing
    for n in range(place):
        word = question.words[n]
        if not question.is_content(word) or word.plain in question.vocabulary.light:
            continue
        counted = n and question.words[n - 1].plain in _COUNTED  # "How many ATP does it need?"
        if n and question.is_name(n) and not counted and question.language not in NOUNS_ARE_CAPITAL:
            return True
        if n and question.words[n - 1].plain in articles and not of_places:
            return True
        between = question.text[word.end : question.words[place].start].lower()
        if "," in between or any(f" {one} " in between for one in question.vocabulary.connectors):
            return True
    return False


def _asks_which_one(question: Read) -> bool:
    """ "Which one is the strongest?", "Which is faster?", "When should I use the first one?" """
    words = [word.plain for word in question.words]
    if any(word in _BEFORE_ONE and after in ("one", "ones") for word, after in pairwise(words)):
        return True
    return words[:2] in (["which", "is"], ["which", "are"]) and len(question.content) == 1


def _is_elliptic(question: Read) -> bool:
    """ "How tall?", "Which year?": a question word, and no verb that it could belong to."""
    known, words = question.vocabulary, question.words
    begins = words[1:] if words[0].plain in known.connectors | known.prepositions else words
    asks = bool(begins) and begins[0].plain in known.asking
    return asks and bool(known.auxiliaries) and not any(word.plain in known.auxiliaries for word in words)
