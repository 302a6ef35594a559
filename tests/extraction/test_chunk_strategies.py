"""What the three ways of splitting do with the same text: windows, breaks at drops, blocks left whole."""

import time
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from documents.chunkers import semantic
from documents.chunkers.semantic import BATCH, SemanticChunker
from documents.types import STRATEGIES, Block, ChunkDraft, ChunkingSettings, Extraction, Heading, Strategy
from tests.extraction.chunkers import CHUNKERS, COUNTER, LetterEmbedder, block, check, markdown, pdf

CODE = "```python\n" + "\n".join(f"value_{n} = compute(value_{n - 1}, {n})" for n in range(1, 9)) + "\n```"
ROWS = ["| Name | Population | Area |", "| --- | --- | --- |"]
ROWS += [f"| Town number {n} | {n}00,000 | {n}.5 km2 |" for n in range(1, 60)]


def about(letter: str, sentences: int) -> str:
    """Sentences of 12 tokens that the test's embedder finds alike."""
    return " ".join(f"{letter} good day it was, and number {n} came home." for n in range(1, sentences + 1))


def split(extraction: Extraction, strategy: Strategy, **options: float) -> list[ChunkDraft]:
    settings = replace(ChunkingSettings(strategy), **options)
    chunks = CHUNKERS[strategy].split(extraction, settings)
    check(extraction, chunks, settings)
    return chunks


def test_fixed_windows_are_full_and_overlap_by_whole_words() -> None:
    text = about("A", 100)
    chunks = split(markdown(text), "fixed", size=100, overlap=20)
    assert all(95 <= chunk.token_count <= 100 for chunk in chunks[:-1])
    overlaps = [text[two.start_char : one.end_char] for one, two in pairwise(chunks)]
    assert all(15 <= len(COUNTER.starts(overlap)) <= 20 for overlap in overlaps)
    assert {chunk.content.split()[0] for chunk in chunks} <= set(text.split())


def test_fixed_windows_without_overlap_repeat_nothing() -> None:
    chunks = split(markdown(about("A", 100)), "fixed", size=100, overlap=0)
    assert all(one.end_char < two.start_char for one, two in pairwise(chunks))


def test_fixed_windows_of_a_script_without_spaces_overlap_too() -> None:
    chunks = split(markdown("中" * 300), "fixed", size=100, overlap=20)
    assert [(chunk.start_char, chunk.end_char) for chunk in chunks] == [
        (0, 100), (80, 180), (160, 260), (240, 300),
    ]  # fmt: skip


def test_semantic_breaks_where_the_subject_changes() -> None:
    one, two, three = about("A", 12), about("B", 14), about("C", 10)
    chunks = split(markdown(f"{one} {two} {three}"), "semantic", size=512)
    assert [chunk.content for chunk in chunks] == [one, two, three]


def test_semantic_keeps_on_until_a_chunk_has_its_least_size() -> None:
    text = " ".join(about(letter, 1) for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZ")
    chunks = split(markdown(text), "semantic", min_size=100, similarity_threshold=1)
    assert all(100 <= chunk.token_count < 130 for chunk in chunks[:-1])


def test_semantic_ends_a_chunk_of_one_subject_at_its_size_and_never_in_a_sentence() -> None:
    chunks = split(markdown(about("A", 100)), "semantic", size=200)
    assert len(chunks) > 3
    assert all(chunk.content.endswith("home.") and chunk.content.startswith("A good") for chunk in chunks)


def test_no_similarity_is_too_low_for_a_threshold_of_minus_one() -> None:
    chunks = split(markdown(f"{about('A', 12)} {about('B', 12)}"), "semantic", similarity_threshold=-1)
    assert len(chunks) == 1


class CountingEmbedder(LetterEmbedder):
    def __init__(self) -> None:
        self.calls: list[int] = []

    def embed(self, texts: Sequence[str]) -> list[np.ndarray]:
        self.calls.append(len(texts))
        return super().embed(texts)


@pytest.mark.parametrize("letters", ["ABCD", "A", "AAAAAAAAAAAAB"])
def test_only_sentences_where_a_chunk_may_end_are_embedded_in_batches(letters: str) -> None:
    embedder = CountingEmbedder()
    text = " ".join(about(letter, 1) for letter in letters * (3_000 // len(letters)))
    chunks = SemanticChunker(tokenizer=COUNTER, embedder=embedder).split(
        markdown(text), ChunkingSettings("semantic", min_size=100, size=512)
    )
    assert max(embedder.calls) <= 2 * BATCH
    assert len(embedder.calls) <= 60
    assert sum(embedder.calls) <= (2 * len(chunks) if letters == "ABCD" else 6_500)


def test_what_is_supposed_of_sentences_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    text = " ".join(about("AAAABAACAAAAAAAB"[n * n % 16], 1) for n in range(600))
    chunks = split(markdown(text), "semantic", size=200)
    monkeypatch.setattr(semantic, "PASSES", 600)  # one sentence after the other
    assert split(markdown(text), "semantic", size=200) == chunks


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_every_page_and_every_section_begins_a_chunk(strategy: Strategy) -> None:
    pages = (f"Part\n\n{about('A', 5)}", f"{about('A', 3)}\nNext\n\n{about('A', 6)}")
    text = "\n".join(pages)
    headings = (Heading(1, "Part", 0), Heading(2, "Next", text.index("Next")))
    chunks = split(pdf(*pages, headings=headings), strategy)
    assert [(chunk.page_number, chunk.headers, chunk.section) for chunk in chunks] == [
        (1, ("Part",), ""), (2, ("Part",), ""), (2, ("Part", "Next"), "Next"),
    ]  # fmt: skip


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_code_stands_alone_and_whole(strategy: Strategy) -> None:
    text = f"{about('A', 8)}\n\n{CODE}\n\n{about('A', 8)}"
    chunks = split(markdown(text, blocks=(block(text, CODE, "code"),)), strategy)
    assert [chunk.chunk_type for chunk in chunks] == ["paragraph", "code", "paragraph"]
    assert chunks[1].content == CODE


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_line_of_code_and_a_table_of_two_rows_stand_alone_too(strategy: Strategy) -> None:
    code, table = "```\nx = 1\n```", "| a | b |\n|---|---|\n| 1 | 2 |"
    text = "\n\n".join((about("A", 2), code, about("A", 2), table, about("A", 2)))
    chunks = split(markdown(text, blocks=(block(text, code, "code"), block(text, table, "table"))), strategy)
    assert [chunk.chunk_type for chunk in chunks] == ["paragraph", "code", "paragraph", "table", "paragraph"]
    assert (chunks[1].content, chunks[3].content) == (code, table)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_heading_does_not_count_against_the_list_below_it(strategy: Strategy) -> None:
    text = "## What there is to buy today\n\n- milk\n- eggs"
    items = block(text, "- milk\n- eggs", "list")
    (chunk,) = split(markdown(text, Heading(2, "What there is to buy today", 0), blocks=(items,)), strategy)
    assert chunk.chunk_type == "list"


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_heading_goes_with_the_code_below_it(strategy: Strategy) -> None:
    text = f"{about('A', 8)}\n\n## Setup\n\n{CODE}"
    heading = Heading(2, "Setup", text.index("## Setup"))
    chunks = split(markdown(text, heading, blocks=(block(text, CODE, "code"),)), strategy)
    assert [chunk.content for chunk in chunks[1:]] == [f"## Setup\n\n{CODE}"]
    assert (chunks[1].headers, chunks[1].chunk_type) == (("Setup",), "code")


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_long_table_is_cut_between_rows(strategy: Strategy) -> None:
    table = "\n".join(ROWS)
    text = f"{about('A', 8)}\n\n{table}\n\n{about('A', 8)}"
    chunks = split(markdown(text, blocks=(block(text, table, "table"),)), strategy)
    tables = [chunk for chunk in chunks if chunk.chunk_type == "table"]
    assert len(tables) > 2
    assert {line for chunk in tables for line in chunk.content.split("\n")} == set(ROWS)
    assert not any("|" in chunk.content for chunk in chunks if chunk.chunk_type == "paragraph")


@pytest.mark.parametrize("options", [{"size": 513}, {"size": 19}, {"overlap": -1}, {"overlap": 151}])
@pytest.mark.parametrize("strategy", ["fixed", "sentence"])
def test_windows_that_cannot_be_cut_are_refused(strategy: Strategy, options: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="must be"):
        split(markdown("Hello."), strategy, **options)


@pytest.mark.parametrize("options", [{"similarity_threshold": 1.1}, {"min_size": -1}])
def test_breaks_that_cannot_be_found_are_refused(options: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="must be"):
        split(markdown("Hello."), "semantic", **options)


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("unit", ["a", ".", "\n", "[", ". "])
def test_a_megabyte_of_anything_takes_less_than_two_seconds(strategy: Strategy, unit: str) -> None:
    extraction = markdown(unit * (1_000_000 // len(unit)))
    started = time.process_time()
    CHUNKERS[strategy].split(extraction, ChunkingSettings(strategy))
    assert time.process_time() - started < 2


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_many_headings_and_blocks_cost_no_more_than_their_number(strategy: Strategy) -> None:
    line = "# A\n```\nx = 1\n```\n"
    starts = range(0, 5_000 * len(line), len(line))
    text = line * 5_000
    headings = [Heading(1 + n % 6, "A", start) for n, start in enumerate(starts)]
    blocks = tuple(Block(start + 4, start + 17, "code") for start in starts)
    started = time.process_time()
    CHUNKERS[strategy].split(markdown(text, *headings, blocks=blocks), ChunkingSettings(strategy))
    assert time.process_time() - started < 2
