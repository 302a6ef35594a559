"""What a judge of claims is asked, and what it finds. Plain Python."""

from typing import Literal, NamedTuple

from rag.types.answer import Source, Support

Verdict = Literal["supported", "contradicted", "unverified"]  # of a model that read a claim and its passage

BEST_FIRST: tuple[Support, ...] = ("exact", "supported", "unverified")


class Claim(NamedTuple):
    """A sentence of a reply, or a part of one, without its markers.

    cited: the blocks that its markers name, from 1; () for those of an answer that cites nothing. quotes: the
    words that the model says it has this from. given: what the claim need not prove: the question, and the
    names of the documents.
    """

    text: str
    cited: tuple[int, ...] = ()
    quotes: tuple[Source, ...] = ()
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
        """The best state that a block gives; None for a contradicted claim."""
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
