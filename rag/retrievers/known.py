"""What the statement of `rag.retrievers.scope` has told before: it tells the same while nothing changes.

The state of what is read (`Question.state`) says of which collections it is, it is another one after every
change, and none comes twice. So who asks collections that rest costs the database one statement less, and
where a word is met for the first time a short one, for the counts of the new words alone.
"""

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from knowlex.common.async_db import Row
from rag.types import Question

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
        """Those that were not asked for, in their order."""
        return [word for word in words if word not in self._asked]

    def add(self, words: Sequence[str], chunks_with: Mapping[str, int]) -> None:
        """What was read of them after the question's state was: changed meanwhile, that is another state."""
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
        """None where all has to be asked for."""
        known = self._known.get(question.state)
        if known is None or known.full:
            return None
        self._known.move_to_end(question.state)
        return known

    def note(self, question: Question, words: Sequence[str], row: Row) -> None:
        """A row with all columns, read after the question's state was."""
        if not question.state:
            return
        known = self.of(question)
        if known is None:
            known = self._known[question.state] = Known({**row, "chunks_with": {}})
        known.add(words, row["chunks_with"])
        if len(self._known) > STATES:
            self._known.popitem(last=False)
