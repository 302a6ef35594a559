"""POST /v1/chat/completions: a question as OpenAI's clients ask it, answered with checked citations."""

import re
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Annotated, Any, Literal
from uuid import UUID

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.utils.http import urlencode
from pydantic import ConfigDict, Field

from documents.access import Access
from knowlex.base.errors import Forbidden, InvalidInput, NotFound
from knowlex.base.ids import new_id
from knowlex.web.fields import check_question
from knowlex.web.json_output import plain_json_bytes
from knowlex.web.openapi import JSON, QUERY_ID, answer, event_stream, operation
from knowlex.web.origins import public_address
from knowlex.web.responses import plain_json_response
from knowlex.web.shapes import Count, InputShape, OutputShape, Share, read_body
from knowlex.web.sse import EVENT_STREAM, HEADERS, Pump
from rag.answering import services
from rag.answering.ask import AskResult, StreamEvent
from rag.api.answers import (
    CONTRADICTED,
    NOT_ENOUGH,
    ContradictedClaim,
    NearPassage,
    QueryCitation,
    VerificationShape,
    WhyNot,
    answer_question,
    answer_response,
    asker_of,
    cited_claims,
    nearest_passages,
    rewritten_question,
)
from rag.api.events import AnswerFormat, EventWriter, stream_answer
from rag.api.openai.client_tasks import answer_client_task
from rag.api.openai.messages import last_text, read_messages, split_turns
from rag.api.openai.models import collection_of, model_not_found
from rag.api.v1.query import number_by_passage
from rag.citations.numbering import Numbering, misstatements, number_citations
from rag.conversation.follow_ups import resolve_turns
from rag.types.question import Question
from rag.types.retrieval import Passage

MAX_MESSAGES = 1000
TOP_K, MAX_TOKENS, MOST_TOKENS = 10, 1024, 4096
_LINK = re.compile(r"\[\[(\d{1,4})\]\]\(([^()\s]{1,2000})\)")
_IGNORED = (
    "What else OpenAI's API takes is ignored: temperature, stop, seed, tools (none is ever called) and so on."
)


class StreamOptions(InputShape):
    include_usage: bool = False


class ChatAsked(InputShape):
    """What of OpenAI's request means something here."""

    model_config = ConfigDict(
        json_schema_extra={
            "example": {
                "model": "knowlex",
                "messages": [{"role": "user", "content": "What do the documents say about citations?"}],
            }
        }
    )

    model: str
    messages: Annotated[
        list[dict[str, Any]],
        Field(
            min_length=1,
            max_length=MAX_MESSAGES,
            description="The last one of `user` is the question; those before are the conversation in which"
            " it is understood. `content` is a string or a list of parts of the type `text`. `system` and"
            " `developer` are ignored: an answer comes from the documents, whatever they say.",
        ),
    ]
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    max_tokens: Annotated[int | None, Field(ge=1, description=f"At most {MOST_TOKENS} are used.")] = None
    max_completion_tokens: Annotated[int | None, Field(ge=1, description="Goes before max_tokens.")] = None
    n: Annotated[int | None, Field(description="Nothing but 1.")] = None
    tool_choice: Annotated[
        str | dict[str, Any] | None, Field(description="One that demands a call is refused.")
    ] = None
    response_format: Annotated[dict[str, Any] | None, Field(description="Ignored.")] = None

    @property
    def token_limit(self) -> int:
        return min(self.max_completion_tokens or self.max_tokens or MAX_TOKENS, MOST_TOKENS)

    @property
    def wants_json(self) -> bool:
        return (self.response_format or {}).get("type") in ("json_object", "json_schema")

    def check(self) -> None:
        """Refuse what would be answered otherwise than it was asked for. Raises InvalidInput."""
        if self.n not in (None, 1):
            raise InvalidInput("n must be 1: a question has one answer here.", field="n")
        if self.tool_choice not in (None, "none", "auto"):
            raise InvalidInput("tool_choice demands a call, and no tools are called.", field="tool_choice")


class UrlCitation(OutputShape):
    url: str
    title: str
    start_index: Annotated[Count, Field(description="Of the link in the content.")]
    end_index: Count


class Annotation(OutputShape):
    type: Literal["url_citation"] = "url_citation"
    url_citation: UrlCitation


class LinkedCitation(QueryCitation):
    url: Annotated[str, Field(description="Of the quote in its document.")] = ""


class KnowlexPart(OutputShape):
    """What OpenAI's shape has no place for; offsets are of the content, with its links."""

    query_id: UUID
    reason: WhyNot
    relevance: Annotated[Share, Field(description="Of the best passage.")]
    citations: list[LinkedCitation]
    contradicted: Annotated[list[ContradictedClaim], Field(description=CONTRADICTED)]
    verification: VerificationShape
    nearest: Annotated[list[NearPassage], Field(description="Of a question without an answer.")]
    rewritten_query: str | None
    cached: bool


class ChatMessage(OutputShape):
    role: Literal["assistant"] = "assistant"
    content: Annotated[
        str, Field(description="`[[k]](url)` links to what is cited, whose citation_index is k.")
    ]
    refusal: str | None = None
    annotations: list[Annotation]


class ChatChoice(OutputShape):
    index: Count = 0
    message: ChatMessage
    finish_reason: Annotated[
        Literal["stop", "length"], Field(description="length: the model had to stop at its limit.")
    ] = "stop"


class ChatUsage(OutputShape):
    prompt_tokens: Annotated[Count, Field(description="Of the model, 0 where none was asked.")] = 0
    completion_tokens: Count = 0
    total_tokens: Count = 0


class ChatCompletion(OutputShape):
    id: str
    object: Literal["chat.completion"] = "chat.completion"
    created: Count
    model: str
    choices: list[ChatChoice]
    usage: ChatUsage
    knowlex: Annotated[KnowlexPart | None, Field(description="null of a program's own requests.")]


EXAMPLE = (
    'data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"knowlex","choices":'
    '[{"index":0,"delta":{"role":"assistant","content":"It has 253 steps."},"finish_reason":null}]}\n\n'
    "data: [DONE]\n\n"
)


@operation(
    "createChatCompletion",
    "Ask as OpenAI's clients do: a model is a collection",
    answer(
        200,
        "Answered, or not enough, which is a message like any other with `knowlex.reason`. With `stream`:"
        " chunks, the last of which has `annotations` in its delta and `knowlex` beside its choices; then the"
        " usage, if it was asked for, and `[DONE]`. Titles, tags and follow-up questions for Open WebUI and"
        " LibreChat are made of the messages and recorded nowhere.",
        {JSON: ChatCompletion, **event_stream(EXAMPLE)},
        headers=QUERY_ID,
    ),
    tag="openai",
    body=ChatAsked,
    failures="404",
    query_id_on=("503",),
    description=_IGNORED,
)
async def create(request: HttpRequest) -> HttpResponseBase:
    asker = asker_of(request, "openai")
    asked = read_body(request, ChatAsked)
    asked.check()
    collection = collection_of(asked.model)
    done = answer_client_task(last_text(asked.messages), as_json=asked.wants_json)
    if done is not None:
        return _task_response(asked, done)
    text, said = split_turns(read_messages(asked.messages))
    check_question(text, "messages")
    asker = replace(asker, turns=resolve_turns(said))
    question = await _question(text, collection, asked, asker.access)
    completion = Completion(asked, asker.query_id, root=public_address(request, "/d/"))
    if asked.stream:
        return await stream_answer(request, question, asker, completion.chunks)
    answered = await answer_question(request, question, asker)
    return answer_response(answered, completion.body(answered))


async def _question(text: str, collection: str | None, asked: ChatAsked, access: Access) -> Question:
    """Raises NotFound, RetrievalFailed, DatabaseUnavailable."""
    try:
        return await services.make_platform_question(
            text,
            access=access,
            collections=[] if collection is None else [collection],
            top_k=TOP_K,
            max_tokens=asked.token_limit,
        )
    except (NotFound, Forbidden):
        raise model_not_found(asked.model) from None


class Completion:
    """Writes an answer as OpenAI does, whole or in chunks."""

    def __init__(self, asked: ChatAsked, query_id: UUID, *, root: str) -> None:
        """root: the address before a document's id."""
        self.asked, self._root = asked, root
        self._about: dict[str, Any] = {
            "id": f"chatcmpl-{query_id}",
            "created": int(time.time()),
            "model": asked.model,
        }

    def body(self, asked: AskResult) -> ChatCompletion:
        """Return the whole of it."""
        answer, passages = asked.answer, asked.answer.context
        text, numbering = number_citations(answer, number_by_passage(), self.marker(passages))
        if not answer.answered:
            text = NOT_ENOUGH
        citations = [
            citation.model_copy(update={"url": self._url(citation)})
            for citation in cited_claims(asked, numbering, LinkedCitation)
        ]
        part = KnowlexPart.of(
            asked,
            reason=answer.reason,
            relevance=answer.confidence,
            citations=citations,
            contradicted=misstatements(answer, text, numbering),
            verification=answer.verification,
            nearest=nearest_passages(answer),
            rewritten_query=rewritten_question(asked),
        )
        links = {
            numbering.place_of(number): (self._url(passage), passage.title or passage.document_name)
            for number in answer.cited
            for passage in (passages[number - 1],)
        }
        used = answer.usage
        message = ChatMessage(content=text, annotations=_annotations(text, links))
        return ChatCompletion(
            **self._about,
            choices=[ChatChoice(message=message, finish_reason="length" if used.cut else "stop")],
            usage=ChatUsage(
                prompt_tokens=used.input_tokens,
                completion_tokens=used.output_tokens,
                total_tokens=used.input_tokens + used.output_tokens,
            ),
            knowlex=part,
        )

    def task_body(self, text: str) -> ChatCompletion:
        """Return the answer to a program's own request."""
        message = ChatMessage(content=text, annotations=[])
        return ChatCompletion(
            **self._about, choices=[ChatChoice(message=message)], usage=ChatUsage(), knowlex=None
        )

    def chunks(self, pump: Pump[StreamEvent]) -> "ChunkWriter":
        return ChunkWriter(pump, self)

    def marker(self, passages: tuple[Passage, ...]) -> Any:
        def write(place: int, number: int) -> str:
            return f"[[{place}]]({self._url(passages[number - 1])})"

        return write

    def chunk(self, choices: list[dict[str, Any]], **more: Any) -> bytes:
        """Return one chunk of the stream."""
        about = {**self._about, "object": "chat.completion.chunk", "choices": choices}
        if self.asked.stream_options is not None and self.asked.stream_options.include_usage:
            about["usage"] = None
        return b"data: %s\n\n" % plain_json_bytes(about | more)

    def delta(self, delta: dict[str, Any], finish_reason: str | None = None, **more: Any) -> bytes:
        return self.chunk(
            [{"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish_reason}], **more
        )

    def ending(self, body: ChatCompletion) -> Iterator[bytes]:
        """Write what follows the text: citations, the usage if it is wanted, and the end."""
        told = body.model_dump()
        choice = told["choices"][0]
        annotations = {"annotations": choice["message"]["annotations"]}
        yield self.delta(annotations, choice["finish_reason"], knowlex=told["knowlex"])
        if self.asked.stream_options is not None and self.asked.stream_options.include_usage:
            yield self.chunk([], usage=told["usage"])
        yield b"data: [DONE]\n\n"

    def _url(self, place: Any) -> str:
        """Return the address at which the page shows a passage, or a quote of it."""
        asked = {"start": place.start_char, "end": place.end_char, "checksum": place.checksum}
        return f"{self._root}{place.document_id}?{urlencode(asked)}"


class ChunkWriter(EventWriter):
    """Makes OpenAI's chunks of the steps of an answer."""

    def __init__(self, pump: Pump[StreamEvent], completion: Completion) -> None:
        super().__init__(
            pump,
            AnswerFormat(
                body=lambda asked: completion.body(asked).model_dump(),
                writer=lambda step: Numbering(number_by_passage(), completion.marker(step.context)),
                sources="",
            ),
        )
        self._completion = completion
        self._began = False

    def text_event(self, text: str) -> bytes:
        role = {} if self._began else {"role": "assistant"}
        self._began = True
        return self._completion.delta({**role, "content": text})

    def failed(self, problem: dict[str, Any]) -> bytes:
        return b"data: %s\n\n" % plain_json_bytes(problem)

    def ending(self, asked: AskResult) -> Iterator[bytes]:
        """Write the text's rest, and behind what did not hold the message that stands in its place."""
        body = self._completion.body(asked)
        yield from self.rest("")
        content = body.choices[0].message.content
        if not self.wrote:
            yield from self.token(content)
        elif not asked.answer.answered:
            yield from self.token(f"\n\n{content}")
        yield from self._completion.ending(body)


def _annotations(text: str, links: dict[int, tuple[str, str]]) -> list[Annotation]:
    """Return one for each link of ours in the text; a model may have written others."""
    annotations = []
    for match in _LINK.finditer(text):
        url, title = links.get(int(match[1]), ("", ""))
        if match[2] == url:
            citation = UrlCitation(url=url, title=title, start_index=match.start(), end_index=match.end())
            annotations.append(Annotation(url_citation=citation))
    return annotations


def _task_response(asked: ChatAsked, text: str) -> HttpResponseBase:
    """Answer a chat program's own request in the form in which it was asked for."""
    completion = Completion(asked, new_id(), root="")
    body = completion.task_body(text)
    if not asked.stream:
        return plain_json_response(body)
    chunks = [completion.delta({"role": "assistant", "content": text}), *completion.ending(body)]
    return HttpResponse(b"".join(chunks), content_type=f"{EVENT_STREAM}; charset=utf-8", headers=HEADERS)
