"""What the statement of `rag.retrievers.scope` has told before: it tells the same while nothing changes.

The state of what is read (`Question.state`) says of which collections it is, it is another one after every
change, and none comes twice. So who asks collections that rest costs the database one statement less, unless
a word is met for the first time.
"""

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field

from knowlex.common import shared_cache
from knowlex.common.async_db import Row
from rag.types import Question

STATES = 16  # the least recently asked is forgotten first
WORDS = 10_000  # of each state, some 150 bytes each; with more, it begins anew


@dataclass(slots=True)
class _Known:
    """row: its `chunks_with` holds what was told of all the words that were asked for, 0 being left out."""

    row: Row
    asked: set[str] = field(default_factory=set)


class KnownScopes:
    """Of one process, for questions without filters to the active model."""

    def __init__(self) -> None:
        self._known: OrderedDict[str, _Known] = OrderedDict()

    def row(self, question: Question, words: Sequence[str]) -> Row | None:
        """None where something of it has to be asked for."""
        known = self._known.get(question.state)
        if known is None or not known.asked.issuperset(words):
            return None
        self._known.move_to_end(question.state)
        return known.row

    def note(self, question: Question, words: Sequence[str], row: Row) -> None:
        """What was read after the question's state was: a change meanwhile made another state of it."""
        if not question.state or not shared_cache.enabled():
            return
        known = self._known.get(question.state)
        if known is None or len(known.asked) > WORDS:
            known = self._known[question.state] = _Known({**row, "chunks_with": {}})
        known.row["chunks_with"].update(row["chunks_with"])
        known.asked.update(words)
        if len(self._known) > STATES:
            self._known.popitem(last=False)
