"""Which passages a chat model is shown: as many as `top_k`, down to the floor."""

from collections.abc import Sequence
from uuid import UUID

import pytest

from rag.context.assembly import ContextMaker
from rag.context.selection import (
    as_sure_as_together,
    by_halves,
    merge_halves,
    merge_rest,
    stand_apart,
    tell_apart,
    together,
)
from rag.question_forms import Comparison
from rag.types.context import Place, Room
from rag.types.question import Question
from rag.types.retrieval import NamedDocuments, Passage, Retrieval
from tests.rag.factory import passage, question

ROOM = Room("rules\nquestion", 500)


def found(*relevances: float) -> list[Passage]:
    """Passages 1, 2, …, each of a document of its own."""
    return [passage(n, relevance=relevance) for n, relevance in enumerate(relevances, start=1)]


async def shown(
    passages: Sequence[Passage],
    *,
    floor: float | None = 0.05,
    room: Room | None = ROOM,
    enough: bool = True,
    maker: ContextMaker | None = None,
    asked: Question | None = None,
) -> list[int]:
    """The numbers of the passages."""
    asked, maker = asked or question(), maker or ContextMaker(floor=floor)
    best = passages[: asked.top_k]
    context = await maker.context(asked, Retrieval(tuple(passages)), best, room, enough=enough)
    return [one.chunk_id.int for one in context.passages]


async def test_a_chat_model_is_shown_the_best_down_to_the_floor():
    passages = found(0.9, 0.3, 0.04, 0.05, 0.01)
    assert await shown(passages) == [1, 2, 4]
    assert await shown(passages, enough=False) == []
    assert await shown(passages, asked=question(top_k=1)) == [1]


async def test_where_none_reaches_the_floor_the_first_are_shown():
    passages = found(0.02, 0.01, 0.0, 0.03)
    assert await shown(passages) == [1, 2, 3]
    assert await shown(passages, enough=False) == []


async def test_what_reaches_the_threshold_has_the_room_first():
    passages = found(0.9, 0.3, 0.85, 0.2)
    assert await shown(passages) == [1, 3, 2, 4]
    crowded = [one._replace(token_count=1690) for one in passages]
    assert await shown(crowded) == [1, 3]


async def test_elsewhere_each_passage_reaches_the_threshold():
    passages = found(0.9, 0.3, 0.8)
    assert await shown(passages, room=None) == [1, 3]  # no chat model
    assert await shown(passages, floor=None) == [1, 3]  # nobody has set a floor
    assert await shown(passages, asked=question(strict_context=True)) == [1, 3]


async def test_a_threshold_below_the_floor_holds():
    assert await shown(found(0.9, 0.03, 0.01), asked=question(min_relevance=0.02)) == [1, 2]


class Shelf:
    """A retriever that has fetched `held`."""

    def __init__(self, *held: Passage) -> None:
        self.held = held

    async def neighbours(
        self, question: Question, found: Retrieval, places: Sequence[Place]
    ) -> tuple[Passage, ...]:
        return tuple(one for one in self.held if Place(one.document_id, one.chunk_index) in places)

    async def sample(
        self, question: Question, found: Retrieval, document_id: UUID, count: int
    ) -> tuple[Passage, ...]:
        return tuple(one for one in self.held if one.document_id == document_id)[:count]


async def test_what_completes_a_hit_goes_before_what_is_hardly_relevant():
    hit = passage(1, "The kit holds:", chunk_index=0)
    more = passage(9, "A rope.")._replace(document_id=hit.document_id, chunk_index=1)
    others = found(0.9, 0.2, 0.2, 0.2)[1:]
    maker = ContextMaker(floor=0.05, beside=Shelf(more))
    assert await shown([hit, *others], maker=maker, asked=question(top_k=3)) == [1, 9, 2]
    assert await shown([hit, *others], maker=maker, asked=question(top_k=9)) == [1, 9, 2, 3, 4]


def chapters(count: int) -> list[Passage]:
    """Chunks of one document that adjoin no other; 101, 102, …"""
    return [
        passage(101 + n, f"Chapter {n} is long.")._replace(
            document_id=UUID(int=7),
            chunk_index=2 * n,
            relevance=0.0,
        )
        for n in range(count)
    ]


def over(document: list[Passage]) -> ContextMaker:
    return ContextMaker(floor=0.05, sampling=Shelf(*document))


async def test_an_overview_is_made_of_passages_spread_over_the_document():
    book = chapters(9)
    best = [book[0]._replace(relevance=0.1), book[3]._replace(relevance=0.01)]
    asked = question("Summarize document107.pdf", top_k=4)
    best = [one._replace(document_name="document107.pdf") for one in best]
    assert await shown(best, maker=over(book), asked=asked, enough=False) == [101, 104, 102, 103]
    assert await shown(best, asked=asked, enough=False) == []  # nobody can fetch them


async def test_of_a_question_that_asks_for_more_most_are_hits():
    book = chapters(9)
    hits = [one._replace(relevance=0.9) for one in book[4:]]
    asked = question("What are the main risks?", top_k=4)
    assert await shown(hits, maker=over(book), asked=asked) == [105, 106, 107, 101]


@pytest.mark.parametrize(("relevance", "numbers"), [(0.5, [101, 102, 103, 104]), (0.2, [])])
async def test_hits_that_reach_the_threshold_together_are_enough_for_an_overview(
    relevance: float, numbers: list[int]
):
    hits = [one._replace(relevance=relevance) for one in chapters(3)]
    asked = question("What are the main risks?", top_k=4)
    assert await shown(hits, maker=over(chapters(9)[3:]), asked=asked, enough=False) == numbers


def test_several_passages_say_more_than_one():
    assert together(found(0.5, 0.6)) == pytest.approx(0.8)
    assert together(found(0.9)) == pytest.approx(0.9)
    assert together([]) == 0


def test_what_was_found_for_two_things_takes_turns():
    whole = Retrieval(tuple(found(0.1, 0.1, 0.95, 0.0)))
    halves = [
        Retrieval((passage(5, relevance=0.9), passage(1, relevance=0.8))),
        Retrieval((passage(6, relevance=0.85), passage(3, relevance=0.2), passage(7, relevance=0.1))),
    ]
    made = merge_halves(whole, halves, 0.8).passages
    assert [(one.chunk_id.int, one.relevance) for one in made] == [
        (3, 0.95), (5, 0.9), (6, 0.85), (1, 0.8), (7, 0.1), (2, 0.1), (4, 0.0),
    ]  # fmt: skip
    scores = [one.score for one in made]
    assert scores == sorted(scores, reverse=True)


def test_the_best_passage_of_a_thing_that_is_only_named_is_as_sure_as_all_together():
    lifted = as_sure_as_together(Retrieval(tuple(found(0.2, 0.6, 0.5)))).passages
    assert [one.relevance for one in lifted] == [0.2, pytest.approx(0.84), 0.5]
    assert as_sure_as_together(Retrieval(())).passages == ()


def test_two_things_stand_apart_if_the_best_of_each_is_in_a_document_of_its_own():
    same = passage(1).document_id
    one = Retrieval((passage(1, relevance=0.9), passage(2, relevance=0.95)))
    other = Retrieval((passage(3, relevance=0.9), passage(4, relevance=0.5, document_id=same)))
    assert stand_apart([one, other])
    assert not stand_apart([Retrieval(one.passages[:1]), Retrieval(other.passages[1:])])
    assert not stand_apart([one, Retrieval(())])


TWO = "mitosis", "meiosis"


def test_each_chunk_belongs_to_the_thing_that_it_fits_better():
    one = Retrieval((passage(1, relevance=0.9), passage(2, relevance=0.1)))
    other = Retrieval((passage(2, relevance=0.8), passage(1, relevance=0.3), passage(3, relevance=0.7)))
    first, second = tell_apart(Comparison(TWO, TWO), [one, other], 0.5)
    assert (first.text, {id_.int for id_ in first.others}) == ("mitosis", {2, 3})
    assert (second.text, {id_.int for id_ in second.others}) == ("meiosis", {1})


def test_a_chunk_may_answer_both_of_two_questions():
    one = Retrieval((passage(1, relevance=0.9), passage(2, relevance=0.6)))
    other = Retrieval((passage(2, relevance=0.8), passage(1, relevance=0.3)))
    first, second = tell_apart(Comparison(TWO, TWO, compared=False, asks_twice=True), [one, other], 0.5)
    assert (first.others, {id_.int for id_ in second.others}) == (frozenset(), {1})


def test_what_speaks_of_both_things_has_half_of_the_places():
    halves = [Retrieval((passage(8),)), Retrieval((passage(9),))]
    made = merge_halves(Retrieval(tuple(found(0.9, 0.9, 0.9))), halves, 0.8).passages
    assert [one.chunk_id.int for one in made] == [1, 2, 8, 9, 3]


@pytest.mark.parametrize(
    ("count", "order"), [(0, []), (1, [1]), (2, [1, 2]), (3, [1, 3, 2]), (6, [1, 6, 3, 2, 4, 5])]
)
def test_however_few_are_taken_they_are_spread(count: int, order: list[int]):
    assert [one.chunk_id.int for one in by_halves([passage(n) for n in range(1, count + 1)])] == order


HANDBOOK, OTHER = UUID(int=1), UUID(int=2)
NAMED = NamedDocuments(frozenset({HANDBOOK}), frozenset({"pilot"}), "How much are trainees paid?")


def in_handbook(number: int, score: float, relevance: float, **fields: object) -> Passage:
    return passage(number, document_id=HANDBOOK, score=score, relevance=relevance, **fields)


def test_the_rest_of_a_question_orders_the_document_that_it_names():
    topic, answer = in_handbook(1, 8.0, 0.9), in_handbook(2, 3.0, 0.2)
    elsewhere = passage(3, "Pilots are paid, too.", document_id=OTHER, score=4.0, relevance=0.3)
    of_bakers = passage(5, "Bakers are paid.", document_id=OTHER, score=9.0, relevance=0.8)
    whole = Retrieval((of_bakers, topic, elsewhere, answer))
    rest = Retrieval((in_handbook(2, 9.0, 0.4), in_handbook(4, 5.0, 0.1), in_handbook(1, 1.0, 0.0)))

    found = merge_rest(whole, rest, NAMED)

    merged = found.passages
    placed = [(one.chunk_id.int, one.score) for one in merged]
    assert placed == [(2, 7.5), (4, 4.5), (3, 4.0), (1, 2.75), (5, 9.0)]  # last what does not say the name
    # The document is as relevant as before: the best of its passages is another one.
    assert [one.relevance for one in merged] == [0.9, 0.4, 0.3, 0.1, 0.8]
    assert found.named == NAMED


def test_a_document_that_the_rest_finds_nothing_in_stays_as_it_was():
    whole = Retrieval((in_handbook(1, 8.0, 0.9),))

    assert merge_rest(whole, Retrieval(()), NAMED) == whole


def test_what_the_rest_alone_finds_has_no_place_in_the_rankings_of_the_whole():
    whole = Retrieval((in_handbook(1, 8.0, 0.9, dense_rank=1, sparse_rank=2),))
    rest = Retrieval((in_handbook(2, 9.0, 0.4, dense_rank=1, sparse_rank=1),))

    merged = merge_rest(whole, rest, NAMED).passages
    ranks = {one.chunk_id.int: (one.dense_rank, one.sparse_rank) for one in merged}

    assert ranks == {1: (1, 2), 2: (None, None)}


def test_of_two_things_none_is_the_document_that_the_question_names():
    """What is found for the other thing does not say the name, and is quoted all the same."""
    whole = Retrieval((in_handbook(1, 8.0, 0.9),), named=NAMED)
    halves = [whole, Retrieval((passage(2, document_id=OTHER, score=4.0, relevance=0.95),))]

    merged = merge_halves(whole, halves, 0.8)

    assert merged.named is None
