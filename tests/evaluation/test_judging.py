"""When a passage counts as relevant and an answer as right."""

from dataclasses import replace
from uuid import uuid4

import pytest

from rag.evaluation.metrics import ndcg
from rag.evaluation.scoring import (
    find_document_rank,
    first_passages,
    grade_passages,
    has_right_page,
    is_correct,
    is_relevant,
)
from rag.evaluation.types import Case
from rag.types.retrieval import Passage


def passage(content: str = "", *, name: str = "tesla.pdf", page: int | None = 2, **more: object) -> Passage:
    plain = Passage(
        uuid4(), uuid4(), name, "Nikola Tesla", 0, content, page, page, "Life", "Death", 0, 10, 0.5
    )
    return plain._replace(**more)


TESLA = Case("q", "Where did Tesla die?", ("New York City",), document="Tesla.PDF", pages=(3,))


def test_the_answer_within_the_expected_document() -> None:
    assert is_relevant(TESLA, passage("He died in New\nYork-City."))
    assert is_relevant(replace(TESLA, document="tesla"), passage("in new york city"))
    assert is_relevant(replace(TESLA, document="nikola tesla"), passage("in new york city"))
    assert not is_relevant(TESLA, passage("He died in New York City.", name="edison.pdf"))
    assert not is_relevant(TESLA, passage("He died in Vienna."))


def test_pages_decide_where_no_answer_is_known() -> None:
    place = replace(TESLA, answers=())
    assert is_relevant(place, passage(page=2, last_page=3))
    assert not is_relevant(place, passage(page=4, last_page=5))
    assert not is_relevant(place, passage(page=None, last_page=None))


def test_a_section_decides_before_the_words() -> None:
    place = replace(TESLA, chapter="life", section="DEATH")
    assert is_relevant(place, passage("nothing of it"))
    assert not is_relevant(replace(place, section="Birth"), passage("New York City"))


def test_evidence_is_shared_runs_of_words() -> None:
    told = replace(TESLA, evidence="He died alone in room 3327 of the hotel New Yorker")
    assert is_relevant(told, passage("It is said that he died alone in room 3327 of the hotel New Yorker."))
    assert not is_relevant(told, passage("New York City is large, and so are its many hotels."))


def test_graded_documents_count_once_where_their_first_passage_stands() -> None:
    case = Case("1", "q", relevant={"a": 1, "b.txt": 3})
    a, b, other = passage(name="a.txt"), passage(name="b.txt"), passage(name="c.txt", title="C")
    found = grade_passages(
        case, [other, other._replace(chunk_id=uuid4()), a, a._replace(chunk_id=uuid4()), b]
    )
    assert (found.gains, found.ideal) == ((0, 1, 3), (3, 1))
    assert ndcg(grade_passages(case, [b, a])) == 1


def test_grades_can_be_of_chunks() -> None:
    one = passage()
    sibling = one._replace(chunk_id=uuid4())
    found = grade_passages(Case("1", "q", relevant={str(one.chunk_id): 2}), [sibling, one])
    assert found.gains == (0, 2)


def test_one_target_however_many_passages_hold_it() -> None:
    held = passage("New York City")
    assert grade_passages(TESLA, [passage("no"), held, held._replace(chunk_id=uuid4())]).gains == (0, 1, 0)
    assert find_document_rank(TESLA, [passage(name="x.pdf", title="X"), passage("no")]) == 2


@pytest.mark.parametrize(
    ("expected", "answer", "right"),
    [
        ("the New York City", "He died in New York City [1].", True),
        ("New York City", "New York.", False),
        ("1943", "Born 1856, died 1943 [2][3].", True),
        ("$2,018", "It was 2,020.5 million.", True),
        ("$2,018", "It was 2,040 [2018].", False),
        ("纽约市", "他在纽约 市去世。", True),
        (
            "He died alone in a room of the hotel on a winter day",
            "alone, in winter he died at the hotel room",
            True,
        ),
        ("He died alone in a room of the hotel on a winter day", "alone in a hotel", False),
        ("New York City", "New York City " + "word " * 150, False),
    ],
)
def test_answers(expected: str, answer: str, right: bool) -> None:
    assert is_correct(Case("q", "?", (expected,)), answer) is right


def test_figures_of_a_long_answer_with_the_same_yes_or_no() -> None:
    case = Case(
        "q",
        "?",
        ("Yes, it rose from 12.5 to 14.1 in the year",),
        answer_type="long",
        key_numbers=(12.5, 14.1),
    )
    assert is_correct(case, "Yes. 14.1 was reached.")
    assert not is_correct(case, "No. 14.1 was reached.")


def test_citations() -> None:
    gold, other = passage(page=3), passage(name="x.pdf", title="X", page=3)
    again = gold._replace(chunk_id=uuid4(), page_number=9)
    assert first_passages([other, gold, again]) == [other, gold]
    assert has_right_page(TESLA, [other, gold]) is True
    assert has_right_page(TESLA, [other, again]) is False
    assert has_right_page(TESLA, [other]) is None
