"""Records on their way into the database."""

import asyncio
from typing import Any

import pytest
from asgiref.sync import sync_to_async

from knowlex.base.errors import DatabaseUnavailable
from knowlex.base.ids import new_id
from knowlex.runtime.metrics import REGISTRY
from rag.history import recorder as recording_module
from rag.history.recorder import Recorder, is_pending, record_query
from rag.history.records import QueryRecord
from rag.models import Citation, Query, Response, Retrieval
from rag.types.answer import Citation as Claim
from rag.types.answer import Contradiction, Verification
from rag.types.question import Filters, MetadataFilter
from tests.history.making import (
    FACT,
    answer_of,
    passages_of,
    record_of,
    stored_document,
    unanswered,
)
from tests.rag.factory import passage, question
from tests.support.waiting import wait_until

document_of = sync_to_async(stored_document)
passages_in = sync_to_async(passages_of)


async def written(recording: Recorder, *records: QueryRecord) -> None:
    for one in records:
        record_query(one)
    await recording.flush()


async def test_all_of_an_answer_is_written(recording: Recorder):
    document = await document_of("vault.md", f"{FACT} Nobody else knows it.", "Another chunk.")
    first, second = await passages_in(document)
    key_id, replayed = new_id(), new_id()
    one = record_of(
        answer_of(first, candidates=(second, first), passages=(second, first), rewriting="done"),
        key_id=key_id, conversation_id="c", cached=True, replay_of=replayed, pages=(7,),
    )  # fmt: skip

    await written(recording, one)

    query = await Query.objects.aget(id=one.query_id)
    assert (query.key_id, query.face, query.conversation_id, query.cached) == (key_id, "platform", "c", True)
    assert (query.original_query, query.rewritten_query) == ("What is the secret word of the vault?", "")
    assert (query.answered, query.reason, query.error, query.replay_of) == (True, "", "", replayed)
    assert (query.retrieved, query.confidence, query.latency_ms) == (1, 0.9, 25)
    assert query.stage_ms == {"retrieve": 1.5, "synthesize": 20.0}
    assert (query.embedding_model, query.reranker, query.rewriting) == ("some-embedder", "sentence", "done")
    response = await Response.objects.aget(query=query)
    assert (response.answer, response.model) == (f"{FACT[:-1]} [1].", "chatty-1")
    assert (response.input_tokens, response.output_tokens, response.prompt_version) == (120, 9, "2")
    citation = await Citation.objects.aget(response=response)
    assert (citation.citation_index, citation.quoted_text, citation.title) == (1, FACT, "vault")
    assert (citation.start_char, citation.end_char, citation.page_number) == (0, len(FACT), 7)
    assert (citation.chunk_id, citation.document_id) == (first.chunk_id, document.id)
    found = [row async for row in Retrieval.objects.filter(query=query).order_by("rank")]
    assert [row.chunk_id for row in found] == [second.chunk_id, first.chunk_id]
    assert [(row.rank, row.place, row.context_number) for row in found] == [(1, 1, None), (2, 2, 1)]
    assert [row.dense_score for row in found] == [1 - second.distance, 1 - first.distance]
    assert {row.rerank_score for row in found} == {0.7}
    assert {row.sparse_score for row in found} == {None}


async def test_what_the_check_found_is_written_with_places_in_the_answer_as_it_is_sent(recording: Recorder):
    context = await passages_in(await document_of("vault.md", *(f"Fact {n}." for n in range(12))))
    text = "First fact [11]. It is 54 m tall [11] and red."
    one = answer_of(
        *context,
        text=text,
        citations=(Claim(11, 0, 5, 0, 10, "unverified"),),
        contradicted=(Contradiction(17, len(text) - 1, ("54 m", "red\0")),),
        verification=Verification(unverified=1, contradicted=1),
    )

    await written(recording, record_of(one))

    response = await Response.objects.aget()
    start, end = 16, len(response.answer) - 1
    assert response.answer[start:end] == "It is 54 m tall [1] and red"
    assert response.contradicted == [
        {
            "text": "It is 54 m tall and red",
            "answer_start": start,
            "answer_end": end,
            "missing": ["54 m", "red\ufffd"],
        }
    ]
    assert response.verification == {
        "exact": 0, "supported": 0, "unverified": 1, "contradicted": 1, "uncited": 0
    }  # fmt: skip
    citation = await Citation.objects.aget()
    assert (citation.support, citation.verdict, citation.judged_by) == ("unverified", "", "")
    assert response.answer_relevance is None


async def test_markers_are_numbered_as_v1_numbers_them_and_places_move_along(recording: Recorder):
    document = await document_of("vault.md", *(f"Fact {n}." for n in range(12)))
    context = await passages_in(document)
    text = "First fact [11]. Second fact [2][11]."
    claims = (
        Claim(11, 0, 5, 0, 10, "supported"),
        Claim(2, 0, 5, 17, 28, "exact"),
        Claim(11, 0, 5, 17, 28, "exact"),
    )
    one = record_of(answer_of(*context, text=text, citations=claims))

    await written(recording, one)

    response = await Response.objects.aget(query_id=one.query_id)
    assert response.answer == "First fact [1]. Second fact [2][1]."
    rows = [row async for row in response.citations.all()]
    assert [row.citation_index for row in rows] == [1, 2, 1]
    assert [response.answer[row.answer_start : row.answer_end] for row in rows] == [
        "First fact", "Second fact", "Second fact",
    ]  # fmt: skip


async def test_what_was_asked_with_is_kept_so_that_it_can_be_asked_again(recording: Recorder):
    filters = Filters(
        document_ids=(new_id(),),
        tags=("a", "b"),
        metadata=(MetadataFilter("kind", any_of=("x", True)), MetadataFilter("year", at_least=2020)),
        page_from=2,
        chapters=("One",),
    )
    asked = question("And its colour?", filters=filters, mode="sparse", rerank=True, max_tokens=50)
    one = record_of(unanswered(passage(1), question=asked))

    await written(recording, one)

    query = await Query.objects.aget(id=one.query_id)
    assert query.again() == asked
    assert query.settings == {
        "mode": "sparse", "top_k": 5, "rerank": True, "rewrite": None, "max_tokens": 50, "threshold": 0.8,
    }  # fmt: skip
    assert query.filters["metadata"] == {"year": {"gte": 2020}, "kind": ["x", True]}
    assert query.filters["page"] == {"from": 2}


async def test_a_question_that_failed_has_its_code_and_no_response(recording: Recorder):
    one = record_of(None, error="SYNTHESIS_FAILED")

    await written(recording, one)

    query = await Query.objects.aget(id=one.query_id)
    assert (query.answered, query.error, query.retrieved) == (False, "SYNTHESIS_FAILED", 0)
    assert not await Response.objects.filter(query=query).aexists()


async def test_neighbours_in_the_context_are_told_from_candidates(recording: Recorder):
    document = await document_of("vault.md", FACT, "Next to it.")
    hit, neighbour = await passages_in(document)
    one = record_of(answer_of(hit, neighbour, candidates=(hit,), passages=(hit,)))

    await written(recording, one)

    rows = Retrieval.objects.filter(query_id=one.query_id).order_by("context_number")
    assert [(row.rank, row.place, row.context_number) async for row in rows] == [(1, 1, 1), (None, None, 2)]


async def test_text_that_the_database_cannot_store_loses_only_those_characters(recording: Recorder):
    document = await document_of()
    (found,) = await passages_in(document)
    one = record_of(answer_of(found, text=f"{FACT[:-1]} [1]. \x00\ud800"))

    await written(recording, one)

    assert (await Response.objects.aget(query_id=one.query_id)).answer.endswith(" \ufffd\ufffd")


def lost_records() -> float:
    return REGISTRY.get_sample_value("knowlex_queries_recorded_total", {"result": "lost"}) or 0.0


async def test_one_that_the_database_refuses_takes_no_other_along(recording: Recorder):
    good, bad = record_of(unanswered()), record_of(unanswered(), face="x" * 20)
    lost = lost_records()

    await written(recording, good, bad)

    assert [query.id async for query in Query.objects.all()] == [good.query_id]
    assert lost_records() == lost + 1


async def test_what_is_written_twice_is_there_once(recording: Recorder):
    (found,) = await passages_in(await document_of())
    one = record_of(answer_of(found))

    await written(recording, one)
    await written(recording, one)

    assert [await rows.acount() for rows in (Query.objects, Response.objects, Citation.objects)] == [1, 1, 1]
    assert await Retrieval.objects.acount() == 1


async def test_records_wait_while_the_database_is_away(recording: Recorder, monkeypatch: pytest.MonkeyPatch):
    away = _Away(monkeypatch)
    one = record_of(unanswered())

    await written(recording, one)
    assert is_pending(one.query_id)
    assert recording.away

    away.back()
    await recording.flush()
    assert not is_pending(one.query_id)
    assert await Query.objects.filter(id=one.query_id).aexists()


async def test_the_oldest_make_room(recording: Recorder, monkeypatch: pytest.MonkeyPatch):
    away = _Away(monkeypatch)
    monkeypatch.setattr(recording_module, "MAX_WAITING", 3)
    asked = [record_of(unanswered()) for _ in range(5)]
    lost = lost_records()

    await written(recording, *asked)
    away.back()
    await recording.flush()

    assert {query.id async for query in Query.objects.all()} == {one.query_id for one in asked[2:]}
    assert lost_records() == lost + 2


async def test_they_are_written_by_themselves_and_at_the_end(recording: Recorder):
    one, last = record_of(unanswered()), record_of(unanswered())
    record_query(one)
    await sync_to_async(wait_until)(Query.objects.filter(id=one.query_id).exists, what="the record")

    record_query(last)
    await asyncio.sleep(0)
    await recording.close()
    assert await Query.objects.filter(id=last.query_id).aexists()


async def test_off_means_nothing(recording: Recorder, settings: Any):
    settings.QUERY_LOG = False

    await written(recording, record_of(unanswered()))

    assert not await Query.objects.aexists()


class _Away:
    """The database, for whoever asks it through the loop's pool."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._monkeypatch = monkeypatch.context()
        patch = self._monkeypatch.__enter__()
        patch.setattr("rag.history.recorder.fetch_all", self._fail)

    def back(self) -> None:
        self._monkeypatch.__exit__(None, None, None)

    async def _fail(self, *_: object) -> None:
        raise DatabaseUnavailable("The database cannot be reached.")
