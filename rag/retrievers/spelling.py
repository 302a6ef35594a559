"""Words of a question as they may have been meant, where no document has them as they were typed.

A word that no chunk holds is compared with those that are one letter away: one missing, one too many, another
one, or two that have changed places. Damerau, "A technique for computer detection and correction of spelling
errors", 1964: four of five errors are one of these. It may also be two words, or one with its neighbour.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cache
from itertools import chain, islice, pairwise
from uuid import UUID

from documents.access import condition_on_readers
from documents.text.word_lists import read_vocabulary
from embeddings.lexical.terms import lexemes, quote_lexeme
from knowlex.db.pool import fetch_all, fetch_one

MAX_WORDS = 5  # of a question that are put right
MAX_QUESTION_WORDS = 100
LEAST_LETTERS, MOST_LETTERS = 4, 40  # a longer one has too many neighbours: 100,000 for 2,000 letters
_WORD, _WRITTEN = re.compile(r"[^\W\d_]+"), re.compile(r"[^\W_]+")
_ALPHABET = "abcdefghijklmnopqrstuvwxyz"
_LEAST_PART = 3  # letters of each of two words that are written as one
_YEAR = r"(?:19|20)\d\d"
_FISCAL = re.compile(  # "FY2019", "FY 19", "fiscal 2019", "financial year 2019"
    rf"\b(?:[FC]Y ?['’]?(?P<short>{_YEAR}|\d\d)|(?i:fiscal|financial)(?: year)? (?P<year>{_YEAR}))\b"
    r"(?![-–/]\d)"
)
_HYPHENATED = re.compile(r"(?<![\w-])[^\W_]+-[^\W_]+(?![\w-])")  # "e-mail", "F-16"
_WITH_DIGITS = re.compile(r"(?<![\w-])(?:[^\W\d_]+\d+|\d+[^\W\d_]+)(?![\w-])")  # "COVID19", "500GB"
_ORDINAL = re.compile(r"\d+(?:st|nd|rd|th)")
_MONTH = r"(?:Jan|Feb|Mar|Apr|May|June?|July?|Aug|Sept?|Oct|Nov|Dec)[a-z]*"
_NTH = r"\d{1,2}(?:st|nd|rd|th)"
_DAY = re.compile(rf"\b(?P<before>{_NTH})(?= (?:of )?{_MONTH}\b)|\b{_MONTH} (?P<behind>{_NTH})\b")
_BORDER = re.compile(r"(?<=\d)(?=\D)|(?<=\D)(?=\d)")
_COUNTS = """
    SELECT lexeme, sum(chunks) AS chunks FROM embeddings_lexemecount
    WHERE collection_id = ANY(%(collections)s) AND lexeme = ANY(%(lexemes)s)
    GROUP BY lexeme HAVING sum(chunks) > 0 ORDER BY chunks DESC, lexeme
"""
_EXAMPLE = f"""
    SELECT concat_ws(' ', c.content, d.title, c.chapter, c.section, d.original_filename) AS content
    FROM embeddings_lexicalentry l
    JOIN documents_chunk c ON c.id = l.chunk_id JOIN documents_document d ON d.id = c.document_id
    WHERE l.collection_id = ANY(%(collections)s) AND l.lexemes @@ %(word)s::tsquery
        AND {condition_on_readers("d.readers")}
    LIMIT 1
"""  # noqa: S608 - constants only


async def suggest_question(
    text: str, collections: Sequence[UUID], *, principals: Sequence[str] | None, sure: bool = False
) -> str | None:
    """Return the question with unknown words put right; None if there is nothing to put right.

    sure: leave the usual words of English as they are: "invented" is not meant for "intended". Only words are
    suggested that stand in a document which the caller may read (principals: as in
    `rag.types.question.Question`).

    Raises DatabaseUnavailable.
    """
    words = _WORD.findall(text)[:MAX_QUESTION_WORDS]
    stems = {word: stem for word in words if (stem := _stem(word))}
    pairs = {f"{one} {other}": _stem(one + other) for one, other in pairwise(filter(str.islower, words))}
    known = await _find_known([*stems.values(), *pairs.values(), *map(_stem_any, words)], collections)
    meant: dict[str, tuple[str, ...]] = {
        pair: (stem,) for pair, stem in pairs.items() if stem in known and not _are_known(pair, known)
    }
    if sure:
        stems = {
            word: stem
            for word, stem in stems.items()
            if not _is_usual(word, stem, begins=text.startswith(word))
        }
    near = {word: _near(word, stem) for word, stem in stems.items() if stem not in known}
    parts = {word: list(_part(word)) for word in near}
    sought = (*near.values(), *(halves for one in parts.values() for halves in one))
    known |= await _find_known(chain.from_iterable(sought), collections)
    for word, stems_near in near.items():
        alike: list[tuple[str, ...]] = [(stem,) for stem in stems_near if stem in known]
        split: list[tuple[str, ...]] = [
            halves for halves in parts[word] if all(half in known for half in halves)
        ]
        if alike or split:
            meant[word] = max(sorted(alike or split), key=lambda found: min(known[stem] for stem in found))
    corrected = text
    for typed, found in list(meant.items())[:MAX_WORDS]:
        written = [await _find_written(stem, collections, principals) for stem in found]
        if all(written):
            together = " ".join(filter(None, written))
            is_compound = len(found) > 1 or " " in typed
            corrected = _replace(corrected, typed, together.lower() if is_compound else together)
    return corrected if corrected != text else None


async def respell_compounds(
    text: str, collections: Sequence[UUID], *, principals: Sequence[str] | None
) -> str | None:
    """Return the question with its compounds as the documents write them, None if they need not be changed:
    "e-mail" as "email", "500GB" as "500 GB", a fiscal year ("FY2019", "fiscal 2019") as the year, the "1st"
    of a month as "1".

    One that the documents have as it is typed stays so. principals, raises: as in `suggest_question`.
    """
    spellings = _spell_compounds(text)
    if not spellings:
        return None
    asked = {typed: lexemes(typed) for typed in spellings}
    meant = {typed: lexemes(written) for typed, written in spellings.items()}
    counts = await _find_known(chain(*asked.values(), *meant.values()), collections)
    respelled = text
    for typed, written in spellings.items():
        as_typed = min((counts.get(word, 0) for word in asked[typed]), default=0)
        as_written = min((counts.get(word, 0) for word in meant[typed]), default=0)
        if as_written <= as_typed or (as_typed and len(asked[typed]) == 1):
            continue
        if principals and not all([await _find_written(w, collections, principals) for w in meant[typed]]):
            continue
        respelled = _replace(respelled, typed, written)
    return respelled if respelled != text else None


def _spell_compounds(text: str) -> dict[str, str]:
    """Return how the compounds of a question may be written otherwise, at most MAX_WORDS."""
    years = {match.group(): match["year"] or match["short"] for match in _FISCAL.finditer(text)}
    found = {typed: year if len(year) > 2 else f"20{year}" for typed, year in years.items()}
    days = [match["before"] or match["behind"] for match in _DAY.finditer(text)]
    found |= {day: day[:-2] for day in days}
    found |= {typed: typed.replace("-", "") for typed in _HYPHENATED.findall(text)}
    mixed = (typed for typed in _WITH_DIGITS.findall(text) if not _ORDINAL.fullmatch(typed))
    found |= {typed: _BORDER.sub(" ", typed) for typed in mixed if typed not in found}
    return dict(islice(found.items(), MAX_WORDS))


def _replace(text: str, typed: str, written: str) -> str:
    return re.sub(rf"(?<!\w){re.escape(typed)}(?!\w)", lambda _: written, text)


async def _find_known(words: Iterable[str], collections: Sequence[UUID]) -> dict[str, int]:
    """Return in how many chunks each of the lexemes stands that stands in any, the most frequent first."""
    asked = {word for word in words if word}
    if not asked:
        return {}
    rows = await fetch_all(_COUNTS, {"collections": list(collections), "lexemes": list(asked)})
    return {row["lexeme"]: row["chunks"] for row in rows}


async def _find_written(
    stem: str, collections: Sequence[UUID], principals: Sequence[str] | None
) -> str | None:
    """Return a word of this lexeme as a document writes it that the caller may read."""
    asked = {
        "collections": list(collections),
        "word": quote_lexeme(stem),
        "principals": None if principals is None else list(principals),
    }
    row = await fetch_one(_EXAMPLE, asked)
    words = _WRITTEN.findall(row["content"]) if row else []
    return next((word for word in words if _stem_any(word) == stem), None)


def _stem(word: str) -> str:
    """Return a word's lexeme; "" for one that is short, very long or carries no meaning."""
    found = lexemes(word) if LEAST_LETTERS <= len(word) <= MOST_LETTERS else []
    return found[0] if len(found) == 1 and found[0].isalpha() else ""


def _stem_any(word: str) -> str:
    """Return a word's lexeme, however short; "" for one that carries no meaning."""
    found = lexemes(word[:MOST_LETTERS])
    return found[0] if len(found) == 1 else ""


def _are_known(pair: str, known: Collection[str]) -> bool:
    return all(stem in known for word in pair.split() if (stem := _stem_any(word)))


def _part(word: str) -> Iterator[tuple[str, str]]:
    """Yield the lexemes of the two words that one may be made of; a name is left whole."""
    for place in range(_LEAST_PART, len(word) - _LEAST_PART + 1) if word.islower() else ():
        halves = _stem_any(word[:place]), _stem_any(word[place:])
        if all(halves):
            yield halves


def _is_usual(word: str, stem: str, *, begins: bool) -> bool:
    """Tell whether it is surely meant as it is typed: a word of English that the documents just do not have.

    begins: whether the question begins with it. Other words with a capital letter are names, and a name that
    is typed wrongly may be a word.
    """
    if not (begins or word.islower()):
        return False
    return not {word.casefold(), stem, f"{stem}e"}.isdisjoint(_vocabulary())


@cache
def _vocabulary() -> frozenset[str]:
    """Return what the vocabulary of bert-base-uncased has whole: words in lower case."""
    return frozenset(word for word in read_vocabulary() if len(word) >= LEAST_LETTERS and word.isalpha())


def _near(word: str, stem: str) -> set[str]:
    """Return the lexemes of all words that are one letter away, and those that are so themselves."""
    return _edits(stem) | {_stem(edit) for edit in _edits(word.casefold())} - {"", stem}


def _edits(word: str) -> set[str]:
    """Return all words that are one letter away."""
    cuts = [(word[:place], word[place:]) for place in range(len(word) + 1)]
    letters = {*_ALPHABET, *word}
    return (
        {start + end[1:] for start, end in cuts if end}
        | {start + end[1] + end[0] + end[2:] for start, end in cuts if len(end) > 1}
        | {start + letter + end[1:] for start, end in cuts if end for letter in letters}
        | {start + letter + end for start, end in cuts for letter in letters}
    ) - {word}
