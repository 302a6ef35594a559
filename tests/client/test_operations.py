"""Every operation of the schema, called by the client over HTTP; no field of an answer is unknown to it."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeVar

import pytest
from pydantic import BaseModel

from knowlex_client import Knowlex, Operation, operations
from knowlex_client.models import BookResponse, QueryResponse, QueuedEmbeddings
from samples.client import CLIENT, render_from_server
from tests.support.pdf import make_pdf
from tests.support.stack import Stack
from tests.support.waiting import wait_until

T = TypeVar("T")
TEXT = "The lighthouse of Norderney has 253 steps. It was lit for the first time on 1 October 1874."
LAMP = "# Lamps\n\nThe lamp in the hall is green. The lamp in the kitchen is red."
STEPS = {"query": "How many steps does the lighthouse have?"}
PDF = ("norderney.pdf", make_pdf(TEXT))
QUESTIONS = b'{"question": "How many steps does the lighthouse have?", "answers": ["253"]}\n'


class Caller:
    """Calls through the client, and notes which operations it called."""

    def __init__(self, client: Knowlex) -> None:
        self._client = client
        self.called: set[str] = set()

    def __call__(self, operation: Operation[T], body: Any = None, **parameters: Any) -> T:
        answer = self._client.call(operation, body, **parameters)
        self.called.add(operation.name)
        assert list(unknown_fields(answer)) == [], operation.name
        return answer


def unknown_fields(value: Any) -> Iterator[str]:
    """The fields of an answer that its models do not have."""
    if isinstance(value, BaseModel):
        yield from (f"{type(value).__name__}.{name}" for name in value.model_extra or ())
        value = dict(value)
    items = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for item in items:
        yield from unknown_fields(item)


def called(server: Stack) -> set[str]:
    with Knowlex(server.url, timeout_s=90) as client:
        call = Caller(client)
        collection = call_collections(call)
        call_documents(call, collection)
        call_uploads(call)
        call_questions(call)
        call_evaluations(call)
        call_webhooks(call)
        call_sources(call, server.folder / "sources" / "handbooks")
        call(operations.delete_collection, collection_id=collection)
        return call.called


def call_collections(call: Caller) -> Any:
    made = call(operations.create_collection, {"name": "Manuals", "description": "What came along."})
    changed = call(operations.change_collection, {"description": "Of machines."}, collection_id=made.id)
    assert call(operations.get_collection, collection_id=made.id).description == changed.description
    assert made.name in {one.name for one in call(operations.list_collections, limit=50).collections}
    return made.id


def call_documents(call: Caller, collection: Any) -> None:
    job = call(operations.ingest, {"file": [PDF, ("lamps.md", LAMP.encode())], "collection_id": "Manuals"})
    report = call(operations.get_job, job_id=job.job_id, wait=60)
    pdf, lamps = (document.id for document in report.documents)
    assert report.status == "completed"
    assert call(operations.get_collection_stats, collection_id=collection).document_count == 2
    assert call(operations.list_jobs, collection="Manuals").jobs[0].job_id == job.job_id
    assert call(operations.retry_job, job_id=job.job_id).documents_retried == 0
    assert len(call(operations.list_platform_documents, collection="Manuals").documents) == 2
    document = call(operations.get_platform_document, document_id=pdf)
    start = document.content.index("253 steps")
    assert (
        call(operations.list_platform_chunks, document_id=pdf).chunks[0].content.startswith("The lighthouse")
    )
    assert call(operations.get_file, document_id=pdf) == PDF[1]
    assert call(operations.get_pages, document_id=pdf).pages[0].page_number == 1
    assert "253 steps" in call(operations.get_page, document_id=pdf, number=1).text
    assert call(operations.get_page_image, document_id=pdf, number=1, width=400).startswith(b"\x89PNG")
    marked = call(operations.get_highlights, document_id=pdf, start=start, end=start + 9)
    assert marked.quoted_text == "253 steps"
    assert call(operations.retry_document, document_id=pdf).document_id == pdf
    replaced = call(
        operations.replace_document, b"# Lamps\n\nThe lamp is blue.", media_type="text/markdown",
        document_id=lamps, filename="lamps.md",
    )  # fmt: skip
    assert replaced.status == "accepted"
    call(operations.get_job, job_id=replaced.job_id, wait=60)
    call(operations.delete_platform_document, document_id=lamps)


def call_uploads(call: Caller) -> None:
    uploaded = call(operations.upload_document, {"file": PDF})
    assert "Embedded" in call(operations.generate_document_embeddings, documentId=uploaded.documentId)
    assert isinstance(call(operations.generate_embeddings, Prefer="respond-async"), QueuedEmbeddings)
    assert call(operations.search_embeddings, "How many steps?", k=3)[0].documentId == uploaded.documentId
    assert call(operations.list_documents)[0].id == uploaded.documentId
    assert call(operations.get_document, documentId=uploaded.documentId).totalChunks == 1
    assert "253" in call(operations.list_chunks, documentId=uploaded.documentId)[0].content
    assert call(operations.list_pages, documentId=uploaded.documentId)[0].number == 1
    assert "253" in call(operations.ask, STEPS).answer
    assert isinstance(call(operations.query, STEPS), QueryResponse)
    assert isinstance(call(operations.rag_query, {"question": STEPS["query"]}), BookResponse)
    call(operations.delete_document, documentId=uploaded.documentId)


def call_questions(call: Caller) -> None:
    assert call(operations.health).database == "connected"
    assert "knowlex_" in call(operations.metrics)
    assert {one.id for one in call(operations.list_models).data} >= {"knowlex", "knowlex/Manuals"}
    assert call(operations.get_model, model="knowlex/Manuals").id == "knowlex/Manuals"
    messages = [{"role": "user", "content": STEPS["query"]}]
    chat = call(operations.create_chat_completion, {"model": "knowlex/Manuals", "messages": messages})
    assert "253" in chat.choices[0].message.content
    assert len(call(operations.create_embeddings, {"input": "steps"}).data) == 1
    assert call(operations.search, STEPS | {"collections": ["Manuals"]}).results[0].page_number == 1
    retrieval = {"knowledge_id": "Manuals", "retrieval_setting": {"top_k": 3, "score_threshold": 0.5}}
    assert "253" in call(operations.dify_retrieval, STEPS | retrieval).records[0].content
    suggestion = call(operations.suggest_spelling, q="How many stebs has the lighthouse?").suggestion
    assert suggestion == "How many steps has the lighthouse?"
    asked = call(operations.platform_query, STEPS | {"settings": {"response_format": "json"}})
    query_id = asked.query_id
    wait_until(
        lambda: query_id in {one.query_id for one in call(operations.list_queries, answered=True).queries},
        what="the answer's record",
    )
    assert call(operations.get_query, query_id=query_id).query == STEPS["query"]
    assert call(operations.replay_query, query_id=query_id).changes is not None
    assert call(operations.give_feedback, {"query_id": str(query_id), "rating": "thumbs_up"})
    assert call(operations.list_conversations).conversations
    turns = call(operations.get_conversation, conversation_id=asked.conversation_id).turns
    assert turns[0].query_id == query_id
    call(operations.delete_query, query_id=query_id)


def call_evaluations(call: Caller) -> None:
    made = call(operations.create_question_set, QUESTIONS, name="steps", collection="Manuals")
    assert call(operations.get_question_set, set_id=made.id).questions[0].answers == ["253"]
    assert call(operations.list_question_sets).question_sets[0].id == made.id
    run = call(operations.create_evaluation, {"question_set": "steps"})
    wait_until(
        lambda: call(operations.get_evaluation, evaluation_id=run.id).status == "completed",
        what="the evaluation",
    )
    assert call(operations.list_evaluations).evaluations[0].id == run.id
    assert call(operations.plot_evaluation, evaluation_id=run.id).startswith("<svg")
    call(operations.delete_evaluation, evaluation_id=run.id)
    call(operations.delete_question_set, set_id=made.id)


def call_webhooks(call: Caller) -> None:
    made = call(operations.create_webhook, {"url": "https://example.com/hook", "events": ["job.ended"]})
    changed = call(operations.change_webhook, {"events": ["evaluation.ended"]}, webhook_id=made.id)
    assert call(operations.get_webhook, webhook_id=made.id).events == changed.events
    assert [one.id for one in call(operations.list_webhooks).webhooks] == [made.id]
    call(operations.delete_webhook, webhook_id=made.id)


def call_sources(call: Caller, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "lamp.md").write_text(LAMP)
    new = {"name": "handbooks", "collection": "Manuals", "kind": "folder", "config": {"path": str(folder)}}
    made = call(operations.create_source, new)
    call(operations.change_source, {"every_minutes": 60}, source_id=made.id)
    assert call(operations.list_sources, collection="Manuals").sources[0].every_minutes == 60
    call(operations.sync_source, {}, source_id=made.id)
    wait_until(
        lambda: call(operations.get_source, source_id=made.id).state not in ("pending", "running"),
        what="the source's run",
    )
    (item,) = call(operations.list_source_items, source_id=made.id).items
    assert (item.path, item.state) == ("lamp.md", "taken")
    assert call(operations.delete_source, source_id=made.id, documents="delete").documents_removed == 1


def test_every_operation_of_the_schema_is_called_and_every_answer_is_read(server: Stack) -> None:
    paths = server.client.get("/api/schema").json()["paths"]
    named = [operation["operationId"] for item in paths.values() for operation in item.values()]
    described = {re.sub("(?<!^)(?=[A-Z])", "_", name).lower() for name in named}

    assert (described - set(operations.ALL), set(operations.ALL) - described) == (set(), set())
    assert described - called(server) == set()


@pytest.mark.parametrize("name", ["models.py", "operations.py"])
def test_what_is_written_from_the_schema_is_up_to_date(name: str) -> None:
    assert (CLIENT / name).read_text() == render_from_server()[name], "`make client` writes it anew"
