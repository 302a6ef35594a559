"""What stands on the wire while an answer is waited for, fails or is left; driven in this process."""

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from django.http import HttpRequest
from django.test import RequestFactory

from documents.access import FULL
from knowlex.base.errors import SynthesisFailed
from knowlex.base.ids import new_id
from knowlex.web.sse import COMMENT, EventStream, event
from rag.answering.ask import AskResult, Caller, StreamEvent
from rag.api import events as sse
from rag.api.events import AnswerFormat
from rag.citations.numbering import FirstCited, Numbering
from rag.types.answer import Answer, Started
from rag.types.question import Question
from tests.answers.asking import events_in
from tests.rag.factory import passage, question

CONTEXT = (passage(1), passage(2))
FORMAT = AnswerFormat(
    lambda asked: {"answer": asked.answer.text or "Not enough.", "found": []},
    lambda _: Numbering(FirstCited(lambda n: n)),
    sources="found",
)


def asked(text: str) -> AskResult:
    return AskResult(
        Answer(question(), bool(text), text, CONTEXT, (2,) if text else (), 2, 0.9), new_id(), "c", False, 1
    )


class Story:
    """What is told, step by step; a float waits, an exception is raised. closed: nobody listens any more."""

    def __init__(self, *steps: StreamEvent | float | Exception) -> None:
        self._steps, self.closed = steps, False

    async def tell(self, question: Question, asker: Caller) -> AsyncGenerator[StreamEvent]:
        try:
            for step in self._steps:
                if isinstance(step, Exception):
                    raise step
                if isinstance(step, float):
                    await asyncio.sleep(step)
                else:
                    yield step
        finally:
            self.closed = True


def a_request() -> HttpRequest:
    request = RequestFactory().post("/v1/query")
    request.request_id = "the-id"
    return request


@pytest.fixture
def responding(monkeypatch: pytest.MonkeyPatch) -> Any:
    @asynccontextmanager
    async def respond(story: Story, comment_s: float = 9.0) -> AsyncIterator[EventStream]:
        monkeypatch.setattr(sse, "ask_stream", story.tell)
        monkeypatch.setattr(sse, "COMMENT_S", comment_s)
        asker = Caller("platform", FULL)
        response = await sse.event_response(a_request(), question(), asker, FORMAT)
        assert response["X-Query-ID"] == str(asker.query_id)
        try:
            yield response
        finally:
            await response.aclose()
            assert story.closed

    return respond


async def parts(response: EventStream) -> list[bytes]:
    return [part async for part in response]


STARTED = Started(question(), CONTEXT)


async def test_markers_are_numbered_and_the_end_is_told_twice(responding: Any):
    async with responding(Story(STARTED, "It is", " so [2]", ".", asked("It is so [2]."))) as response:
        events = events_in(b"".join(await parts(response)).decode())
    assert [(name, data.get("text")) for name, data in events] == [
        ("token", "It is"),
        ("token", " so "),
        ("token", "[1]."),
        ("sources", None),
        ("done", None),
    ]
    assert events[-2][1] == {"found": [], "sources": []}


@pytest.mark.parametrize(("model_s", "waits_s"), [(2, 9), (9, 9.5), (10, 10.5), (11, 9), (60, 9)])
def test_the_head_waits_for_a_model_that_must_answer_about_when_a_comment_is_due(
    settings: Any, model_s: float, waits_s: float
):
    """Then a failure of the model is an error response, as long as no token was sent."""
    settings.LLM_TIMEOUT_S = model_s
    assert sse._first_wait() == waits_s


async def test_comments_are_sent_while_nothing_comes(responding: Any):
    story = Story(STARTED, 0.2, "It", 0.2, " is", asked("It is"))
    async with responding(story, comment_s=0.01) as response:
        told = await parts(response)
    assert told[0] == COMMENT
    assert told.index(event("token", {"text": "It"})) > 1
    assert told[told.index(event("token", {"text": "It"})) + 1] == COMMENT


async def test_a_failure_after_the_first_token_is_an_event_and_the_end(responding: Any):
    async with responding(Story(STARTED, "It", SynthesisFailed("It broke off."))) as response:
        events = events_in(b"".join(await parts(response)).decode())
    assert [name for name, _ in events] == ["token", "error"]
    assert events[1][1] | {"timestamp": ""} == {
        "status": 503,
        "error": "SERVICE_UNAVAILABLE",
        "message": "It broke off.",
        "details": {},
        "timestamp": "",
        "request_id": "the-id",
    }


async def test_a_bug_in_the_middle_tells_nothing_internal(responding: Any):
    async with responding(Story(STARTED, "It", KeyError("secret"))) as response:
        (_, (name, data)) = events_in(b"".join(await parts(response)).decode())
    assert (name, data["error"]) == ("error", "INTERNAL_ERROR")
    assert "secret" not in json.dumps(data)


async def test_a_failure_before_the_first_token_is_raised(responding: Any):
    story = Story(STARTED, SynthesisFailed("It never began."))
    with pytest.raises(SynthesisFailed):
        async with responding(story):
            pass
    assert story.closed


async def test_a_response_that_nobody_reads_ends_what_it_comes_from(responding: Any):
    ended: list[bool] = []
    async with responding(Story(STARTED, "It", 60.0)) as response:
        response.on_end.append(ended.append)
    assert ended == [False]


async def test_a_reader_who_leaves_in_the_middle_ends_it_too(responding: Any):
    async with responding(Story(STARTED, "It", 60.0, "is")) as response:
        assert await anext(aiter(response)) == event("token", {"text": "It"})


def test_an_event_is_two_lines_of_valid_utf8_whatever_it_holds():
    made = event("token", {"text": 'a\nb\r\n\u2028 "\ud800 é'})
    assert made.count(b"\n") == 3
    assert made.decode().splitlines()[0] == "event: token"
    assert b"\r" not in made
