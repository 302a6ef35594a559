"""What a judge of claims is asked, what it finds, and how faithful an answer is by it. Plain Python."""

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

from rag.types.answer import Source, Support

Verdict = Literal["supported", "contradicted", "unverified"]  # of a model that read a claim and its passage

BEST_FIRST: tuple[Support, ...] = ("exact", "supported", "unverified")


class Claim(NamedTuple):
    """A sentence of a reply, or a part of one, without its markers.

    cited: the blocks that its markers name, from 1; () for those of an answer that cites nothing. quotes: the
    words that the model says it has this from. question: what the answer answers. given: what besides the
    question the claim need not prove: the names of the documents.
    """

    text: str
    cited: tuple[int, ...] = ()
    quotes: tuple[Source, ...] = ()
    question: str = ""
    given: str = ""


class Finding(NamedTuple):
    """What one block says of a claim.

    block: its number, from 1. start, end: of the sentences that come nearest to the claim, offsets into the
    block's content.
    """

    block: int
    support: Support
    start: int
    end: int


class Judgement(NamedTuple):
    """What the context says of a claim.

    findings: one for each block that is to be cited. missing: what contradicts the context, as the claim
    writes it; then there are no findings.
    """

    findings: tuple[Finding, ...] = ()
    missing: tuple[str, ...] = ()

    @property
    def support(self) -> Support | None:
        """Return the best state that a block gives; None for a contradicted claim."""
        states = {finding.support for finding in self.findings}
        return next((state for state in BEST_FIRST if state in states), None)

    @property
    def is_verified(self) -> bool:
        return self.support in ("exact", "supported")


class Unproved(NamedTuple):
    """A claim that the check could not verify, and the sentences of a passage that it is cited for."""

    text: str
    passage: str
    language: str = ""


class Opinion(NamedTuple):
    """What a model says of an answer that it read.

    verdicts: one for each claim that it was asked about, None where it says nothing of it. relevance: how
    well the answer answers its question, [0, 1]; None where it says nothing of that.
    """

    verdicts: tuple[Verdict | None, ...] = ()
    relevance: float | None = None


HOW = (
    "Mean over the answer's claims: 1 for a claim that is exact or supported, or that a model found "
    "supported afterwards; 0.5 for one that is unverified and that no model has read; 0 for one that is "
    "contradicted, that a model did not find in its passage, or that has no marker. Null for an extractive "
    "answer, which quotes its passages word for word, and as long as no worker has found out."
)
UNREAD = 0.5  # what an unverified claim counts as long as no model has read it: nobody knows


def faithfulness(counts: Mapping[str, int], verdicts: Sequence[Verdict] = ()) -> float | None:
    """Return the mean over all claims of an answer, [0, 1]; None for an answer that claims nothing.

    An exact or supported claim counts 1. An unverified one counts 1 if a model that read it afterwards found
    it supported, 0 if that model found it contradicted or not told by its passage, and `UNREAD` as long as no
    model has read it. A contradicted claim counts 0, and so does a sentence that claims something without a
    marker.

    counts: by the names of rag.types.answer.Verification; {} of an answer whose claims were never counted.
    verdicts: one for each unverified claim that a model has read.
    """
    claims = sum(counts.values())
    if not claims:
        return None
    verified = counts.get("exact", 0) + counts.get("supported", 0) + verdicts.count("supported")
    unread = max(0, counts.get("unverified", 0) - len(verdicts))
    return (verified + UNREAD * unread) / claims
