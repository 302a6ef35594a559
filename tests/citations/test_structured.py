"""Replies in claims, each with its sources and the words of a passage that say so."""

from collections.abc import Sequence

import pytest

from rag.citations.checker import Checker
from rag.types.answer import Source, Sources, Synthesis, Verification
from tests.citations.replies import context, structured

CASTLE = "Die Burg wurde im Jahr 1220 er-\nrichtet; ihre „Kapelle“ ist älter. Sie gehört der Stadt Wels."
PARLIAMENT = "苏格兰议会由129名议员组成， 成立于1999年。议会大楼位于爱丁堡。"
LABS = "The laboratory’s staff—forty people, in all—moved to a new  building in\n2004. Its roof leaks."


def sources(*blocks: int) -> Sequence[Source]:
    return [Source(block) for block in blocks]


@pytest.mark.parametrize(
    ("claim", "content", "quote", "found"),
    [
        (
            "The labs went elsewhere in 2004.",
            LABS,
            "moved to a new building in 2004",
            "moved to a new  building in\n2004",
        ),
        (
            "It employed some forty people.",
            LABS,
            "THE LABORATORY'S STAFF-FORTY PEOPLE, IN ALL",
            "The laboratory’s staff—forty people, in all",
        ),
        (
            "Seit 1220 steht die Burg.",
            CASTLE,
            "Die Burg wurde im Jahr 1220 errichtet",
            "Die Burg wurde im Jahr 1220 er-\nrichtet",
        ),
        ("Älter ist die Kapelle.", CASTLE, 'ihre "Kapelle" ist älter', "ihre „Kapelle“ ist älter"),
        (
            "议会有129名议员。",
            PARLIAMENT,
            "苏格兰议会由129名议员组成,成立于1999年",
            "苏格兰议会由129名议员组成， 成立于1999年",
        ),
    ],
)
async def test_a_quote_is_found_whatever_its_typography(
    claim: str, content: str, quote: str, found: str
) -> None:
    (citation,) = (await structured((claim, [Source(1, quote)]), given=context(content))).citations
    assert content[citation.quote_start : citation.quote_end] == found
    assert citation.support == "supported"


@pytest.mark.parametrize(
    ("quote", "support"),
    [
        ("moved to a new building in 2004", "supported"),
        ("moved to a new building in 2005", "unverified"),  # stands nowhere
        ("in 2004", "unverified"),  # says too little
        ("", "unverified"),
    ],
)
async def test_a_quote_proves_only_what_it_says(quote: str, support: str) -> None:
    found = await structured(("The labs went elsewhere in 2004.", [Source(1, quote)]), given=context(LABS))
    assert [one.support for one in found.citations] == [support]


async def test_no_quote_saves_a_claim_with_another_number() -> None:
    claim = ("The staff of fifty people moved.", [Source(1, "The laboratory’s staff—forty people, in all")])
    found = await structured(claim, ("Its roof leaks.", sources(1)), given=context(LABS))
    assert found.text == "The staff of fifty people moved. Its roof leaks [1]."
    assert [one.missing for one in found.contradicted] == [("fifty",)]


async def test_a_claim_carries_its_markers_before_its_full_stop() -> None:
    found = await structured(
        ("The north tower has 120 steps.", sources(1)),
        ("Both lamps burn.", sources(1, 2, 9)),
        ("The bridge is of oak.", sources()),
    )
    assert found.text == "The north tower has 120 steps [1]. Both lamps burn [1][2]. The bridge is of oak."
    said = [found.text[one.answer_start : one.answer_end] for one in found.citations]
    assert said == ["The north tower has 120 steps", "Both lamps burn", "Both lamps burn"]
    assert found.verification == Verification(exact=1, unverified=1, uncited=1)


async def test_several_sentences_may_be_one_claim() -> None:
    text = "The lamp burns oil. It is 120 steps up. Paris is the capital of France."
    found = await structured((text, sources(1)))
    assert found.text == "The lamp burns oil. It is 120 steps up. Paris is the capital of France [1]."
    assert found.text[found.citations[0].answer_start : found.citations[0].answer_end] == text[:-1]
    assert found.verification == Verification(unverified=1)


async def test_a_reply_without_sources_that_exist_is_not_enough() -> None:
    found = await structured(("The north tower has 120 steps.", sources(9)))
    assert (found.text, found.reason, found.unmarked) == ("", "not_supported", True)


async def test_a_claim_that_refuses_is_no_claim() -> None:
    refusal = "The passages do not say how old it is."
    assert (await structured((refusal, sources(1)))).reason == "model_declined"
    found = await structured((refusal, sources(1)), ("The north tower has 120 steps.", sources(1)))
    assert found.text == f"{refusal} The north tower has 120 steps [1]."
    assert len(found.citations) == 1


async def test_markers_that_the_model_writes_itself_are_enough() -> None:
    found = await structured(
        ("The north tower has 120 steps [1].", sources(1)), ("Its lamp burns gas.", sources(2))
    )
    assert found.text == "The north tower has 120 steps [1]. Its lamp burns gas [2]."


async def test_each_claim_is_shown_as_soon_as_it_ends() -> None:
    checker = Checker(context())
    shown = [
        await checker.feed("The north tower "),
        await checker.feed("has 120 steps"),
        await checker.close(Sources((Source(1),), ".")),
        await checker.feed(" Its lamp burns gas"),
        await checker.close(Sources((Source(2),), ".")),
    ]
    end = await checker.finish()
    assert shown[2].endswith(" [1].")
    assert "".join(shown) + end.rest == end.text
    assert end.text == "The north tower has 120 steps [1]. Its lamp burns gas [2]."


async def test_whole_is_what_its_pieces_come_to() -> None:
    pieces = ("The north tower has 120 steps", Sources((Source(1),), "."), " It leans.", Sources((), ""))
    checker = Checker(context())
    shown = [await (checker.close(p) if isinstance(p, Sources) else checker.feed(p)) for p in pieces]
    end = await checker.finish()
    whole = await Checker(context()).whole(Synthesis("", pieces=pieces))
    assert (whole.text, whole.citations) == (end.text, end.citations)
    assert "".join(shown) + end.rest == end.text == "The north tower has 120 steps [1]. It leans."
