"""Against a model that lies in every way that we know of, no marker is false and every quote is exact."""

from rag.citations.checker import Checked, Checker
from rag.context import context_of
from rag.types import Context
from tests.citations.hostile import replies
from tests.citations.judging import added, faults, no_faults
from tests.citations.passages import CONTEXTS
from tests.rag.factory import passage

REPLIES = 410  # of each context


async def checked(context: Context, reply: str) -> Checked:
    checker = Checker(context)
    await checker.feed(reply)
    return await checker.finish()


async def test_no_marker_of_a_lying_model_is_false():
    total, count = no_faults(), 0
    for seed, contents in enumerate(CONTEXTS):
        context = context_of([passage(n, content) for n, content in enumerate(contents, start=1)])
        for reply in replies(contents, REPLIES, seed):
            total = added(total, faults(reply, await checked(context, reply.text), context.passages))
            count += 1
    assert count >= 2000
    assert total.false == []
    assert total.inexact == 0
    assert total.kept["true"] >= 0.95 * total.made["true"]
    assert total.kept["swapped source"] >= 0.95 * total.made["swapped source"]
