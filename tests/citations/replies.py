"""Feeding a checker, whole or in pieces, and judging one claim."""

from collections.abc import Iterable, Sequence
from typing import Any

from rag.citations.checker import CheckedReply, Checker
from rag.citations.judge import judge_claim
from rag.context.fitting import context_of
from rag.types.answer import Source, Sources, Synthesis
from rag.types.claims import Claim, Judgement
from rag.types.context import Block, Context
from tests.rag.factory import passage

NORTH = (
    "The north tower has 120 steps. Its lamp burns whale oil. Paris is the capital of France. Mr. X made it."
)
SOUTH = "The south tower has 90 steps. Its lamp burns gas. Berlin is the capital of Germany."
BRIDGE = "The bridge between the towers is made of oak. It was built in the U.S. by two men."
TOWERS = (NORTH, SOUTH, BRIDGE)


def context(*contents: str) -> Context:
    return context_of([passage(n, content) for n, content in enumerate(contents or TOWERS, start=1)])


async def checked(reply: str, given: Context | None = None, **options: Any) -> CheckedReply:
    return (await streamed(reply, (), given, **options))[1]


async def streamed(
    reply: str, cuts: Iterable[int], given: Context | None = None, **options: Any
) -> tuple[Sequence[str], CheckedReply]:
    """What was let through after each piece, and the end of it. cuts: where the reply is cut, ascending."""
    checker = Checker(given or context(), **options)
    shown, done = [], 0
    for cut in (*cuts, len(reply)):
        shown.append(await checker.feed(reply[done:cut]))
        done = cut
    return shown, await checker.finish()


async def structured(
    *claims: tuple[str, Sequence[Source]], given: Context | None = None, **options: Any
) -> CheckedReply:
    """Of a reply in claims, each with its sources; its full stop stands behind them."""
    pieces: list[str | Sources] = []
    for text, sources in claims:
        pieces += [f"{' ' if pieces else ''}{text.rstrip('.')}", Sources(tuple(sources), ".")]
    return await Checker(given or context(), **options).whole(Synthesis("", pieces=tuple(pieces)))


def judgement_of(
    claim: str,
    *texts: str,
    cited: tuple[int, ...] = (1,),
    quotes: tuple[Source, ...] = (),
    question: str = "",
    language: str = "en",
) -> Judgement:
    blocks = [Block(text, (), language) for text in texts]
    return judge_claim(Claim(claim, cited, quotes, question), blocks)


def state(claim: str, *texts: str, **fields: Any) -> str:
    """exact, supported, unverified or contradicted."""
    return judgement_of(claim, *texts, **fields).support or "contradicted"
