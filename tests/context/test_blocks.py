"""Which blocks a synthesizer is shown: their order, what is merged, what is cut."""

from typing import Any
from uuid import UUID

import pytest

from rag.context.fitting import assemble
from rag.context.tokens import BLOCK_TOKENS, Ruler, estimate_tokens, room_for_blocks
from rag.ranking.sentences import question_terms, score_sentences
from rag.types.context import Part, Room
from tests.context.text import chunk
from tests.rag.factory import passage

RULER = Ruler(lambda text: len(text.split()))
TEXT = "The bridge is old. It was built in 1350. Of stone it is. The tower stands beside it."
SPANS = {"bridge": (0, 40), "built": (19, 56), "tower": (57, len(TEXT))}


def of(name: str, index: int, document: int = 1, **fields: Any) -> Any:
    return chunk(TEXT, *SPANS[name], index=index, document=document, **fields)


def test_chunks_that_overlap_are_one_block_with_each_sentence_once() -> None:
    context = assemble([of("built", 1), of("bridge", 0)])
    (block,) = context.blocks
    assert block.content == TEXT[:56]
    assert block.parts == (Part(0, 40, 1, 0), Part(19, 37, 0, 0))


def test_chunks_that_follow_each_other_are_one_block() -> None:
    (block,) = assemble([of("tower", 2), of("built", 1)]).blocks
    assert block.content == "It was built in 1350. Of stone it is.\nThe tower stands beside it."
    assert block.parts == (Part(0, 37, 1, 0), Part(38, 27, 0, 0))


def test_paragraphs_stay_apart() -> None:
    text = "One paragraph.\n\nAnother."
    (block,) = assemble([chunk(text, 0, 14, index=0), chunk(text, 16, 24, index=1)]).blocks
    assert block.content == text


def test_a_sentence_goes_on_where_it_was_cut() -> None:
    text = "A very long sentence goes on and on."
    (block,) = assemble([chunk(text, 0, 20, index=0), chunk(text, 21, len(text), index=1)]).blocks
    assert block.content == text


def test_chunks_whose_places_are_not_true_stay_apart() -> None:
    one, two = (
        passage(1, "One text.", document_id=UUID(int=7)),
        passage(2, "Another.", document_id=UUID(int=7)),
    )
    assert [block.content for block in assemble([one, two]).blocks] == ["One text.", "Another."]


def test_the_best_block_comes_first_and_a_document_stands_together() -> None:
    text = " ".join(f"Paragraph {n} of the text tells something." for n in range(9))
    places = {n: text.index(f"Paragraph {n}") for n in range(9)}
    near = {n: chunk(text, places[n], places[n] + 42, index=n) for n in (1, 4, 7)}
    other = passage(5, "The other document.")
    context = assemble([near[4], other, near[7], near[1]])
    assert [block.content[:11] for block in context.blocks] == [
        "Paragraph 4",
        "Paragraph 1",
        "Paragraph 7",
        "The other d",
    ]
    assert [p.chunk_index for p in context.passages] == [4, 5, 7, 1]  # by relevance, as they came


@pytest.mark.parametrize("first", [0, 1])
def test_a_paragraph_that_another_document_holds_too_is_shown_once(first: int) -> None:
    alone, within = passage(1, "The tower is old."), passage(2, "Before. The  tower\nis old. After.")
    context = assemble([alone, within][:: 1 if first == 0 else -1])
    assert [block.content for block in context.blocks] == [within.content]
    assert context.passages == (within,)


def test_what_does_not_fit_is_cut_around_its_best_sentence() -> None:
    said = [f"This is sentence number {n} of a longer text that tells of rivers." for n in range(30)]
    said[20] = "The tower was built in the year 1350 by the guild of the masons."
    long = passage(2, " ".join(said), token_count=400)
    asked = question_terms("When was the tower built?", {})
    long = long._replace(sentences=score_sentences(long.content, asked))
    context = assemble([passage(1, token_count=100), long], 100 + 250 + BLOCK_TOKENS, RULER)
    content = context.blocks[1].content
    assert said[20] in content
    assert content.startswith("This is sentence")
    assert content.endswith(".")
    assert 150 < len(content.split()) <= 250
    (part,) = context.blocks[1].parts
    assert long.content[part.begin : part.begin + part.length] == content


def test_a_few_tokens_are_not_worth_a_part_of_a_chunk() -> None:
    long = passage(2, "Some words of a sentence. " * 50, token_count=250)
    small = passage(3, token_count=20)
    context = assemble([passage(1, token_count=100), long, small], 100 + 95, RULER)
    assert [p.chunk_index for p in context.passages] == [1, 3]


def test_a_table_that_is_one_sentence_is_cut_rather_than_left_out() -> None:
    table = passage(1, "cell " * 2000, token_count=2000)
    (block,) = assemble([table], 500, RULER).blocks
    assert 400 < len(block.content.split()) <= 500


def test_the_prompt_has_room_for_question_and_reply() -> None:
    room = Room("word " * 100, 1000)
    taken = 4000 - room_for_blocks(room, RULER, 4000, None)
    assert 1100 <= taken <= 1150
    assert room_for_blocks(None, RULER, 4000, 2048) == 4000  # nobody reads a prompt
    assert room_for_blocks(room, RULER, 4000, 2048) < 2048 - 1100
    assert room_for_blocks(Room("word " * 3000, 1000), RULER, 4000, None) == 1000  # some is always theirs


@pytest.mark.parametrize(
    ("text", "least"),
    [
        ("The tower stands beside the old stone bridge.", 9),
        ("Башня стоит рядом со старым каменным мостом.", 15),
        ("塔は古い石橋のそばに立っている。", 16),
        ("หอคอยตั้งอยู่ข้างสะพานหินเก่า", 25),
    ],
)
def test_scripts_that_the_embedding_model_cannot_read_count_in_full(text: str, least: int) -> None:
    assert estimate_tokens(text) >= least
