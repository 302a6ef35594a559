"""What a passage supports, and what only looks as if it did."""

import pytest

from rag.citations.judge import WordJudge, judged
from rag.checking.statements import has_content, statement_of
from rag.types import Block

TOWER = (
    "The Eiffel Tower is a landmark of Paris. Standing 330 metres, the tower was the tallest structure until "
    "1930. "
    "It was not designed by Maurice Koechlin alone. Google acquired YouTube in 2006 for $1.65 billion."
)


@pytest.mark.parametrize(
    ("claim", "support"),
    [
        ("Standing 330 metres, the tower was the tallest structure until 1930.", "exact"),
        ("- standing 330 metres, the  tower was the\ntallest structure until 1930", "exact"),
        ("330 metres", "exact"),
        ("Paris", "exact"),
        ("The tower is 330 metres tall.", "supported"),
        ("Google acquired YouTube in 2006 for 1,650,000,000 dollars.", "supported"),
        ("YouTube was acquired by Google in 2006.", "supported"),
    ],
)
def test_what_stands_there_is_supported(claim: str, support: str) -> None:
    assert judged(claim, TOWER, "en").support == support


@pytest.mark.parametrize(
    "claim",
    [
        "The tower is 331 metres tall.",
        "The tower is 330 feet tall.",
        "The tower is not 330 metres tall.",
        "It was designed by Maurice Koechlin alone.",
        "YouTube acquired Google in 2006.",
        "Google was acquired by YouTube.",
        "Microsoft acquired YouTube in 2006.",
        'The tower was "the tallest building" until 1930.',
        "33",
        "Yes",
        "The tower was not only the tallest structure until 1930.",
        "",
    ],
)
def test_what_does_not_stand_there_is_not(claim: str) -> None:
    assert judged(claim, TOWER, "en").support is None


async def test_the_sentence_that_says_it_is_named_by_its_offsets() -> None:
    blocks = [Block("Nothing of the kind.", ()), Block(TOWER, (), "en")]
    other, verdict = await WordJudge().judge("YouTube was acquired by Google in 2006.", blocks)
    assert other.support is None
    assert TOWER[verdict.start : verdict.end] == "Google acquired YouTube in 2006 for $1.65 billion.", verdict


@pytest.mark.parametrize(
    ("text", "has"),
    [
        ("Paris", True),
        ("It was not.", False),
        ("of the", False),
        ("Not a tower.", True),
        ("never", False),
        ("Two of them", True),
        ("塔", True),
        ("don't", False),
        ("", False),
    ],
)
def test_what_says_something_is_told_without_taking_it_apart(text: str, has: bool) -> None:
    assert has_content(text, "en") is bool(statement_of(text, "en").content) is has
