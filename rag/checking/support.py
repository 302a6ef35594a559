"""Which passages support what a marker stands behind, and where they say it. Plain Python."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from rag.checking.claims import Claim, clauses_of
from rag.checking.types import Verdict
from rag.protocols import ClaimJudge
from rag.types import Block, Context, Part, Support


class Proof(NamedTuple):
    """A claim that a passage supports. passage: 1-based; start, end: of the quote in its content."""

    claim: Claim
    passage: int
    start: int
    end: int
    support: Support


class Prover:
    """Looks for the passages that support a claim, those that were cited first."""

    def __init__(self, context: Context, judge: ClaimJudge) -> None:
        self._blocks, self._judge = context.blocks, judge

    async def proofs(self, claims: Sequence[Claim], cited: Sequence[int]) -> list[Proof]:
        """For markers that name the blocks `cited` (1-based), of the first of these claims that has any.

        Of those blocks every one that supports it; else all that support a clause of it, if each clause has
        one; else the one other block that supports it best, the earlier of two.
        """
        for claim in claims:
            if found := await self._all(claim, cited):
                return found
        if len(cited) > 1 and claims and (found := await self._by_clauses(claims[0], cited)):
            return found
        others = [n for n in range(1, len(self._blocks) + 1) if n not in cited]
        for claim in claims:
            if found := await self._best(claim, others):
                return found
        return []

    async def _all(self, claim: Claim, numbers: Sequence[int]) -> list[Proof]:
        judged = await self._judged(claim, numbers)
        found = [await self._proof(claim, n, verdict) for n, verdict in judged if verdict.support]
        return [proof for proof in found if proof]

    async def _by_clauses(self, claim: Claim, numbers: Sequence[int]) -> list[Proof]:
        clauses = [await self._all(clause, numbers) for clause in clauses_of(claim)]
        return [proof for found in clauses for proof in found] if all(clauses) else []

    async def _best(self, claim: Claim, numbers: Sequence[int]) -> list[Proof]:
        judged = [one for one in await self._judged(claim, numbers) if one[1].support]
        for n, verdict in sorted(judged, key=lambda one: -one[1].share):
            if proof := await self._proof(claim, n, verdict):
                return [proof]
        return []

    async def _judged(self, claim: Claim, numbers: Sequence[int]) -> list[tuple[int, Verdict]]:
        if not numbers:
            return []
        verdicts = await self._judge.judge(claim.text, [self._blocks[n - 1] for n in numbers])
        return list(zip(numbers, verdicts, strict=True))

    async def _proof(self, claim: Claim, number: int, verdict: Verdict) -> Proof | None:
        """In the passage that holds the whole quote; where it spans two, in one that supports it alone."""
        block = self._blocks[number - 1]
        if proof := _placed(claim, block.parts, verdict):
            return proof
        for part in block.parts:
            if part.start < verdict.end and verdict.start < part.start + part.length:
                alone = _alone(block, part)
                (again,) = await self._judge.judge(claim.text, [alone])
                if (
                    again.support
                    and again.share >= verdict.share
                    and (proof := _placed(claim, alone.parts, again))
                ):
                    return proof
        return None


def _placed(claim: Claim, parts: Iterable[Part], verdict: Verdict) -> Proof | None:
    for part in parts:
        if part.start <= verdict.start and verdict.end <= part.start + part.length and verdict.support:
            shift = part.begin - part.start
            return Proof(claim, part.passage + 1, verdict.start + shift, verdict.end + shift, verdict.support)
    return None


def _alone(block: Block, part: Part) -> Block:
    """A part of a block as a block of its own."""
    text = block.content[part.start : part.start + part.length]
    return Block(text, (Part(0, len(text), part.passage, part.begin),), block.language)
