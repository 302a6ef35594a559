"""A model that lies in every way that we know of: what of it is caught, and what is never said of it."""

import asyncio

import pytest

from tests.citations.hostile import replies
from tests.citations.judging import CAUGHT, NOTHING, Tally, tally
from tests.citations.passages import CONTEXTS
from tests.citations.replies import checked, context

REPLIES = 410  # of each context
NUMBERS = ("number", "early", "named", "half marker", "second half")


@pytest.fixture(scope="module")
def told() -> Tally:
    return asyncio.run(_told())


async def _told() -> Tally:
    total, count = NOTHING, 0
    for seed, contents in enumerate(CONTEXTS):
        given = context(*contents)
        for reply in replies(contents, REPLIES, seed):
            total = total.plus(tally(reply, await checked(reply.text, given), given.passages))
            count += 1
    assert count >= 2000
    return total


def test_no_marker_names_what_is_not_there_and_every_quote_is_one(told: Tally) -> None:
    assert (told.nameless, told.inexact) == (0, 0)


def test_nothing_is_called_exact_that_does_not_stand_there(told: Tally) -> None:
    assert told.untrue == ()
    assert told.share(["true", "stuffed", "swapped source"], "exact") == 1


@pytest.mark.parametrize(
    ("kinds", "least"),
    [
        (NUMBERS, 0.93),
        (["unit"], 0.87),
        (["name"], 0.58),
        (["negation"], 0.98),
        (["quote"], 0.98),
    ],
)
def test_what_is_altered_is_contradicted(told: Tally, kinds: list[str], least: float) -> None:
    assert told.share(kinds, *CAUGHT) > least


@pytest.mark.parametrize("kind", ["invented", "order", "tail", "opposite", "grafted"])
def test_what_facts_do_not_tell_is_left_unverified(told: Tally, kind: str) -> None:
    assert told.share([kind], "exact", "supported") < 0.01
    assert told.share([kind], "unverified") > 0.8
