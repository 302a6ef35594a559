"""Questions of a collection that somebody else filled, with the metadata of the Service's document."""

import json
from collections.abc import Sequence
from typing import Any

import pytest

from embeddings.embedders.local import LocalEmbedder
from knowlex.base.errors import EmbedderUnavailable, RetrievalFailed
from rag.answering.pipeline import Pipeline
from rag.rerankers.sentence import SentenceReranker
from rag.synthesizers.extractive import ExtractiveSynthesizer
from rag.types.answer import Answer
from rag.types.question import Question
from rag.types.retrieval import Passage
from rag_service.headings import HeadingReranker, assess_with_headings
from rag_service.readers import CollectionReader
from rag_service.retriever import CollectionFilters, CollectionRetriever
from tests.foreign.filling import Fill, Given, embedded, in_memory

SAFETY = {
    "source_doc": "safety_manual.pdf",
    "source_type": "pdf",
    "section_title": "Chemical Handling",
    "related_topic": "Safety Protocols",
    "validation_status": json.dumps({"contradiction_check": True, "duplicate_check": True}),
}
HR = {"source_doc": "hr_policy.pdf", "source_type": "pdf", "related_topic": "Human Resources"}
GLOVES = "All personnel must wear protective eyewear and gloves when handling Class A chemicals."
DOCUMENTS = [
    Given("chunk_id_1", GLOVES, {**SAFETY, "page_number": 5, "chunk_index": 0}),
    Given(
        "chunk_id_2",
        "Emergency procedures require immediate notification of the shift supervisor.",
        {**SAFETY, "page_number": 7, "chunk_index": 1, "section_title": "Emergency Procedures"},
    ),
    Given(
        "chunk_id_3",
        "Full-time employees accrue 15 days of paid vacation per year. The company's vacation policy asks"
        " that requests be made two weeks ahead.",
        {**HR, "page_number": 12, "chunk_index": 0, "section_title": "Vacation Policy"},
    ),
]


def asking(text: str, **filters: Any) -> Question:
    return Question(text, (), 5, min_relevance=0.5, filters=CollectionFilters(equal=filters))


async def answered(reader: CollectionReader, embedder: LocalEmbedder, question: Question) -> Answer:
    reranker = HeadingReranker(SentenceReranker())
    parts = CollectionRetriever(reader, embedder), reranker, assess_with_headings, ExtractiveSynthesizer()
    return await Pipeline(*parts).answer(question)


async def passages(
    embedder: LocalEmbedder, given: Sequence[Given], text: str = "Who handles chemicals?", **filters: Any
) -> tuple[Passage, ...]:
    retriever = CollectionRetriever(in_memory(embedded(embedder, given)), embedder)
    return (await retriever.retrieve(asking(text, **filters))).passages


async def passage(embedder: LocalEmbedder, text: str = GLOVES, **metadata: Any) -> Passage:
    (found,) = await passages(embedder, [Given("own id", text, metadata)])
    return found


@pytest.mark.parametrize(
    ("text", "document", "page"),
    [
        ("What are the safety protocols?", "safety_manual.pdf", 5),
        ("What are the safety protocols for handling chemicals?", "safety_manual.pdf", 5),
        ("What is the company vacation policy?", "hr_policy.pdf", 12),
    ],
)
async def test_the_documents_own_questions_are_answered(
    fill: Fill, embedder: LocalEmbedder, text: str, document: str, page: int
):
    answer = await answered(await fill(embedded(embedder, DOCUMENTS)), embedder, asking(text))

    first = answer.context[answer.cited[0] - 1]
    assert answer.answered
    assert answer.confidence > 0.5
    assert (first.document_name, first.page_number) == (document, page)
    assert first.stored_id in {"chunk_id_1", "chunk_id_3"}


async def test_a_filtered_question_is_judged_as_in_a_small_collection(embedder: LocalEmbedder):
    others = [
        Given(f"other {n}", f"Room {n} is on floor {n % 7}.", {"source_doc": "rooms.pdf"}) for n in range(400)
    ]
    reader = in_memory(embedded(embedder, [*DOCUMENTS, *others]))
    question = "What are the safety protocols?"

    alone = await answered(in_memory(embedded(embedder, DOCUMENTS[:2])), embedder, asking(question))
    among = await answered(reader, embedder, asking(question, source="safety_manual.pdf"))

    assert among.confidence == pytest.approx(alone.confidence)
    assert among.text == alone.text


async def test_what_nothing_tells_is_not_answered(fill: Fill, embedder: LocalEmbedder):
    reader = await fill(embedded(embedder, DOCUMENTS))

    answer = await answered(reader, embedder, asking("What is the meaning of life?"))

    assert (answer.answered, answer.reason) == (False, "below_threshold")
    assert answer.confidence < 0.1


async def test_headings_are_read_and_never_quoted(embedder: LocalEmbedder):
    reader = in_memory(embedded(embedder, DOCUMENTS))

    answer = await answered(reader, embedder, asking("What are the safety protocols?"))

    assert answer.context[0].content == GLOVES
    assert "Safety Protocols" not in answer.text
    for found in answer.context:
        assert all(0 <= one.start < one.end <= len(found.content) for one in found.sentences)


async def test_nothing_in_an_empty_collection(fill: Fill, embedder: LocalEmbedder):
    answer = await answered(await fill([]), embedder, asking("What are the safety protocols?"))

    assert (answer.answered, answer.reason, answer.confidence) == (False, "no_documents", 0.0)


async def test_a_filter_that_nothing_passes_is_told_apart(fill: Fill, embedder: LocalEmbedder):
    reader = await fill(embedded(embedder, DOCUMENTS))

    answer = await answered(reader, embedder, asking("What are the safety protocols?", source="other.pdf"))

    assert (answer.answered, answer.reason) == (False, "filtered_out")


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({"source": "safety_manual.pdf"}, {1, 2}),
        ({"source": ["hr_policy.pdf", "other.pdf"]}, {3}),
        ({"source": "safety_manual.pdf", "page_number": 7}, {2}),
        ({"page_number": [5, 12]}, {1, 3}),
        ({"page_number": 5, "source_type": "pdf"}, {1}),
        ({"source_type": "docx"}, set()),
        ({}, {1, 2, 3}),
    ],
)
async def test_filters(fill: Fill, embedder: LocalEmbedder, filters: dict, expected: set[int]):
    retriever = CollectionRetriever(await fill(embedded(embedder, DOCUMENTS)), embedder)

    found = await retriever.retrieve(asking("chemicals", **filters))

    assert {int(one.stored_id[-1]) for one in found.passages} == expected


@pytest.mark.parametrize("key", ["source", "file_name", "filename", "document"])
async def test_the_source_is_found_under_other_keys(fill: Fill, embedder: LocalEmbedder, key: str):
    given = [Given("a", GLOVES, {key: "manual.pdf"}), Given("b", "Wash your hands.", {key: "b.pdf"})]
    retriever = CollectionRetriever(await fill(embedded(embedder, given)), embedder)

    found = await retriever.retrieve(asking("chemicals", source="manual.pdf"))

    assert [one.document_name for one in found.passages] == ["manual.pdf"]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        *((one, 5) for one in (5, "5", 5.0, " 5 ", "5.0")),
        *((one, None) for one in (0, -1, "v", 2.5, True, None, float("nan"), 1e300, [5], "9" * 400)),
    ],
)
async def test_pages_as_others_write_them(embedder: LocalEmbedder, given: Any, expected: int | None):
    assert (await passage(embedder, page_number=given)).page_number == expected


@pytest.mark.parametrize(
    ("metadata", "name"),
    [
        ({"source_doc": "a.pdf", "source": "b.pdf"}, "a.pdf"),
        ({"source_doc": "", "source": "b.pdf"}, "b.pdf"),
        ({"source_doc": None, "file_name": "c\nd\x00.pdf"}, "c d.pdf"),
        ({"source_doc": {"name": "x"}, "document": "e.pdf"}, "e.pdf"),
        ({"source_doc": 2024}, "2024"),
        ({}, "own id"),
    ],
)
async def test_documents_without_their_name(embedder: LocalEmbedder, metadata: dict, name: str):
    found = await passage(embedder, **metadata)

    assert (found.document_name, found.stored_id) == (name, "own id")


@pytest.mark.parametrize(
    ("text", "content"),
    [
        ("Wear\x00 gloves\ud800.\x07", "Wear gloves."),
        ("  Wear\r\ngloves.\u200b ", "Wear\ngloves."),
        ("ﬁre door", "fire door"),
    ],
)
async def test_hostile_texts_are_cleaned(embedder: LocalEmbedder, text: str, content: str):
    assert (await passage(embedder, text)).content == content


async def test_what_cannot_be_seen_is_left_out(embedder: LocalEmbedder):
    given = [Given("a", GLOVES), Given("b", None), Given("c", ""), Given("d", " \n\u200b\u3164")]

    assert [one.stored_id for one in await passages(embedder, given)] == ["a"]


async def test_a_very_long_text_is_cut_between_words(embedder: LocalEmbedder):
    found = await passage(embedder, "gloves " * 100_000)

    assert 9_000 < len(found.content) <= 10_000
    assert found.content.endswith("gloves")


async def test_equal_texts_come_once(fill: Fill, embedder: LocalEmbedder):
    given = [Given(f"copy {n}", GLOVES.replace(" ", " " * (1 + n % 2))) for n in range(9)]
    retriever = CollectionRetriever(
        await fill(embedded(embedder, [*given, Given("other", "Wash.")])), embedder
    )

    found = await retriever.retrieve(asking("chemicals"))

    assert len(found.passages) == 2


async def test_a_sentence_that_two_chunks_share_is_answered_once(embedder: LocalEmbedder):
    first = "Gloves must be worn in the laboratory at all times. Eyewear must be worn as well."
    second = "Eyewear must be worn as well. Coats are worn over the gloves and the sleeves."
    given = [
        Given("a", first, {"source_doc": "m.pdf", "chunk_index": 3}),
        Given("b", second, {"source_doc": "m.pdf", "chunk_index": 4}),
        Given("c", "Gloves must be worn near the furnace, too.", {"source_doc": "m.pdf"}),
    ]
    reader = in_memory(embedded(embedder, given))

    answer = await answered(reader, embedder, asking("When must eyewear be worn in the laboratory?"))

    assert answer.answered
    assert answer.text.count("Eyewear must be worn as well") == 1


async def test_ids_stay_the_same_from_question_to_question(embedder: LocalEmbedder):
    one, other = await passages(embedder, DOCUMENTS), await passages(embedder, DOCUMENTS, "vacation")

    assert {p.stored_id: p.chunk_id for p in one} == {p.stored_id: p.chunk_id for p in other}
    assert len({p.chunk_id for p in one}) == 3
    assert len({p.document_id for p in one}) == 2


async def test_a_question_that_cannot_be_embedded(embedder: LocalEmbedder):
    class Broken(LocalEmbedder):
        async def aembed_query(self, text: str) -> Any:
            raise EmbedderUnavailable("The model is away.")

    retriever = CollectionRetriever(in_memory(DOCUMENTS), Broken(models_dir="."))

    with pytest.raises(RetrievalFailed, match="The model is away"):
        await retriever.retrieve(asking("chemicals"))
