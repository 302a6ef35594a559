"""POST /v1/query: a question to the collections that the caller may read, answered with checked citations."""

from dataclasses import replace

from django.http import HttpRequest, HttpResponseBase

from knowlex.common.http import json_object
from rag.asking import ask
from rag.contracts.asked import answer_response, asker_of
from rag.contracts.v1.answers import answer_body
from rag.contracts.v1.questions import asked_question, conversation_field, reply_settings


async def create(request: HttpRequest) -> HttpResponseBase:
    asker = asker_of(request, "platform")
    body = json_object(request)
    reply = reply_settings(body)
    asker = replace(asker, conversation_id=conversation_field(body))
    question = await asked_question(body, access=asker.access)
    asked = await ask(question, asker)
    return answer_response(asked, answer_body(asked, reply))
