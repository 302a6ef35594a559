"""POST /v1/query: a question to the collections that the caller may read, answered with checked citations."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from django.http import HttpRequest, HttpResponseBase

from knowlex.web.responses import json_object
from knowlex.web.sse import takes_events, wants_events
from rag.answering.ask import AskResult
from rag.api.common import answer_response, asked_by, asker_of
from rag.api.sse import Telling, event_response
from rag.api.v1.answers import answer_body, by_passage
from rag.api.v1.questions import ReplySettings, asked_question, conversation_field, reply_settings
from rag.citations.numbering import Numbering


async def create(request: HttpRequest) -> HttpResponseBase:
    asker = asker_of(request, "platform")
    body = json_object(request)
    reply = reply_settings(body)
    asker = replace(asker, conversation_id=conversation_field(body))
    question = await asked_question(body, access=asker.access)
    if wants_events(request) or (reply.streaming and takes_events(request)):
        return await event_response(request, question, asker, _telling(reply))
    asked = await asked_by(request, question, asker)
    return answer_response(asked, answer_body(asked, reply))


def _telling(reply: ReplySettings) -> Telling:
    body: Callable[[AskResult], dict[str, Any]] = lambda asked: answer_body(asked, reply)  # noqa: E731
    return Telling(body, lambda _: Numbering(by_passage()), sources="sources", again=False)
