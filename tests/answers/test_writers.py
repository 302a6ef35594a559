"""What a face sends of an answer piece by piece is what it sends of the whole."""

from collections.abc import Sequence
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from rag.citations.numbering import FirstCited, Numbering, PlainWriter, clean, number_citations
from rag.types.answer import Answer
from tests.rag.factory import passage, question

CONTEXT = tuple(passage(n, document_id=passage(n % 2).document_id) for n in range(1, 5))
MARKED = ["[1]", "[2]", "[3]", "[4]"]
TEXT = ["It", " has", " 12", " steps", ".", "\n", "\n\n", " ", ", "]
MARKDOWN = ["**", "*", "_", "`", "# ", "- ", "> ", "[a](b)", "```\n", "---", "()", "(", ")", "1. ", "•"]
MARKDOWN += [" and", " or ", "~~", "|", "===", "\\", "\n---|---\n"]


def answer(text: str) -> Answer:
    return Answer(question(), True, text, CONTEXT, (), 4, 0.9)


def by_document() -> FirstCited:
    return FirstCited(lambda n: CONTEXT[n - 1].document_id)


def cut(pieces: Sequence[str], places: Sequence[int]) -> list[str]:
    """Joined anew in other pieces, no marker split."""
    edges = [0, *sorted({place % (len(pieces) + 1) for place in places}), len(pieces)]
    return ["".join(pieces[start:end]) for start, end in pairwise(edges)]


pieces_of = st.lists(st.sampled_from(TEXT + MARKED * 2), max_size=30)
cuts = st.lists(st.integers(0, 40), max_size=12)


def test_equal_neighbours_become_one_and_others_are_numbered_by_first_citation():
    text, _ = number_citations(answer("A [2][4]. B [3]. C [1][2]."), by_document())
    assert text == "A [1]. B [2]. C [2][1]."


@given(pieces_of, cuts)
def test_numbers_are_the_same_however_the_text_is_cut(pieces: list[str], places: list[int]):
    whole, _ = number_citations(answer("".join(pieces)), by_document())
    numbering = Numbering(by_document())
    sent = [numbering.feed(piece) for piece in cut(pieces, places)]
    assert "".join(sent) + numbering.finish() == whole


@given(st.lists(st.sampled_from(["[1]", "[2][4]", "[1][3]", "[4]"]), max_size=8))
def test_offsets_of_claims_are_those_in_what_is_sent(markers: list[str]):
    claims = [f"Claim {n} holds" for n in range(len(markers))]
    text = " ".join(f"{claim} {marker}." for claim, marker in zip(claims, markers, strict=True))
    sent, numbering = number_citations(answer(text), by_document())
    for claim in claims:
        start = text.index(claim)
        assert sent[numbering.sent(start) : numbering.sent(start + len(claim))] == claim


@given(st.lists(st.sampled_from(TEXT * 3 + MARKED + MARKDOWN), max_size=30), cuts)
def test_clean_text_is_the_same_however_it_is_cut(pieces: list[str], places: list[int]):
    writer = PlainWriter()
    sent = [writer.feed(piece) for piece in cut(pieces, places)]
    assert "".join(sent) + writer.finish() == clean("".join(pieces))


def test_clean_text_flows_word_by_word_where_it_can():
    writer = PlainWriter()
    sent = [writer.feed(piece) for piece in ("It has", " 253 steps", " [1]", ". It", " is red")]
    assert sent == ["It", " has 253", " steps", ".", " It is"]
    assert writer.finish() == " red"
