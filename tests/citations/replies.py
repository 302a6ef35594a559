"""Feeding a checker, whole or in pieces."""

from collections.abc import Iterable, Sequence

from rag.citations.checker import Checked, Checker
from rag.context import context_of
from rag.types import Context
from tests.rag.factory import passage

NORTH = (
    "The north tower has 120 steps. Its lamp burns whale oil. Paris is the capital of France. Mr. X made it."
)
SOUTH = "The south tower has 90 steps. Its lamp burns gas. Berlin is the capital of Germany."
BRIDGE = "The bridge between the towers is made of oak. It was built in the U.S. by two men."
TOWERS = (NORTH, SOUTH, BRIDGE)


def context(*contents: str) -> Context:
    return context_of([passage(n, content) for n, content in enumerate(contents or TOWERS, start=1)])


async def checked(reply: str, given: Context | None = None) -> Checked:
    return (await streamed(reply, (), given))[1]


async def streamed(
    reply: str, cuts: Iterable[int], given: Context | None = None
) -> tuple[Sequence[str], Checked]:
    """What was let through after each piece, and the end of it. cuts: where the reply is cut, ascending."""
    checker = Checker(given or context())
    shown, done = [], 0
    for cut in (*cuts, len(reply)):
        shown.append(await checker.feed(reply[done:cut]))
        done = cut
    return shown, await checker.finish()
