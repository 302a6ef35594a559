"""Questions of a form that needs more than one search: of two things, overviews.

They are recognised roughly, in several languages: what is not recognised is searched for as
any other question.
"""

import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple
from uuid import UUID

from embeddings.lexical.terms import lexemes, question_lexemes
from rag.types.retrieval import Passage

READ_CHARS = 500
LONGEST = 500  # characters of a question that is looked at
MOST_QUESTIONS = 4  # that are searched for one by one
KEPT_QUESTIONS = 256
LOOKED_AT = 10  # best candidates
NEARLY_ALL = 0.8  # of them
_MAIN = r"(?:main|key|major|principal|central|essential|most\s+important)"
_ASKING = re.compile(
    r"\b(?:summari[sz]e|summary|overview|outline|sum\s+up|tl;?dr|gist)\b"
    rf"|\bwhat\s+(?:are|were)\s+the\s+{_MAIN}\b|\b{_MAIN}\s+(?:points?|findings?|ideas?|topics?|messages?|takeaways?)\b"
    r"|^\W*what(?:['’]s|\s+is|\s+are|\s+does|\s+do)\b.*\babout\W*$"
    r"|\bfass(?:e|en\s+Sie|t)?\b.*\bzusammen|\bzusammenfass\w+|\büberblick\b|\bworum\s+geht|\bwovon\s+handel\w+"
    r"|\bwas\s+sind\s+die\s+(?:wichtigsten|zentralen|wesentlichen|haupt\w+)"
    r"|\brésum\w+|\bde\s+quoi\s+(?:parle|traite)|\bquel(?:le)?s\s+sont\s+les\s+principa\w+"
    r"|\bresum(?:e|en|ir|a)\b|\bde\s+qué\s+trata|\bcuáles\s+son\s+l[oa]s\s+principales",
    re.IGNORECASE,
)
# What such a question says without naming anything.
_FRAME = """
summarize summarise summary overview outline sum gist tldr main key major principal central essential
important point finding idea topic message takeaway content short brief briefly sentence word please give
write one two three four five document report paper article file pdf book text chapter page fasse fassen
fasst zusammen zusammenfassung zusammenfassen überblick worum geht wovon handelt wichtigsten zentralen
wesentlichen hauptpunkte punkte aussagen inhalt kurz bitte gib dokument bericht artikel buch kapitel résumez
résume résumer résumé quoi parle traite principaux principales livre rapport resume resumen resumir trata
principales puntos documento informe artículo texto libro
"""
_SIGNS = re.compile(r"[\W_]+")


class Overview(NamedTuple):
    """document_id: which is asked for. whole: nothing but an overview of it is asked for."""

    document_id: UUID
    whole: bool


@lru_cache(maxsize=KEPT_QUESTIONS)
def asks_for_overview(text: str) -> bool:
    return _ASKING.search(text[:READ_CHARS]) is not None


def overview_of(text: str, candidates: Sequence[Passage]) -> Overview | None:
    """Return the document that a question asks to be summed up; None if it asks for something else.

    candidates: found for it, best first. A document is meant if the question names it, by its title or file
    name, or if nearly all of the best candidates are of it.
    """
    if not candidates or not asks_for_overview(text):
        return None
    best = candidates[:LOOKED_AT]
    for passage in best:
        asked = _asked(text, passage.language)
        for words in words_of_names(passage):
            if _names(asked, words - frame_words(passage.language)):
                return Overview(passage.document_id, whole=asked <= words)
    document_id, count = Counter(passage.document_id for passage in best).most_common(1)[0]
    if count < NEARLY_ALL * len(best):
        return None
    return Overview(document_id, whole=not _asked(text, best[0].language))


def words_of_names(passage: Passage) -> list[frozenset[str]]:
    """Return the lexemes of its document's file name and of its title."""
    return _words_of_names(passage.document_name, passage.title, passage.language)


@lru_cache(maxsize=KEPT_QUESTIONS)
def _words_of_names(file_name: str, title: str, language: str) -> list[frozenset[str]]:
    names = file_name.rpartition(".")[0], title
    return [frozenset(lexemes(_SIGNS.sub(" ", name), language)) for name in names]


def _names(asked: frozenset[str], words: frozenset[str]) -> bool:
    """Return whether one of them holds all of the other, and more than a number."""
    shared = asked & words
    return shared in (asked, words) and any(not word.isdecimal() for word in shared)


def _asked(text: str, language: str) -> frozenset[str]:
    """Return what the question names, as lexemes of a document's language."""
    (words,) = question_lexemes(text[:READ_CHARS], [language]).values()
    return frozenset(words) - frame_words(language)


@lru_cache(maxsize=32)
def frame_words(language: str) -> frozenset[str]:
    return frozenset(lexemes(_FRAME, language))


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
_SHARED = r"(?:have\s+in\s+common|share|gemein(?:sam)?(?:\s+haben)?|ont\s+en\s+commun|tienen\s+en\s+común)"
_ALIKE = r"(?:alike|similar|different|related|ähnlich|verschieden)"
_B_WORDS = r"(?P<b>\S.*?)"
_B_NAME = r"(?P<b>(?:the\s+)?(?-i:[A-Z])\S*(?:\s+(?-i:[A-Z])\S*)*)"
# Each finds the two things, and what is asked of both where it is said apart from them: `asked` before them,
# `told` behind.
_PATTERNS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"^\W*(?:please\s+|bitte\s+)?{_COMPARE}\s+{_A}{_WITH}{_B}",
        rf"\b(?:comparison|vergleich|comparaison|comparación)\s+(?:of|von|{_BETWEEN}){_A}{_WITH}{_B}",
        rf"\b{_DIFFERENCE}\b[^?]*?{_BETWEEN}{_A}{_AND}{_B}",
        rf"\bunterscheide[nt]\s+sich\s+{_A}\s+(?:und|von)\s+{_B}",
        rf"^\W*how\s+do(?:es)?\s+{_A}\s+(?:differ\s+from|compare\s+(?:to|with))\s+{_B}",
        rf"^\W*how\s+do\s+{_A}{_AND}(?P<b>\S.*?)\s+(?:differ|compare)\b",
        rf"^\W*(?:what|was)\s+(?:do|does|did|haben|hatten)\s+{_A}{_AND}{_B_WORDS}\s+{_SHARED}\W*$",
        rf"^\W*(?:do|does|did|haben)\s+{_A}{_AND}{_B_WORDS}\s+have\s+\w+\s+in\s+common\W*$",
        rf"^\W*what\s+(?:distinguishes|separates|sets)\s+{_A}\s+(?:apart\s+)?from\s+{_B}",
        rf"^\W*how\s+(?:is|are|was|were)\s+{_A}\s+(?:different\s+from|similar\s+to|related\s+to)\s+{_B}",
        rf"^\W*(?:qué\s+tienen\s+en\s+común|qu['’]ont\s+en\s+commun)\s+{_A}{_AND}{_B}",
        rf"^\W*(?:how|in\s+(?:what|which)\s+\w+)\s+(?:are|were)\s+{_A}{_AND}{_B_WORDS}\s+{_ALIKE}\W*$",
        rf"^\W*{_IS}\s+{_A}{_AND}{_B_WORDS}\s+both\s+(?P<told>\S.*?)\W*$",
        rf"^\W*(?:tell\s+me|erzähl\w*(?:\s+mir)?)\s+(?:about|von|über)\s+{_A}{_AND}(?:(?:about|von|über)\s+)?{_B}",
        rf"^\W*(?P<asked>{_WHICH}[^,:]*?\b{_MORE}[^,:]*)[,:]\s*{_NO_CLAUSE}{_A_WORDS}{_OR}(?P<b>[^,:]+?)\W*$",
        rf"^\W*{_IS}\s+(?P<a>\S.*)\s+(?P<asked>{_MORE}(?:\s+\w+){{0,3}})\s+(?:than|als)\s+{_B}",
        rf"^\W*{_IS}\s+{_A_WORDS}{_OR}{_B_NAME}\s+(?P<told>(?:\w+\s+){{0,3}}{_MORE}.*?)\W*$",
        rf"^\W*{_A},?\s+(?:as\s+)?compared\s+(?:with|to)\s+{_B}",
        rf"^\W*(?:(?P<asked>\w.*?)\s*[,:]\s*)?{_A}\s+(?:vs\.?|versus)\s+{_B}",
    )
)
# "Which is older": documents tell it by a date of each.
_OLDER = re.compile(
    rf"(?:{_WHICH}(?:one\s+)?(?:(?:is|was|are|were|came|began|begun|lived|started|opened|appeared|founded|built|born"
    r"|ist|sind|war|waren|kam|begann|lebte|entstand)\s+)*)?"
    r"(?:older|oldest|younger|newer|newest|earlier|earliest|later|latest|first|last|älter|jünger|neuer|früher|später|zuerst|zuletzt)\W*",
    re.IGNORECASE,
)
WHEN = "when was"
# What is left of "Which company employs more people" to be looked for of each: "employs number of people".
_COUNTED = re.compile(r"\b(?:more|most|fewer|fewest|mehr)\s+(?=(?:\w+s|people|staff)\b)", re.IGNORECASE)
_COMPARING = re.compile(
    rf"^\W*{_WHICH}(?:(?:one|company|of\s+(?:them|the\s+two))\s+)?(?:{_IS}\s+)?|^(?:have|has|had)\s"
    r"|\b(?:a\s+|the\s+)?(?:more|less|most|least|mehr|bigger|biggest|larger|largest|smaller|smallest"
    r"|higher|highest|lower|lowest|greater|greatest)\b(?:\s+(?:by|in|of|at|on)\b)?",
    re.IGNORECASE,
)
# Who asks, who is spoken to and who is asked to tell, before the question itself. Not "according to Apple":
# whose word it is belongs to the question.
_ASKING_WORD = (
    r"(?:who|whose|whom|what|when|where|which|why|how|wer|wen|wem|was|wann|wo|warum|wie|welche[mnrs]?)\b"
)
_KNOWS = (
    r"asks?|asked|asking|wonders?|wondering|(?:wants?|wanted|needs?|wishes|like|love)\s+to\s+know|knows?"
    r"|(?:tell|told|ask|remind|explain\s+to)\s+(?:\S+\s+){1,3}?|fragt|fragte|wissen"
)
_FRAME_OF_QUESTION = re.compile(
    rf"^\W*(?:(?:hi|hello|hey|dear|good\s+\w+|hallo|liebe[rs]?)\b[^,:!.?]*[,:!.]\s*"
    rf"|[^?]*?\b(?:{_KNOWS})[,:]?\s*)(?={_ASKING_WORD})",
    re.IGNORECASE,
)
# "the revenue of" in "the revenue of A and B", "Amcor's" in "Amcor's sales and profits", "in 2023" behind B.
_HEAD = re.compile(r"(?:\S.*\s)?(?:of|for|in|at|by|von|des|für|im|de|du|del)\s+(?=\S)|\S+['’]s\s+(?=\S)")
_TAIL = re.compile(r"\s+(?:in|of|for|during|im|von|für|während|en|pour|para)\s+(?:\w+\s+){0,3}\d{4}\b.*$")
_OWN = re.compile(
    r"(?:the|an?|its|their|d(?:er|ie|as|en|em|es)|eine?[mnrs]?|l[aeo]s?|el|une?|una?)\s|l['’]", re.IGNORECASE
)
_NAMED_BY = re.compile(r"\b[A-Z]\w*\s+(?:\w+\s+)*(?:of|for|in|by)\s$")  # "the Tower of" is part of a name


_JOINING = re.compile(r"[,;?]*\s+(?:and|or|und|oder|et|ou|y|o)\s+", re.IGNORECASE)
_POSSESSIVE = re.compile(r"\S(?:.*?\S)??['’]s?(?=\s)")
_PREPOSITION = re.compile(r"(?:of|at|in|for|by|to|from|with|von|bei|für)\s+", re.IGNORECASE)
_PREPOSITION_LAST = re.compile(
    r"\s+(?:of|at|in|for|by|to|from|with|von|bei|für)\s+(?:the\s+)?$", re.IGNORECASE
)
_QUESTION = re.compile(r"[^?？]+[?？]\W*")
LEAST_OF_CLAUSE = 3  # words of a question that is asked beside another
_ASKING_ALONE = re.compile(rf"\W*(?:(?:in|on|at|of|for|by|from|to|with)\s+)?{_ASKING_WORD}", re.IGNORECASE)
# The second question asks about what the first one is about.
_REFERRING = re.compile(
    r"\b(?:it(?!\s+(?:takes?|costs?)\s+to\b)|its|itself|they|them|their|theirs|he|him|his|she|her|hers|this|that"
    r"|these|those|there|(?<!which\s)one|er|ihn|sein\w*|sie|ihr\w*|es|dessen|deren|dort)\b",
    re.IGNORECASE,
)
_THEIRS = re.compile(r"\b(?:its|his|her|their)\b", re.IGNORECASE)
_THEM = re.compile(r"\b(?:it|they|them|he|him|she|her(?=\W*$))\b", re.IGNORECASE)
_THERE = re.compile(r"\bthere(?=\W*$)", re.IGNORECASE)
_AUXILIARY = rf"(?:{_IS}|can|could|will|would|should|must|may)"
# "Which languages" before "do Kenyans speak"; and "which" right before its verb.
_WHICH_NOUN = re.compile(
    rf"\W*(?:which|what|how\s+(?:many|much))\s+(?!{_AUXILIARY}\b)\w+\s+(?={_AUXILIARY}\b)", re.IGNORECASE
)
_WHICH_OF = re.compile(rf"(?:which|what)\s+{_AUXILIARY}\s+\S", re.IGNORECASE)
_NAME = re.compile(
    r"(?:(?:the|d(?:er|ie|as|en|em)|l[aeo]s?|el)\s+)?"
    r"(?:[^\W\d_a-zß-ÿ][\w'’-]*|(?:1\d|20)\d\d\b)(?:\s+(?:(?:of|de|von|van)\s+)?[^\W\d_a-zß-ÿ][\w'’-]*)*"
)
_OWNER = re.compile(rf"(?!(?i:what|who|where|when|how)['’]){_NAME.pattern}(?<=['’]s)")
_OWNED = re.compile(rf"(?<!\S)({_OWNER.pattern})\s+(.*)")
_OWNER_LAST = re.compile(rf"(?<=\s)({_OWNER.pattern})\W*$")


class Comparison(NamedTuple):
    """subjects: the two things as the question names them. halves: what is to be searched for of each.

    compared: false where a question only names both. bare: nothing is asked of them but how they compare.
    asks_twice: they are two questions, or more.
    """

    subjects: tuple[str, ...]
    halves: tuple[str, ...]
    compared: bool = True
    bare: bool = False
    asks_twice: bool = False


@lru_cache(maxsize=KEPT_QUESTIONS)
def comparison_in(text: str) -> Comparison | None:
    """Return the two things that a question compares or, failing that, names on both sides of an "and"; None
    where there are none, or where that is not recognised.
    """
    text = " ".join(text.split())
    if len(text) > LONGEST:
        return None
    questions = tuple(map(str.strip, _QUESTION.findall(text)))
    are_whole = all(len(question.split()) >= LEAST_OF_CLAUSE for question in questions)
    if 1 < len(questions) <= MOST_QUESTIONS and are_whole and text.endswith(questions[-1]):
        return Comparison(questions, questions, compared=False, asks_twice=True)
    for pattern in _PATTERNS:
        if found := pattern.search(text):
            parts = found.groupdict()
            asked, told = parts.get("asked") or "", parts.get("told") or ""
            return _comparison(parts["a"], parts["b"], WHEN if _OLDER.fullmatch(asked) else asked, told)
    return next(filter(None, (_joined(text, found) for found in _JOINING.finditer(text))), None)


def question_without_frame(text: str) -> str | None:
    """Return the question alone where it begins with who asks or is told: of "Ann asks when Tesla died." the
    last three words. None where nothing is left out.
    """
    text = text[:READ_CHARS]
    frame = _FRAME_OF_QUESTION.match(text)
    return text[frame.end() :] if frame else None


def _comparison(one: str, other: str, asked: str, told: str) -> Comparison | None:
    """Compare two things: what stands only with one of them, but is said of both, is given to the other,
    too.
    """
    if one.casefold() == other.casefold():
        return None
    one, other, after = (one, other, "") if asked else _without_shared_end(one, other)
    head = _HEAD.match(one)
    alike = one.split()[-1].casefold() == other.split()[-1].casefold()
    before = head[0] if head and (alike or _is_shared(head[0], other)) else ""
    subjects = one[len(before) :], other
    halves = [f"{before}{subject}{after}" for subject in subjects]
    if asked == WHEN:
        halves = [f"{asked} {half}" for half in halves]
    elif asked or told:
        more = " ".join(_without_comparing(said) for said in (asked, told) if said)
        halves = [f"{half} {more}" for half in halves]
    bare = asked in ("", WHEN) and not (told or before or after or any(map(_HEAD.match, subjects)))
    return Comparison(subjects, (halves[0], halves[1]), bare=bare)


def _without_comparing(asked: str) -> str:
    return " ".join(_COMPARING.sub(" ", _COUNTED.sub("number of ", asked)).split()) or asked


def _without_shared_end(one: str, other: str) -> tuple[str, str, str]:
    """Return both things and what stands behind one of them, but is said of both: "in 2017", "revenue" in
    "Amazon and Adobe revenue", "bonds" in "Nike's bonds and Adobe's".
    """
    if (tail := _TAIL.search(other)) and not _TAIL.search(one):
        return one, other.removesuffix(tail[0]), tail[0]
    if _OWNER.fullmatch(other) and (owned := _OWNED.match(one)):
        return owned[1], other, f" {owned[2]}"
    bare = _NAME.fullmatch(one) and not _OWN.match(other)
    pattern = _POSSESSIVE if one.endswith(("'s", "’s")) else _NAME if bare else None
    name = pattern.match(other) if pattern else None
    if name is None or _is_name_to_end(other[name.end() :]):
        return one, other, ""
    return one, name[0], " " + other[name.end() :].strip(" :,")


def _is_name_to_end(rest: str) -> bool:
    """Return whether nothing is left behind a name but what belongs to it: "of Nantes", "(Kenya)"."""
    return not re.match(r"[\s:,]+(?!(?:of|de|von|in|the|and)\b)[a-zß-ÿ]", rest)


def _joined(text: str, joining: re.Match[str]) -> Comparison | None:
    """Split a question at an "and" between two names or two questions. Where it joins just names, all else is
    asked of both; where it joins two clauses, the second begins as the question does, or asks by itself.
    """
    left, right = text[: joining.start()].rstrip(" ?,;"), text[joining.end() :]
    if _ASKING_ALONE.match(right):
        return _two_questions(left, right)
    names = [name for name in _NAME.finditer(left) if name.start()]
    preposition = _PREPOSITION.match(right)
    other = _NAME.match(right, preposition.end()) if preposition else _NAME.search(right)
    if not names or other is None or names[-1][0].casefold() == other[0].casefold():
        return None
    first = names[-1]
    subjects = first[0], other[0]
    before, behind = left[: first.start()], right[other.end() :]
    if preposition and first.end() == len(left) and (same := _PREPOSITION_LAST.search(before)):
        shared = behind if same[0].split()[0] == preposition[0].strip() else ""
        halves = left + shared, f"{before[: same.start()]} {right}"
        return Comparison(subjects, halves, compared=False)
    if first.end() == len(left) and other.start() == 0:
        halves = left + behind, before + right
    elif other.start() == 0 and not behind.strip(" ?!."):
        halves = left, before + other[0] + left[first.end() :]
    else:
        halves = left, left[: names[0].start()] + right
    return Comparison(subjects, halves, compared=False)


def _two_questions(left: str, right: str) -> Comparison | None:
    """Return two questions that an "and" joins; None where the second refers to what the first does not name.

    "Which languages do Kenyans speak, and which did the Normans speak?" asks twice for languages; "what was
    Adobe's?" for what the first asks of another.
    """
    if min(len(left.split()), len(right.split())) < LEAST_OF_CLAUSE:
        return None
    if _REFERRING.search(right):
        names = {
            name[0].removesuffix("'s").removesuffix("’s") for name in _NAME.finditer(left) if name.start()
        }
        if len(names) != 1:
            return None
        (name,) = names
        right = _THERE.sub(f"at {name}", _THEIRS.sub(f"{name}'s", _THEM.sub(name, right)))
        if _REFERRING.search(right):
            return None
    if (asked := _WHICH_NOUN.match(left)) and _WHICH_OF.match(right):
        right = asked[0] + right.partition(" ")[2]
    if (owned := _OWNED.search(left)) and (owner := _OWNER_LAST.search(right)):
        right = f"{left[: owned.start()]}{owner[1]} {owned[2]}?"
    return Comparison((left, right), (f"{left}?", right), compared=False, asks_twice=True)


def _is_shared(head: str, other: str) -> bool:
    """Return false where the other has an article of its own, and where the head belongs to a name."""
    if other.isdecimal():
        return True
    return not (_OWN.match(other) or _HEAD.match(other) or _NAMED_BY.search(head))
