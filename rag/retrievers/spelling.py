"""Words of a question as they may have been meant, where no document has them as they were typed.

A word that no chunk holds is compared with those that are one letter away: one missing, one too many, another
one, or two that have changed places. Damerau, "A technique for computer detection and correction of spelling
errors", 1964: four of five errors are one of these.
"""

import re
from collections.abc import Iterable, Sequence
from functools import cache
from uuid import UUID

from documents.access import condition_on_readers
from documents.text.word_lists import read_vocabulary
from embeddings.lexical.terms import lexemes
from knowlex.db.pool import fetch_all, fetch_one

MAX_WORDS = 5  # of a question that are put right
MAX_QUESTION_WORDS = 100
LEAST_LETTERS, MOST_LETTERS = 4, 40  # a longer one has too many neighbours: 100,000 for 2,000 letters
_WORD = re.compile(r"[^\W\d_]+")
_ALPHABET = "abcdefghijklmnopqrstuvwxyz"
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
    words = list(dict.fromkeys(_WORD.findall(text)))[:MAX_QUESTION_WORDS]
    stems = {word: stem for word in words if (stem := _stem(word))}
    known = await _find_known(stems.values(), collections)
    if sure:
        stems = {
            word: stem
            for word, stem in stems.items()
            if not _is_usual(word, stem, begins=text.startswith(word))
        }
    unknown = {word: _near(word, stem) for word, stem in stems.items() if stem not in known}
    near = await _find_known((edit for edits in unknown.values() for edit in edits), collections)
    corrected = text
    for word, edits in list(unknown.items())[:MAX_WORDS]:
        meant = next((stem for stem in near if stem in edits), None)
        if meant and (written := await _find_written(meant, collections, principals)):
            corrected = re.sub(rf"\b{re.escape(word)}\b", written, corrected)
    return corrected if corrected != text else None


async def _find_known(words: Iterable[str], collections: Sequence[UUID]) -> list[str]:
    """Return those of the lexemes that stand in a chunk, the most frequent first."""
    asked = set(words)
    if not asked:
        return []
    rows = await fetch_all(_COUNTS, {"collections": list(collections), "lexemes": list(asked)})
    return [row["lexeme"] for row in rows]


async def _find_written(
    stem: str, collections: Sequence[UUID], principals: Sequence[str] | None
) -> str | None:
    """Return a word of this lexeme as a document writes it that the caller may read."""
    asked = {
        "collections": list(collections),
        "word": f"'{stem}'",
        "principals": None if principals is None else list(principals),
    }
    row = await fetch_one(_EXAMPLE, asked)
    words = _WORD.findall(row["content"]) if row else []
    return next((word for word in words if _stem(word) == stem), None)


def _stem(word: str) -> str:
    """Return a word's lexeme; "" for one that is short, very long or carries no meaning."""
    found = lexemes(word) if LEAST_LETTERS <= len(word) <= MOST_LETTERS else []
    return found[0] if len(found) == 1 and found[0].isalpha() else ""


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
