"""What became of the claims of a lying reply, seen by one who knows which of them are true."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from rag.citations.checker import CheckedReply
from rag.types.claims import BEST_FIRST
from rag.types.retrieval import Passage
from tests.citations.hostile import Claim, Reply, plain

CAUGHT = ("contradicted", "withheld")
_ORDER = (*BEST_FIRST[:2], "contradicted", "unverified")
_MARKER = re.compile(r"[\[【［]\s*\d+\s*[\]】］]")
_LOOSE_END = re.compile(r"[\s.([]*(?:[\[(]\s*\d*)?\Z")


class Tally(NamedTuple):
    """states: by kind of claim and what became of it. untrue: what is called exact and does not stand in the
    passage that it cites. nameless: markers of passages that do not exist. inexact: quotes that are none.
    """

    states: Counter[tuple[str, str]]
    untrue: tuple[tuple[str, str], ...]
    nameless: int
    inexact: int

    def share(self, kinds: Sequence[str], *states: str) -> float:
        made = sum(count for (kind, _), count in self.states.items() if kind in kinds)
        return sum(self.states[kind, state] for kind in kinds for state in states) / max(1, made)

    def plus(self, other: "Tally") -> "Tally":
        return Tally(
            self.states + other.states,
            self.untrue + other.untrue,
            self.nameless + other.nameless,
            self.inexact + other.inexact,
        )


NOTHING = Tally(Counter(), (), 0, 0)


def tally(reply: Reply, checked: CheckedReply, passages: Sequence[Passage]) -> Tally:
    untrue, inexact = [], 0
    for one in checked.citations:
        content = passages[one.passage - 1].content
        inexact += not 0 <= one.quote_start < one.quote_end <= len(content)
        said = _said(checked, one.answer_start, one.answer_end)
        if one.support == "exact" and said.lower() not in plain(content).lower():
            untrue.append((said, content[one.quote_start : one.quote_end]))
    nameless = sum(not 1 <= int(n) <= len(passages) for n in re.findall(r"\[(\d+)\]", checked.text))
    judged = list(_judged(checked))
    states = Counter((claim.kind, _state(claim, reply, checked, judged)) for claim in reply.claims)
    return Tally(states, tuple(untrue), nameless, inexact)


def _judged(checked: CheckedReply) -> Iterator[tuple[str, str]]:
    """Each claim that was judged, and its state."""
    for one in checked.citations:
        yield _said(checked, one.answer_start, one.answer_end), one.support
    for lost in checked.contradicted:
        yield _said(checked, lost.answer_start, lost.answer_end), "contradicted"


def _state(claim: Claim, reply: Reply, checked: CheckedReply, judged: Sequence[tuple[str, str]]) -> str:
    """The best that was found of these very words, or, where nothing was, of some or more of them."""
    if not checked.text:
        return "withheld"
    others = {other.text for other in reply.claims} - {claim.text}
    same = [state for said, state in judged if said == claim.text]
    states = same or [
        state
        for said, state in judged
        if said and said not in others and (said.lower() in claim.text.lower() or claim.text in said)
    ]
    return min(states, key=_ORDER.index, default="uncited")


def _said(checked: CheckedReply, start: int, end: int) -> str:
    """A claim without markers and what half a marker leaves."""
    return _LOOSE_END.sub("", plain(_MARKER.sub("", checked.text[start:end])))
