"""A hit that is cut off is completed by the chunk beside it."""

from collections.abc import Sequence

import pytest

from rag.context.assembly import ContextMaker, wanted
from rag.ranking.sentences import question_terms, score_sentences
from rag.types.context import Place
from rag.types.question import Question
from rag.types.retrieval import Passage, Retrieval
from tests.context.text import chunk
from tests.rag.factory import question

BEFORE = "The fen tower was closed in 1902."
ITEMS = "The kit holds:\n- a rope\n- a lamp"


def scored(passage: Passage, asked: str) -> Passage:
    return passage._replace(sentences=score_sentences(passage.content, question_terms(asked, {})))


def steps(content: str, asked: str = "What is in the kit?") -> list[int]:
    """How far from the hit the chunks are that may complete it."""
    hit = scored(chunk(content, 0, len(content), index=5), asked)
    return [place.chunk_index - 5 for place in wanted([hit])]


@pytest.mark.parametrize(
    ("content", "beside"),
    [
        ("The kit is complete. It weighs little.", []),
        ("The kit holds the following things:", [1]),
        (ITEMS, [1]),
        ("1. Open the kit.\n2. Take the rope.", [1]),
        ("| kit | weight |\n| rope | 2 kg |", [1]),
        ("and the kit was never seen again.", [-1]),
        ("It is in the kit. Nothing else was found there by anybody.", [-1]),
        ("The kit was lost. It was found again.", []),
        ("Nothing was found there. What the kit holds is a rope and", [1]),
        ("What the kit holds is a rope. See the next page", []),
    ],
)
def test_only_what_is_cut_off_is_completed(content: str, beside: list[int]) -> None:
    assert steps(content) == beside


class Shelf:
    """Fetches chunks by their places; `asked` tells which."""

    def __init__(self, *chunks: Passage) -> None:
        self.chunks, self.asked = chunks, list[Place]()

    async def neighbours(
        self, question: Question, found: Retrieval, places: Sequence[Place]
    ) -> tuple[Passage, ...]:
        self.asked += places
        return tuple(c for c in self.chunks if Place(c.document_id, c.chunk_index) in places)


TEXT = f"{BEFORE} It was opened again in 1911. The kit holds the following things:\n- a rope\n- a lamp"
FIRST, SECOND, THIRD = (
    chunk(TEXT, 0, len(BEFORE), index=0, relevance=0.1),
    chunk(TEXT, len(BEFORE) + 1, TEXT.index("\n"), index=1),
    chunk(TEXT, TEXT.index("\n") + 1, len(TEXT), index=2, relevance=0.1),
)


async def test_a_list_is_shown_with_what_it_is_a_list_of() -> None:
    shelf = Shelf(FIRST, SECOND, THIRD)
    asked = question("What does the kit hold?")
    hit = scored(SECOND, asked.text)
    context = await ContextMaker(beside=shelf).context(asked, Retrieval((hit,)), [hit], None, enough=True)
    assert [block.content for block in context.blocks] == [f"{SECOND.content}\n{THIRD.content}"]
    assert [(p.chunk_index, p.relevance) for p in context.passages] == [(1, 0.9), (2, 0.9)]
    assert shelf.asked == [Place(THIRD.document_id, 2)]


async def test_a_sentence_that_leans_on_the_one_before_is_shown_with_it() -> None:
    shelf = Shelf(FIRST, SECOND, THIRD)
    asked = question("When was it opened again?")
    hit = scored(SECOND._replace(content=SECOND.content.partition(" The kit")[0]), asked.text)
    context = await ContextMaker(beside=shelf).context(asked, Retrieval((hit,)), [hit], None, enough=True)
    assert context.blocks[0].content == f"{BEFORE}\nIt was opened again in 1911."


async def test_what_was_a_candidate_is_not_fetched_again() -> None:
    shelf = Shelf()
    asked = question("What does the kit hold?")
    hit = scored(SECOND, asked.text)
    context = await ContextMaker(beside=shelf).context(
        asked, Retrieval((hit, THIRD)), [hit], None, enough=True
    )
    assert ([p.chunk_index for p in context.passages], shelf.asked) == ([1, 2], [])


async def test_there_are_never_more_passages_than_were_asked_for() -> None:
    shelf = Shelf(FIRST, SECOND, THIRD)
    asked = question("What does the kit hold?", top_k=1)
    hit = scored(SECOND, asked.text)
    context = await ContextMaker(beside=shelf).context(asked, Retrieval((hit,)), [hit], None, enough=True)
    assert (context.passages, shelf.asked) == ((hit,), [])


async def test_where_each_passage_must_reach_the_threshold_none_is_completed() -> None:
    shelf = Shelf(FIRST, SECOND, THIRD)
    asked = question("What does the kit hold?", strict_context=True)
    hit = scored(SECOND, asked.text)
    context = await ContextMaker(beside=shelf).context(asked, Retrieval((hit,)), [hit], None, enough=True)
    assert (context.passages, shelf.asked) == ((hit,), [])


async def test_another_list_is_not_more_of_a_list() -> None:
    prose = chunk(f"{ITEMS}\n\nElsewhere it rained.", len(ITEMS) + 2, len(ITEMS) + 22, index=1)
    asked = question("What is in the kit?")
    hit = scored(chunk(ITEMS, 0, len(ITEMS), index=0), asked.text)
    context = await ContextMaker(beside=Shelf(prose)).context(
        asked, Retrieval((hit,)), [hit], None, enough=True
    )
    assert context.passages == (hit,)
