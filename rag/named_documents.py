"""Questions that name documents: which they name, and what they ask of these.

All that a document says is about its name, so that the name hides which passage answers; and documents seldom
say it: where others say it, they say "we", "the company" or nothing.
"""

import re
from collections import defaultdict
from collections.abc import Sequence
from itertools import chain, groupby
from math import inf
from operator import itemgetter
from statistics import fmean

from embeddings.lexical.terms import lexemes, question_lexemes
from rag.question_forms import LONGEST, asks_for_overview, frame_words, words_of_names
from rag.types.retrieval import NamedDocuments, Passage, Retrieval, Saying

FIRST = 5  # best passages: what their documents are called may be a name in small letters
LEAST_OF_NAME = 1 / 3  # of a file name's or title's words stand in the question
LEAST_OF_QUESTION = 0.2  # of its words are of a file name or title
# A document is about what more than half of its chunks say; one alone, too, if ten do that are a tenth.
HALF, MANY, MANY_OF = 0.5, 10, 0.1
LEAST = 3  # chunks that say what is looked up: a text of fewer has little to hide
LEAST_OF_ALL = 0.7  # of the chunks that say a name are of the documents that are about it
# Whose handbook it is, most of its documents say: half of all that is read, and so many. The best passages
# write it so often, and nearly always with capital letters.
DOCUMENTS, WRITTEN, CAPITAL = 5, 5, 0.9
COMMON = 2.5  # idf at most, of what a twelfth of all chunks say
LONGEST_NAME = 3  # words
_TOKEN = re.compile(r"\S+")
_SIGNS = "\"'“”‘’«»„()[]?!.,:;"
_PREPOSITION = re.compile(r"(?:at|in|within|with|for|by|from|of|bei|von|für|en|de|con)\Z", re.IGNORECASE)
_VERB = re.compile(
    r"(?:is|are|was|were|am|do|does|did|has|have|had|can|could|may|must|shall|should|will|would)\Z",
    re.IGNORECASE,
)
_OF_NAME = re.compile(r"(?P<possessive>['’]s|(?<=s)['’])?(?P<sign>\W*)$")  # behind it: "Nike's", "Nike?"


def names_in(text: str, found: Retrieval) -> frozenset[str]:
    """Return the lexemes of a question that may name a document: with a capital letter, or so many of the
    file name or title of one of the best passages' documents. A number is no name: years are asked for.
    """
    best = found.passages[:FIRST]
    if not best or len(text) > LONGEST or asks_for_overview(text):
        return frozenset()
    asked = _words_of(text, best[0].language)
    capital = " ".join(token for token in _TOKEN.findall(text) if any(map(str.isupper, token)))
    names = frozenset(lexemes(capital, best[0].language)).union(*(_title_words(asked, one) for one in best))
    counts = found.counts
    return frozenset(
        word
        for word in names & asked
        if not word.isdecimal() and (counts is None or counts.get(word, 0) >= LEAST)
    )


def documents_named_in(text: str, found: Retrieval, sayings: Sequence[Saying]) -> NamedDocuments | None:
    """Return the documents that a question names: those that are about a name of it, and say it nearly alone.

    None where it names none, or two things, or where it asks for nothing else. sayings: of `names_in`.
    """
    saying: defaultdict[str, list[Saying]] = defaultdict(list)
    for one in sayings:
        saying[one.lexeme].append(one)
    about = {word: told for word, each in saying.items() if (told := _about(each))}
    if not about:
        return None
    shares = {word: fmean(map(_share, documents)) for word, documents in about.items()}
    name = frozenset(word for word, share in shares.items() if share >= max(shares.values()) / 2)
    documents = {word: frozenset(one.document_id for one in about[word]) for word in shares}
    ids = frozenset.intersection(*(documents[word] for word in name))
    if any(ids.isdisjoint(others) for others in documents.values()):
        return None
    language = found.passages[0].language
    rest = " ".join(token for token, names in _split_by_name(text, name, language) if not names)
    if all(word.isdecimal() for word in _words_of(rest, language) - name - frame_words(language)):
        return None
    return NamedDocuments(ids, name, rest)


def own_name_in(text: str, found: Retrieval) -> frozenset[str]:
    """Return the lexemes of the name in a question that the best passages write with capital letters,
    however the question does: it may be of whose documents they are.
    """
    if not found.passages or len(text) > LONGEST:
        return frozenset()
    language = found.passages[0].language
    tokens = [_OF_NAME.sub("", token).strip(_SIGNS) for token in _TOKEN.findall(text)]
    held = [frozenset(lexemes(token, language)) - frame_words(language) for token in tokens]
    written = " ".join(passage.content for passage in found.passages)
    often = [
        bool(words)
        and all(found.idf.get(word, inf) <= COMMON for word in words)
        and _has_capital(token, written)
        for token, words in zip(tokens, held, strict=True)
    ]
    for words in range(LONGEST_NAME, 0, -1):
        for place in range(len(tokens) - words + 1):
            run = slice(place, place + words)
            if all(often[run]) and _is_name(tokens[run], written):
                return frozenset(chain(*held[run]))
    return frozenset()


def _has_capital(word: str, written: str) -> bool:
    """Return whether a text has a word often enough with capital letters, parts of longer words too: a
    quick look that spares most words of a question the search of `_is_name`.
    """
    small = word.lower()
    return written.lower().count(small) - written.count(small) >= CAPITAL * WRITTEN


def _is_name(tokens: Sequence[str], written: str) -> bool:
    """Return whether a text has these words often, and with capital letters."""
    name = r"\s+".join(map(re.escape, tokens))
    said = re.findall(rf"(?<![\w./@#-]){name}(?![\w/@-]|\.\w)", written, re.IGNORECASE)  # addresses aside
    capital = sum(all(any(map(str.isupper, word)) for word in one.split()) for one in said)
    return len(said) >= WRITTEN and capital >= CAPITAL * len(said)


def without_own_name(
    text: str, own: frozenset[str], language: str, sayings: Sequence[Saying]
) -> NamedDocuments | None:
    """Return what a question asks besides the name of whose documents all are; None where most of them do not
    say it, or nothing else is asked. own, sayings: of `own_name_in`, of its lexemes.

    Such a name tells no passage from another, but all look alike by it that say it.
    """
    for word in own:
        saying = [one for one in sayings if one.lexeme == word]
        read = sum(one.document_chunks for one in saying)
        if len(saying) < DOCUMENTS or read < HALF * saying[0].read_chunks:
            return None
    rest: list[str] = []
    for names, run in groupby(_split_by_name(text, own, language), key=itemgetter(1)):
        tokens = [token for token, _ in run]
        if not names:
            rest += tokens
            continue
        ending = _OF_NAME.search(tokens[-1])
        sign = ending["sign"] if ending else ""
        if rest and _PREPOSITION.match(rest[-1]):
            rest.pop()
        elif ending and ending["possessive"]:
            rest.append("its")
        elif rest and _VERB.match(rest[-1]):
            rest.append("it")
        if rest:
            rest[-1] += sign
    told = " ".join(rest)
    asks = _words_of(told, language) - own - frame_words(language)
    return NamedDocuments(frozenset(), own, told) if asks else None


def _about(sayings: Sequence[Saying]) -> list[Saying]:
    """Return those whose documents a word names: they say it throughout, and nearly alone. Several must be a
    part of all that is read: what most documents say, "Company", names none.
    """
    throughout = [one for one in sayings if one.chunks > HALF * one.document_chunks]
    if len(throughout) > 1 and 2 * sum(one.document_chunks for one in throughout) > sayings[0].read_chunks:
        return []
    most = max(sayings, key=lambda one: one.chunks)
    often = most.chunks >= max(MANY, MANY_OF * most.document_chunks)
    named = throughout or [most] * often
    return named if sum(one.chunks for one in named) >= LEAST_OF_ALL * sayings[0].all_chunks else []


def _share(saying: Saying) -> float:
    return saying.chunks / saying.document_chunks


def ask_of_document(text: str, named: NamedDocuments, language: str) -> str:
    """Return a question in English as one asks it of a document that it names: of "How many people does Nike
    employ?" "How many people does it employ?".

    What is written small is no such name, "the voting study": it tells what is asked about.
    """
    said: list[str] = []
    for names, run in groupby(_split_by_name(text, named.name, language), key=itemgetter(1)):
        tokens = [token for token, _ in run]
        if names and any(map(str.isupper, "".join(tokens))) and (behind := _OF_NAME.search(tokens[-1])):
            tokens = ["it" + ("s" if behind["possessive"] else "") + behind["sign"]]
        said += tokens
    return " ".join(said)


def _words_of(text: str, language: str) -> frozenset[str]:
    (words,) = question_lexemes(text, [language]).values()
    return frozenset(words)


def _title_words(asked: frozenset[str], passage: Passage) -> frozenset[str]:
    """Return which of the question's words are of the file name or title of the passage's document; none
    where these are few of either.
    """
    names = [words for words in words_of_names(passage) if words]
    said = max((len(words & asked) / len(words) for words in names), default=0.0)
    name = asked.intersection(chain(*names))
    return name if said >= LEAST_OF_NAME and len(name) >= LEAST_OF_QUESTION * len(asked) else frozenset()


def _split_by_name(text: str, name: frozenset[str], language: str) -> list[tuple[str, bool]]:
    """Return the words of a text as they stand, each with whether it is of the name: all that it says is.

    So is a word with a capital letter that stands before such a one, "American Water", which others say too,
    and a sign between two, "Johnson & Johnson".
    """
    tokens: list[str] = _TOKEN.findall(text)
    held = [frozenset(lexemes(token, language)) for token in tokens]
    named = [bool(words) and words <= name for words in held]
    for place in reversed(range(1, len(tokens))):
        if named[place] and any(map(str.isupper, tokens[place])):
            before = tokens[place - 1]
            is_sign = not any(map(str.isalnum, before)) and place > 1 and named[place - 2]
            is_own = _is_proper(before) and not held[place - 1] <= frame_words(language)
            named[place - 1] = named[place - 1] or is_sign or is_own
    return list(zip(tokens, named, strict=True))


def _is_proper(token: str) -> bool:
    return token[0].isupper() and token[-1].islower() and token.replace("-", "").isalpha()
