"""GET /v1/spelling: a question as it may have been meant, where no document has its words."""

from typing import Annotated

from django.http import HttpRequest, HttpResponse
from pydantic import Field

from documents.access import access_of
from knowlex.web.openapi import answer, operation
from knowlex.web.responses import plain_json_response
from knowlex.web.shapes import OutputShape, QuestionText, read_parameters
from rag.answering import services
from rag.api.v1.parameters import InCollection


class SpellingParameters(InCollection):
    q: Annotated[QuestionText, Field(description="The question.")]


class SpellingSuggestion(OutputShape):
    suggestion: Annotated[
        str | None,
        Field(description="The question with words that the documents have; null if all are known."),
    ]


@operation(
    "suggestSpelling",
    "What a question may have meant whose words no document has",
    answer(
        200,
        "Words are compared that differ by one letter, or by two that changed places.",
        SpellingSuggestion,
    ),
    parameters=SpellingParameters,
    failures="404",
)
async def show(request: HttpRequest) -> HttpResponse:
    access, given = access_of(request), read_parameters(request, SpellingParameters)
    if given.collection:
        named = [given.collection]
        question = await services.make_question(given.q, access=access, collections=named, top_k=1)
    else:
        question = await services.make_platform_question(given.q, access=access, collections=(), top_k=1)
    suggestion = await services.suggest(question)
    return plain_json_response(SpellingSuggestion(suggestion=suggestion))
