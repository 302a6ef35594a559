"""Chunks: exact places in the text, within the model's limit, cut where readers pause."""

import time
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from documents.chunkers.pieces import MAX_CHARS
from documents.extractors.markdown import read_markdown
from documents.types import STRATEGIES, Block, ChunkingSettings, Heading
from knowlex.web.fields import MAX_QUESTION_CHARS
from tests.extraction.chunkers import CHUNKERS, COUNTER, check, markdown, pdf

CHUNKER = CHUNKERS["sentence"]
USUAL = ChunkingSettings()
SENTENCE = "The quick brown fox number {} jumps over the lazy dog near the river bank."  # 15 or 16 tokens


def prose(first: int, sentences: int) -> str:
    return " ".join(SENTENCE.format(number) for number in range(first, first + sentences))


LETTERS = st.sampled_from("ab .!?\n\t中。é\u0301(#|1-")
SETTINGS = st.builds(
    ChunkingSettings,
    strategy=st.sampled_from(STRATEGIES),
    size=st.sampled_from([20, 40, 120, 512]),
    overlap=st.integers(0, 10),
    min_size=st.integers(0, 20),
)


@settings(max_examples=300, deadline=None)
@given(st.lists(st.text(LETTERS, max_size=400), min_size=1, max_size=5), SETTINGS, st.data())
def test_any_text_is_covered_exactly(
    pages: list[str], chunking: ChunkingSettings, data: st.DataObject
) -> None:
    length = len("\n".join(pages))
    places = sorted(data.draw(st.lists(st.integers(0, length), max_size=6)))
    headings = tuple(Heading(1 + index % 3, f"H{index}", place) for index, place in enumerate(places))
    ends = sorted(data.draw(st.sets(st.integers(0, length), max_size=8)))
    kinds = ("code", "table", "list")
    blocks = tuple(Block(one, two, kinds[one % 3]) for one, two in zip(ends[::2], ends[1::2], strict=False))
    extraction = pdf(*pages, headings=headings, blocks=blocks)
    check(extraction, CHUNKERS[chunking.strategy].split(extraction, chunking), chunking)


@pytest.mark.parametrize(
    "text", ["a" * 9000, "\U0001f600" * 9000, "donaudampfschifffahrt" * 9 + " ", "x" * 90 + ". "]
)
def test_every_chunk_is_short_enough_to_be_searched_for(text: str) -> None:
    extraction = markdown(text * 60)
    check(extraction, CHUNKER.split(extraction, USUAL))
    assert MAX_CHARS <= MAX_QUESTION_CHARS


def test_chunks_are_about_the_target_and_overlap() -> None:
    extraction = markdown(prose(0, 200))
    chunks = CHUNKER.split(extraction, USUAL)
    check(extraction, chunks)
    assert all(240 <= chunk.token_count <= 300 for chunk in chunks[:-1])
    overlaps = [
        len(COUNTER.starts(extraction.text[two.start_char : one.end_char])) for one, two in pairwise(chunks)
    ]
    assert all(30 <= overlap <= 75 for overlap in overlaps)
    assert all(chunk.content.startswith("The quick") and chunk.content.endswith("bank.") for chunk in chunks)


@pytest.mark.parametrize(
    "text", ["word " * 3_000, "x" * 40_000, "中" * 3_000, "." * 5_000, "ab" * 600 + " c"]
)
def test_a_sentence_without_end_is_cut(text: str) -> None:
    extraction = markdown(text.strip())
    chunks = CHUNKER.split(extraction, USUAL)
    check(extraction, chunks)
    assert len(chunks) > 1 or len(text) < MAX_CHARS


def test_a_heading_opens_a_chunk_with_its_chapter_and_section() -> None:
    one, two = f"# A\n\n{prose(0, 5)}\n\n", f"## B\n\n{prose(5, 5)}\n\n### C\n\n{prose(10, 4)}\n\n"
    text = f"{one}{two}# D\n\n{prose(20, 5)}"
    headings = [Heading(1, "A", 0), Heading(2, "B", len(one)), Heading(3, "C", text.index("### C"))]
    extraction = markdown(text, *headings, Heading(1, "D", len(one + two)))
    chunks = CHUNKER.split(extraction, USUAL)
    check(extraction, chunks)
    assert [(chunk.chapter, chunk.section) for chunk in chunks] == [("A", ""), ("A", "B"), ("D", "")]
    assert [chunk.content.split("\n")[0] for chunk in chunks] == ["# A", "## B", "# D"]
    assert {(chunk.page_number, chunk.last_page) for chunk in chunks} == {(None, None)}


def test_a_tiny_part_goes_with_what_follows() -> None:
    text = f"# A\n\n## B\n\n{prose(0, 8)}"
    chunks = CHUNKER.split(markdown(text, Heading(1, "A", 0), Heading(2, "B", 5)), USUAL)
    assert [(chunk.chapter, chunk.section, chunk.start_char) for chunk in chunks] == [("A", "B", 0)]


def test_a_heading_with_a_link_goes_with_what_stands_below_it() -> None:
    extraction = read_markdown(b"# [Lamps](https://lamps.example.org/read-me)\n\n## Install\n\nRun it.\n")
    assert [chunk.section for chunk in CHUNKER.split(extraction, USUAL)] == ["Install"]


def test_text_before_any_heading_has_no_chapter() -> None:
    text = f"{prose(0, 6)}\n\n# A\n\n{prose(6, 6)}"
    chunks = CHUNKER.split(markdown(text, Heading(1, "A", text.index("# A"))), USUAL)
    assert [(chunk.chapter, chunk.section) for chunk in chunks] == [("", ""), ("A", "")]


def test_a_chunk_ends_with_its_page() -> None:
    chunks = CHUNKER.split(pdf(prose(0, 12), prose(12, 12)), USUAL)
    assert [(chunk.page_number, chunk.last_page) for chunk in chunks] == [(1, 1), (2, 2)]


def test_a_short_page_is_a_chunk_of_its_own() -> None:
    chunks = CHUNKER.split(pdf(prose(0, 1), prose(1, 1), prose(2, 10)), USUAL)
    assert [(chunk.page_number, chunk.last_page) for chunk in chunks] == [(1, 1), (2, 2), (3, 3)]


def test_only_the_sentence_that_runs_over_a_page_break_is_on_both_pages() -> None:
    text = prose(0, 3)
    cut = text.rindex(" ")
    extraction = pdf(text[:cut], f"{text[cut + 1 :]} {prose(3, 3)}")
    first, second = CHUNKER.split(extraction, USUAL)
    assert (first.page_number, first.last_page) == (1, 2)
    assert (second.page_number, second.last_page) == (2, 2)
    assert second.content == prose(3, 3)


def test_a_page_without_text_counts() -> None:
    chunks = CHUNKER.split(pdf("", prose(0, 4), ""), USUAL)
    assert [(chunk.page_number, chunk.last_page) for chunk in chunks] == [(2, 2)]


def test_a_few_words_make_one_chunk() -> None:
    assert [chunk.content for chunk in CHUNKER.split(pdf("Hello."), USUAL)] == ["Hello."]


@pytest.mark.parametrize("options", [{"size": 5}, {"overlap": 200}])
def test_sizes_that_cannot_be_met_are_refused(options: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="must be"):
        CHUNKER.split(pdf("Hello."), ChunkingSettings(**options))


@pytest.mark.parametrize("unit", [" ", "a\n", "a.\n\n", "No! ", "中"])
def test_the_work_is_linear_in_the_text(unit: str) -> None:
    def cpu(chars: int) -> float:
        extraction = markdown(unit * (chars // len(unit)))
        started = time.process_time()
        CHUNKER.split(extraction, USUAL)
        return time.process_time() - started

    small = min(cpu(25_000) for _ in range(3))
    assert cpu(200_000) < 30 * small + 0.2  # a quadratic routine would need 64 times as much
