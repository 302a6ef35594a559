"""What a deleted document said is in no record, whichever came first; what replaced it is told apart."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.db import connection
from psycopg import AsyncConnection
from psycopg.rows import dict_row

from documents.access import FULL
from documents.models import Chunk, Document
from rag.history import recorder
from rag.history.queries import delete_old_queries, get_query
from rag.history.recorder import Recorder, record_query
from rag.history.records import QueryRecord
from rag.models import Query
from rag.types.answer import Contradiction
from tests.history.making import FACT, answer_of, passages_of, record_of, stored_document, unanswered
from tests.rag.factory import question
from tests.support.waiting import wait_until

WAITING = """
    SELECT count(*) FROM pg_stat_activity
    WHERE datname = current_database() AND wait_event_type = 'Lock' AND pid <> pg_backend_pid()
"""
DELETE = "DELETE FROM documents_document WHERE id = %s"
OLD = "UPDATE rag_query SET created_at = now() - interval '31 days' WHERE id = ANY(%s)"


async def recorded_of(document: Document, recording: Recorder) -> QueryRecord:
    one = await of(document)
    record_query(one)
    await recording.flush()
    return one


async def of(document: Document) -> QueryRecord:
    passages = await sync_to_async(passages_of)(document)
    return record_of(answer_of(*passages, contradicted=(Contradiction(0, 10, ("Quellenwort",)),)))


@asynccontextmanager
async def own_connection() -> AsyncIterator[AsyncConnection[Any]]:
    database = connection.settings_dict
    async with await AsyncConnection.connect(
        host=database["HOST"], dbname=database["NAME"], user=database["USER"], row_factory=dict_row
    ) as other:
        yield other


@sync_to_async
def somebody_waits() -> None:
    def waits() -> bool:
        with connection.cursor() as cursor:
            cursor.execute(WAITING)
            return bool(cursor.fetchone()[0])

    wait_until(waits, what="a statement that waits for a lock")


@sync_to_async
def assert_gone(one: QueryRecord) -> None:
    explained = get_query(one.query_id, access=FULL)
    (citation,) = explained.citations
    assert (citation.status, citation.gone) == ("gone", True)
    assert (citation.title, citation.quoted_text) == ("", "")
    assert explained.response is not None
    assert (explained.response.answer, explained.response.quotes_gone) == ("", True)
    assert explained.response.contradicted == []
    assert [(row.status, row.title) for row in explained.retrievals] == [("gone", None)]
    assert explained.query.answered


async def test_deleted_after_it_was_quoted(recording: Recorder):
    kept, document = await sync_to_async(stored_document)("kept.md"), await sync_to_async(stored_document)()
    other, one = await recorded_of(kept, recording), await recorded_of(document, recording)

    await document.adelete()

    await assert_gone(one)
    told = await sync_to_async(get_query)(other.query_id, access=FULL)
    assert [citation.quoted_text for citation in told.citations] == [FACT]
    assert told.response.answer
    assert told.response.contradicted


async def test_deleted_before_it_is_written(recording: Recorder):
    document = await sync_to_async(stored_document)()
    one = await of(document)
    await Document.objects.filter(id=document.id).adelete()

    record_query(one)
    await recording.flush()

    await assert_gone(one)


async def test_deleted_while_it_is_written_the_deletion_first(recording: Recorder):
    document = await sync_to_async(stored_document)()
    one = await of(document)
    async with own_connection() as other:
        await other.execute(DELETE, [document.id])

        record_query(one)
        writing_it = asyncio.create_task(recording.flush())
        await somebody_waits()
        await other.commit()
        await writing_it

    await assert_gone(one)


async def test_deleted_while_it_is_written_the_record_first(
    recording: Recorder, monkeypatch: pytest.MonkeyPatch
):
    document = await sync_to_async(stored_document)()
    one = await of(document)
    async with own_connection() as other, own_connection() as deleting:

        async def fetch_all(sql: str, params: Any) -> list[Any]:
            return await (await other.execute(sql, params)).fetchall()

        monkeypatch.setattr(recorder, "fetch_all", fetch_all)
        record_query(one)
        await recording.flush()  # not committed
        deletion = asyncio.create_task(deleting.execute(DELETE, [document.id]))
        await somebody_waits()
        await other.commit()
        await deletion
        await deleting.commit()

    await assert_gone(one)


async def test_what_a_follow_up_took_from_it_goes_too(recording: Recorder):
    """Questions before, and of other conversations, keep theirs."""
    document = await sync_to_async(stored_document)()
    follow_up = question("Who knows Quellenwort?", original="Who knows it?")
    before, quoting, after, elsewhere = (
        record_of(answer, conversation_id=conversation)
        for answer, conversation in (
            (unanswered(question=follow_up), "one"),
            ((await of(document)).answer, "one"),
            (unanswered(question=follow_up), "one"),
            (unanswered(question=follow_up), "two"),
        )
    )
    for one in (before, quoting, after, elsewhere):
        record_query(one)
    await recording.flush()
    created = datetime.now(UTC)
    for minutes, one in enumerate((before, quoting, after)):
        moment = created + timedelta(minutes=minutes)
        await Query.objects.filter(id=one.query_id).aupdate(created_at=moment)

    await document.adelete()

    asked = {query.id: query async for query in Query.objects.all()}
    assert {query.original_query for query in asked.values()} == {"Who knows it?", quoting.question.text}
    assert asked[after.query_id].rewritten_query == ""
    assert asked[after.query_id].again().text == "Who knows it?"
    for one in (before, elsewhere):
        assert asked[one.query_id].rewritten_query == follow_up.text


async def test_a_replaced_document_is_still_there_and_said_to_be_another(recording: Recorder):
    document = await sync_to_async(stored_document)()
    one = await recorded_of(document, recording)

    await Chunk.objects.filter(document=document).adelete()

    told = await sync_to_async(get_query)(one.query_id, access=FULL)
    assert [(row.status, row.quoted_text) for row in told.citations] == [("replaced", FACT)]
    assert [(row.status, row.title) for row in told.retrievals] == [("replaced", "vault")]
    assert not told.response.quotes_gone


async def test_old_queries_go_by_themselves_with_all_that_is_theirs(recording: Recorder, settings: Any):
    document = await sync_to_async(stored_document)()
    old, young = await recorded_of(document, recording), await recorded_of(document, recording)
    unknown = record_of(unanswered())
    record_query(unknown)
    await recording.flush()
    async with own_connection() as other:
        await other.execute(OLD, [[old.query_id, unknown.query_id]])

    settings.QUERY_RETENTION_DAYS = 32
    assert await sync_to_async(delete_old_queries)() == 0
    settings.QUERY_RETENTION_DAYS = 30
    assert await sync_to_async(delete_old_queries)() == 2

    assert [query.id async for query in Query.objects.all()] == [young.query_id]
    async with own_connection() as other:
        for table, column in (
            ("citation", "response_id"),
            ("retrieval", "query_id"),
            ("response", "query_id"),
        ):
            rows = await other.execute(f"SELECT DISTINCT {column} AS id FROM rag_{table}")
            assert [row["id"] for row in await rows.fetchall()] == [young.query_id]


MANY = """
    WITH asked AS (
        INSERT INTO rag_query (id, face, conversation_id, original_query, rewritten_query, collection_ids,
            filters, settings, answered, reason, error, retrieved, confidence, cached, latency_ms, stage_ms,
            embedding_model, reranker, rewriting, created_at)
        SELECT gen_random_uuid(), 'query', 'always', 'Who?', 'Who?', '{}', '{}', '{}', true, '', '', 1, 0.9,
            false, 1, '{}', '', '', '', now() + make_interval(secs => n) FROM generate_series(1, 3000) n
        RETURNING id
    ), answered AS (
        INSERT INTO rag_response (query_id, answer, quotes_gone, model, prompt_version, input_tokens,
            output_tokens, created_at)
        SELECT id, 'x', false, '', '', 0, 0, now() FROM asked RETURNING query_id
    )
    INSERT INTO rag_citation (response_id, position, citation_index, chunk_id, document_id, title,
        quoted_text, start_char, end_char, answer_start, answer_end, support, gone)
    SELECT query_id, 0, 1, query_id, %s, '', 'x', 0, 1, 0, 1, 'exact', false FROM answered
"""


async def test_a_conversation_of_thousands_does_not_hold_up_a_deletion(recording: Recorder):
    """As of a program that sends the same conversation_id with every question."""
    document = await sync_to_async(stored_document)()

    @sync_to_async
    def insert_and_delete() -> None:
        with connection.cursor() as cursor:
            cursor.execute(MANY, [document.id])
            cursor.execute("SET statement_timeout = 1500")
            cursor.execute(DELETE, [document.id])
            cursor.execute("RESET statement_timeout")

    await insert_and_delete()
    assert await Query.objects.exclude(rewritten_query="").acount() == 1
