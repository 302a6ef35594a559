"""Questions of a collection that somebody else filled, with the metadata of the Service's document."""

import json
from collections.abc import Sequence

import pytest

from embeddings.embedders.local import LocalEmbedder
from rag.pipeline import Pipeline
from rag.relevance import assess
from rag.rerankers.sentence import SentenceReranker
from rag.retrievers.foreign.filters import filters_of
from rag.retrievers.foreign.protocols import CollectionReader
from rag.retrievers.foreign.retriever import ForeignRetriever
from rag.synthesizers.extractive import ExtractiveSynthesizer
from rag.types import Answer, Passage, Question
from tests.foreign.filling import Fill, Given, embedded, in_memory

SAFETY = {
    "source_doc": "safety_manual.pdf",
    "source_type": "pdf",
    "section_title": "Chemical Handling",
    "related_topic": "Safety Protocols",
    "validation_status": json.dumps({"contradiction_check": True, "duplicate_check": True}),
}
HR = {"source_doc": "hr_policy.pdf", "source_type": "pdf", "related_topic": "Human Resources"}
DOCUMENTS = [
    Given(
        "chunk_id_1",
        "All personnel must wear protective eyewear and gloves when handling Class A chemicals.",
        {**SAFETY, "page_number": 5, "chunk_index": 0},
    ),
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


def retriever(reader: CollectionReader, embedder: LocalEmbedder) -> ForeignRetriever:
    return ForeignRetriever(reader, embedder)


async def asked(reader: CollectionReader, embedder: LocalEmbedder, text: str, **filters: object) -> Answer:
    question = Question(text, (), 5, min_relevance=0.5, filters=filters_of(filters))
    found = ForeignRetriever(reader, embedder)
    return await Pipeline(found, SentenceReranker(), assess, ExtractiveSynthesizer()).answer(question)


async def passages(
    embedder: LocalEmbedder, given: Sequence[Given], text: str = "chemicals"
) -> tuple[Passage, ...]:
    found = await ForeignRetriever(in_memory(embedded(embedder, given)), embedder).retrieve(
        Question(text, (), 5)
    )
    return found.passages


@pytest.mark.parametrize(
    ("text", "document", "page"),
    [
        ("What are the safety protocols for handling chemicals?", "safety_manual.pdf", 5),
        ("What is the company vacation policy?", "hr_policy.pdf", 12),
    ],
)
async def test_the_documents_own_questions_are_answered(
    fill: Fill, embedder: LocalEmbedder, text: str, document: str, page: int
):
    answer = await asked(await fill(embedded(embedder, DOCUMENTS)), embedder, text)

    first = answer.context[answer.cited[0] - 1]
    assert answer.answered
    assert answer.confidence > 0.5
    assert (first.document_name, first.page_number) == (document, page)
    assert first.stored_id in {"chunk_id_1", "chunk_id_3"}


async def test_what_nothing_tells_is_not_answered(fill: Fill, embedder: LocalEmbedder):
    answer = await asked(await fill(embedded(embedder, DOCUMENTS)), embedder, "What is the meaning of life?")

    assert (answer.answered, answer.reason) == (False, "below_threshold")
    assert answer.confidence < 0.5
