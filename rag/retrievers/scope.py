"""The scope of a search: what a question reads, fetched in one statement before it is embedded."""

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from embeddings.lexical.terms import UNKNOWN, question_lexemes
from embeddings.search.dense import NARROW
from knowlex.db.pool import Row
from knowlex.db.replica import fetch_all
from rag.read_state import expected_state
from rag.retrievers import statements
from rag.retrievers.filtering import Condition, condition_of
from rag.retrievers.paraphrases import LANGUAGE, paraphrases_of
from rag.retrievers.words import ALL_CHUNKS, CandidateQuery, QueryWords, distinct_words, weigh_words
from rag.types.question import Question

STATES = 16  # the least recently asked is forgotten first
WORDS = 10_000  # of each state, some 150 bytes each; with more, it begins anew


@dataclass(slots=True)
class Known:
    """Of one state. row: its `chunks_with` holds what was told of all the words that were asked for, 0 being
    left out.
    """

    row: Row
    _asked: set[str] = field(default_factory=set)

    def lacking(self, words: Sequence[str]) -> list[str]:
        """Return the words that were not asked for, in their order."""
        return [word for word in words if word not in self._asked]

    def add(self, words: Sequence[str], chunks_with: Mapping[str, int]) -> None:
        """Add what was read after the question's state was: changed meanwhile, that is another state."""
        self.row["chunks_with"].update(chunks_with)
        self._asked.update(words)

    @property
    def full(self) -> bool:
        return len(self._asked) > WORDS


class KnownScopes:
    """Of one process, for questions without filters to the active model."""

    def __init__(self) -> None:
        self._known: OrderedDict[str, Known] = OrderedDict()

    def of(self, question: Question) -> Known | None:
        """Return what is known of the question's state, None where all has to be asked for."""
        known = self._known.get(question.state)
        if known is None or known.full:
            return None
        self._known.move_to_end(question.state)
        return known

    def note(self, question: Question, words: Sequence[str], row: Row) -> None:
        """Note a row with all columns, read after the question's state was."""
        if not question.state:
            return
        known = self.of(question)
        if known is None:
            known = self._known[question.state] = Known({**row, "chunks_with": {}})
        known.add(words, row["chunks_with"])
        if len(self._known) > STATES:
            self._known.popitem(last=False)


TRIES = 3
FEW = 200  # chunks in the collections that are read; looking at each is as fast as the index of all words
REMEMBERED = 1024  # sets of collections

Asked = Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Scope:
    """row: of `statements.select_scope`. words: the question's, in the languages that are read.

    narrow: few enough chunks pass the filters to look at each of them. candidates: what finds them by
    words; of few chunks, none may be missed.
    """

    row: Row
    words: QueryWords
    condition: Condition
    narrow: bool
    candidates: CandidateQuery

    @property
    def reads_most(self) -> bool:
        """Return whether the collections that are read hold most of all chunks."""
        return bool(2 * self.words.chunks >= self.row["all_chunks"])

    @property
    def is_usual(self) -> bool:
        """Return whether most of all chunks are read, without filters and without an index of vectors: then
        the same plan is good for any question.
        """
        return self.reads_most and not self.condition and self.row["index"] is None


class Scopes:
    """model_id: of the model to search with, where it is not the active one.

    A question's words depend on the documents' languages, which the statement tells: those of the last time
    are taken, and it is asked again in the rare case that there are others by now.
    """

    def __init__(self, model_id: int | None = None) -> None:
        self._model_id = model_id
        self._languages: OrderedDict[tuple[UUID, ...], tuple[str, ...]] = OrderedDict()
        self._known = KnownScopes()

    async def of(self, question: Question, *, widely: bool = False) -> Scope | None:
        """Return the question's scope, None where there is nothing to be found. widely: see `weigh_words`."""
        found = await self.even_if_empty(question, widely=widely)
        return None if found is None or found.row["passing"] == 0 else found

    async def even_if_empty(self, question: Question, *, widely: bool = False) -> Scope | None:
        """Return the scope, None only where nothing was ever embedded; with filters, nothing may pass."""
        condition = condition_of(question)
        languages = self._languages.get(question.collection_ids, (UNKNOWN,))
        for _ in range(TRIES):
            asked = question_lexemes(question.text, languages)
            looked_up = [*distinct_words(asked), *paraphrases_of(asked.get(LANGUAGE, ()))]
            row = await self._read(question, condition, looked_up)
            if row is None:
                return None
            found = _scope(row, asked, condition, widely=widely)
            if set(row["languages"]) <= set(languages):
                break
            languages = self._remember(question.collection_ids, row["languages"])
        return found

    async def _read(self, question: Question, condition: Condition, words: Sequence[str]) -> Row | None:
        if condition or self._model_id is not None:
            return await self._asked(question, condition, words)
        if known := self._known.of(question):
            if lacking := known.lacking(words):
                known.add(lacking, await _counted(question, lacking))
            return known.row
        row = await self._asked(question, condition, words)
        if row is not None:
            self._known.note(question, words, row)
        return row

    async def _asked(self, question: Question, condition: Condition, words: Sequence[str]) -> Row | None:
        parameters = {
            "collections": list(question.collection_ids),
            "lexemes": [ALL_CHUNKS, *words],
            "model": self._model_id,
            **condition.parameters,
        }
        statement = statements.select_scope(condition.conditions)
        rows = await fetch_all(
            statement, parameters, told=expected_state(question), reader=question.principals
        )
        return rows[0] if rows else None

    def _remember(self, collections: tuple[UUID, ...], languages: Sequence[str]) -> tuple[str, ...]:
        found = self._languages[collections] = tuple(languages)
        if len(self._languages) > REMEMBERED:
            self._languages.popitem(last=False)
        return found


async def _counted(question: Question, words: Sequence[str]) -> dict[str, int]:
    """Count the chunks, too: should there be more by now, no word stands in more than there are."""
    parameters = {"collections": list(question.collection_ids), "lexemes": [ALL_CHUNKS, *words]}
    rows = await fetch_all(statements.COUNTS, parameters, told=expected_state(question))
    return {row["lexeme"]: row["chunks"] for row in rows}


def _most_read_singly(chunks: int) -> int:
    """Return up to how many chunks that pass the filters are all looked at, of so many.

    An index brings fifty for one that passes, where a fiftieth does: 1 % of a million chunks cost 270 ms by
    IVFFlat, and read one by one 27.
    """
    return min(2 * NARROW, max(NARROW, chunks // 50))


def _scope(row: Row, asked: Asked, condition: Condition, *, widely: bool) -> Scope:
    present = {language: words for language, words in asked.items() if language in row["languages"]}
    words = weigh_words(present, row["chunks_with"], widely=widely)
    narrow = row["passing"] is not None and row["passing"] < _most_read_singly(words.chunks)
    few = narrow or words.chunks <= FEW
    candidates = CandidateQuery(words.all_known(), "each") if few else words.candidate_query()
    return Scope(row, words, condition, narrow, candidates)
