"""Answers as the pipeline makes them, and their records."""

from typing import Any

from documents.models import Chunk, Collection, Document
from knowlex.base.ids import new_id
from rag.history.records import QueryRecord
from rag.types.answer import Answer, Citation, Usage
from rag.types.question import Question
from rag.types.retrieval import Passage
from tests.rag.factory import passage, question

FACT = "The secret word of the vault is Quellenwort."


def stored_document(name: str = "vault.md", *contents: str) -> Document:
    """In `default`, with a chunk for each content."""
    owner, _ = Collection.objects.get_or_create(name="default")
    contents = contents or (f"{FACT} Nobody else knows it.",)
    document = Document.objects.create(
        collection=owner,
        source="MARKDOWN",
        original_filename=name,
        title=name.removesuffix(".md"),
        checksum=new_id().hex * 2,
        size_bytes=1,
        file=f"documents/{new_id()}.md",
        page_count=1,
        chunk_count=len(contents),
    )
    for index, content in enumerate(contents):
        Chunk.objects.create(
            document=document, chunk_index=index, content=content, start_char=100 * index,
            end_char=100 * index + len(content), token_count=10,
        )  # fmt: skip
    return document


def passage_of(chunk: Chunk, **fields: Any) -> Passage:
    given = {
        "chunk_id": chunk.id,
        "document_id": chunk.document_id,
        "title": chunk.document.title,
        "start_char": chunk.start_char,
        "fused_score": 0.03,
        "rerank_score": 0.7,
    }
    return passage(chunk.chunk_index + 1, chunk.content, **{**given, **fields})


def passages_of(document: Document) -> tuple[Passage, ...]:
    return tuple(passage_of(chunk) for chunk in document.chunks.select_related("document"))


def answer_of(*context: Passage, text: str = f"{FACT[:-1]} [1].", **fields: Any) -> Answer:
    """One that cites the first passage, word for word, unless told otherwise."""
    asked: Question = fields.pop("question", None) or question("What is the secret word of the vault?")
    cited = fields.pop("citations", (Citation(1, 0, len(FACT), 0, len(FACT) - 1, "exact"),))
    given: dict[str, Any] = {
        "cited": tuple(dict.fromkeys(one.passage for one in cited)),
        "retrieved": len(context),
        "confidence": 0.9,
        "usage": Usage(120, 9, "chatty-1"),
        "stage_ms": {"retrieve": 1.5, "synthesize": 20.0},
        "passages": context,
        "candidates": context,
        "model_name": "some-embedder",
        "reranker": "sentence",
        "prompt_version": "2",
    }
    return Answer(asked, True, text, context, citations=cited, **{**given, **fields})


def unanswered(*candidates: Passage, reason: Any = "below_threshold", **fields: Any) -> Answer:
    asked: Question = fields.pop("question", None) or question("What is the meaning of life?")
    found = {"candidates": candidates, "passages": candidates, "reason": reason}
    return Answer(asked, False, "", (), (), len(candidates), 0.1, **{**found, **fields})


def record_of(answer: Answer | None, **fields: Any) -> QueryRecord:
    asked = fields.pop("question", None) or (answer.question if answer else question())
    given = {"query_id": new_id(), "face": "platform", "latency_ms": 25}
    return QueryRecord(**{**given, "question": asked, "answer": answer, **fields})
