"""One deadline for the whole request: each stage gets what those before it left."""

import asyncio
import time
from collections.abc import AsyncGenerator, Iterator
from functools import partial

import httpx
import pytest

from knowlex.base.errors import RetrievalFailed, SynthesisFailed, SynthesisTimeout
from rag.answering.pipeline import Pipeline
from rag.local_models import FAILURES, Limit
from rag.types.answer import Synthesis, Usage
from rag.types.context import Context
from rag.types.question import Question
from rag.types.retrieval import Retrieval
from tests.answers.asking import QUESTION, Library
from tests.provider import Provider
from tests.rag.factory import CannedRetriever, CannedSynthesizer, KeepOrder, as_given, passage, question
from tests.support.api import assert_problem, together


class NeverFinds:
    async def retrieve(self, question: Question) -> Retrieval:
        return await asyncio.Event().wait()  # type: ignore[return-value]


class NeverEnds(CannedSynthesizer):
    """Writes its text, and then nothing more."""

    async def synthesize(self, question: Question, context: Context) -> Synthesis:
        return await asyncio.Event().wait()  # type: ignore[return-value]

    async def stream(self, question: Question, context: Context) -> AsyncGenerator[str | Usage]:
        yield self.text
        await asyncio.Event().wait()


class BreaksOff(CannedSynthesizer):
    async def stream(self, question: Question, context: Context) -> AsyncGenerator[str | Usage]:
        yield self.text


def soon() -> Question:
    return question(deadline=time.monotonic() + 0.02)


def answering(synthesizer: CannedSynthesizer) -> Pipeline:
    return Pipeline(CannedRetriever(passage(1)), KeepOrder(), as_given, synthesizer)


async def test_a_search_beyond_the_deadline_has_failed():
    pipeline = Pipeline(NeverFinds(), KeepOrder(), as_given, CannedSynthesizer("x"))
    for work in (pipeline.answer, pipeline.search):
        with pytest.raises(RetrievalFailed):
            await work(soon())
    with pytest.raises(RetrievalFailed):
        await anext(pipeline.stream(soon()))


async def test_an_answer_beyond_the_deadline_was_not_written_in_time():
    pipeline = answering(NeverEnds("Fact number 1"))
    with pytest.raises(SynthesisTimeout):
        await pipeline.answer(soon())
    with pytest.raises(SynthesisTimeout):
        _ = [event async for event in pipeline.stream(soon())]


async def test_a_stream_that_ends_without_the_usage_was_cut_off():
    with pytest.raises(SynthesisFailed):
        _ = [event async for event in answering(BreaksOff("Fact number 1 is true [1].")).stream(question())]


def test_optional_stages_get_half_of_what_is_left():
    assert question().spare(3.0) == 3.0
    assert question(deadline=time.monotonic() + 100).spare(3.0) == 3.0
    assert 0 < question(deadline=time.monotonic() + 4).spare(3.0) <= 2.0
    assert question(deadline=time.monotonic() - 1).spare(3.0) == 0.0


async def test_a_question_without_time_is_no_failure_of_the_reranker():
    limit = Limit(60.0)
    for _ in range(FAILURES + 1):
        assert await limit.call(asyncio.Event().wait, within_s=0.001) is None
    assert not limit.resting


@pytest.fixture
def hurried(library: Library) -> Iterator[httpx.Client]:
    """A web server beside the library's own that has three seconds for an answer."""
    with library.stack.another_web(KNOWLEX_ANSWER_TIMEOUT_SECONDS="3") as client:
        yield client


def test_every_face_answers_within_the_deadline(hurried: httpx.Client, provider: Provider):
    faces = [
        ("/v1/query", "query"),
        ("/query", "query"),
        ("/query", "question"),
        ("/api/v1/rag/ask", "query"),
    ]
    headers = [{}, {"Accept": "text/event-stream"}]
    asking = [(path, field, header) for path, field in faces for header in headers]
    for held, code in (("chat", "SYNTHESIS_FAILED"), ("embeddings", "RETRIEVAL_FAILED")):
        provider.hold(on=held)
        text = f"{QUESTION} {held}"

        def send(path: str, field: str, header: dict[str, str], text: str = text) -> httpx.Response:
            return hurried.post(path, json={field: text}, headers=header)

        started = time.monotonic()
        replies = together([partial(send, *one) for one in asking])
        assert time.monotonic() - started < 15  # one after the other they would take 24 s
        for (path, _, _), reply in zip(asking, replies, strict=True):
            said = "SERVICE_UNAVAILABLE" if path == "/v1/query" else code
            assert_problem(reply, 500 if path == "/api/v1/rag/ask" else 503, said)
        provider.forget_rules()
