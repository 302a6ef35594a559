"""OpenAI's API as its own client and as Open WebUI and LibreChat speak it."""

import base64
import json
import struct
from typing import Any

import httpx
import openai
import pytest

from rag.api.answers import NOT_ENOUGH
from rag.prompts import NOT_FOUND
from tests.platform import talk
from tests.platform.chat_programs import (
    EMOJI,
    LIBRECHAT_CHAT,
    LIBRECHAT_STRUCTURED_TITLE,
    LIBRECHAT_TITLES,
    OPEN_WEBUI_CHAT,
    OPEN_WEBUI_TASKS,
    TALL,
    TITLE,
)
from tests.provider import Provider
from tests.support.api import assert_openai_error
from tests.support.pdf import make_pdf
from tests.support.stack import Stack

BELFRY = (
    "The belfry of Ghent is 91 metres tall. The belfry of Ghent was finished in 1380. "
    "Jan van Haelst designed the belfry of Ghent."
)


def client_of(stack: Stack, key: str = "none") -> openai.OpenAI:
    return openai.OpenAI(base_url=f"{stack.url}/v1", api_key=key, max_retries=0, timeout=60)


def asked(*texts: str) -> list[Any]:
    roles = ("user", "assistant")
    return [{"role": roles[place % 2], "content": text} for place, text in enumerate(texts)]


def is_recorded(stack: Stack, body: dict[str, Any]) -> bool:
    """What was asked before stands in the list when this is answered."""
    prompt = body["messages"][-1]["content"]
    return prompt in [one["query"] for one in stack.client.get("/v1/queries").json()["queries"]]


@pytest.fixture
def library(server: Stack) -> Stack:
    talk.ingested(server.client, talk.text(BELFRY, "belfry.txt"))
    return server


def test_the_openai_client_gets_an_answer_with_links(library: Stack):
    reply = client_of(library).chat.completions.create(model="knowlex", messages=asked(TALL))

    (choice,) = reply.choices
    content, told = choice.message.content or "", reply.model_extra["knowlex"]
    assert choice.finish_reason == "stop"
    assert "91 metres tall" in content
    citation = told["citations"][0]
    assert citation["quoted_text"] in BELFRY
    assert citation["support"] == "exact"
    assert "91 metres" in content[citation["answer_start"] : citation["answer_end"]]
    annotation = (choice.message.annotations or [])[0]
    cited = annotation.url_citation
    assert content[cited.start_index : cited.end_index] == f"[[1]]({cited.url})"
    assert cited.title
    assert cited.url.startswith(f"{library.url}/d/{citation['document_id']}?start=")
    for url in (cited.url, citation["url"]):
        assert httpx.get(url, headers={"Accept": "text/html"}).status_code == 200
    assert reply.usage is not None
    assert library.client.get(f"/v1/queries/{told['query_id']}").json()["face"] == "openai"


def test_a_citation_tells_its_page(server: Stack):
    talk.ingested(server.client, talk.file(make_pdf("Of Bruges.", BELFRY, title="Belfries"), "towers.pdf"))
    reply = client_of(server).chat.completions.create(model="knowlex", messages=asked(TALL))
    citation = reply.model_extra["knowlex"]["citations"][0]
    assert (citation["page_number"], citation["document_name"]) == (2, "towers.pdf")
    assert (reply.choices[0].message.annotations or [])[0].url_citation.title == "Belfries"


def test_a_stream_adds_up_to_the_same(library: Stack):
    whole = client_of(library).chat.completions.create(model="knowlex", messages=asked(TALL))
    chunks = list(
        client_of(library).chat.completions.create(
            model="knowlex", messages=asked(TALL), stream=True, stream_options={"include_usage": True}
        )
    )

    texts = [chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices]
    assert "".join(texts) == whole.choices[0].message.content
    assert chunks[0].choices[0].delta.role == "assistant"
    last, usage = chunks[-2:]
    assert last.choices[0].finish_reason == "stop"
    assert last.choices[0].delta.model_extra["annotations"]
    told, before = last.model_extra["knowlex"], whole.model_extra["knowlex"]
    assert told["citations"] == before["citations"]
    assert (usage.choices, usage.usage is not None) == ([], True)
    assert len({chunk.id for chunk in chunks}) == 1


@pytest.fixture
def written(provider_server: Stack, provider: Provider) -> Stack:
    """The same library, whose answers `provider` writes."""
    talk.ingested(provider_server.client, talk.text(BELFRY, "belfry.txt"))
    return provider_server


def whole_and_streamed(stack: Stack) -> list[tuple[str, str | None]]:
    """The text and the finish_reason of an answer, of both kinds."""
    create, fresh = client_of(stack).chat.completions.create, {"Cache-Control": "no-cache"}
    whole = create(model="knowlex", messages=asked(TALL), extra_headers=fresh).choices[0]
    chunks = list(create(model="knowlex", messages=asked(TALL), stream=True, extra_headers=fresh))
    text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks)
    return [(whole.message.content or "", whole.finish_reason), (text, chunks[-1].choices[0].finish_reason)]


def test_an_answer_that_ended_at_the_model_s_limit_says_so(written: Stack, provider: Provider):
    provider.cites([1])
    assert {reason for _, reason in whole_and_streamed(written)} == {"stop"}
    provider.rule("limited", on="chat")
    assert {reason for _, reason in whole_and_streamed(written)} == {"length"}


def test_a_stream_whose_text_does_not_hold_ends_with_what_a_whole_answer_says(
    written: Stack, provider: Provider
):
    false = "The belfry of Ghent is 12 metres tall"
    provider.says(f"{false} [1].")
    whole, streamed = (text for text, _ in whole_and_streamed(written))
    assert whole == NOT_ENOUGH
    assert streamed == f"{false}\n\n{NOT_ENOUGH}"


def test_a_model_that_declines_says_it_once(written: Stack, provider: Provider):
    provider.says(NOT_FOUND)
    assert {text for text, _ in whole_and_streamed(written)} == {NOT_ENOUGH}


def test_a_stream_ends_with_done_and_tells_no_usage_unasked(library: Stack):
    body = {"model": "knowlex", "messages": asked(TALL), "stream": True}
    reply = library.client.post("/v1/chat/completions", json=body)

    assert reply.headers["Content-Type"].startswith("text/event-stream")
    assert reply.text.endswith("data: [DONE]\n\n")
    assert '"usage"' not in reply.text


def test_earlier_turns_come_in_the_request(library: Stack):
    client = client_of(library)
    first = client.chat.completions.create(model="knowlex", messages=asked(TALL))
    answer = first.choices[0].message.content or ""
    messages = asked(TALL, answer, "When was it finished?")
    second = client.chat.completions.create(model="knowlex", messages=messages)
    assert "1380" in (second.choices[0].message.content or "")
    rewritten = second.model_extra["knowlex"]["rewritten_query"]
    assert rewritten == "When was the belfry of Ghent finished?"

    messages += asked("", "It was finished in 1380.", "And who designed it?")[1:]
    messages[-2:] = [
        {"role": "assistant", "content": "It was finished in 1380."},
        {"role": "user", "content": [{"type": "text", "text": "And who designed it?"}]},
    ]
    third = client.chat.completions.create(
        model="knowlex", messages=[{"role": "system", "content": "Answer: forty."}, *messages]
    )
    assert "Jan van Haelst" in (third.choices[0].message.content or "")
    alone = client.chat.completions.create(model="knowlex", messages=asked("When was it finished?"))
    assert alone.model_extra["knowlex"]["rewritten_query"] is None


def test_not_enough_is_a_message_with_a_reason(library: Stack):
    for stream in (False, True):
        body = {"model": "knowlex", "messages": asked("Who won the chess cup?"), "stream": stream}
        reply = library.client.post("/v1/chat/completions", json=body)
        assert reply.status_code == 200
        assert "I don't have enough information to answer that." in reply.text
        assert '"reason":"below_threshold"' in reply.text


def test_models_are_collections_and_are_asked_alone(library: Stack):
    client = client_of(library)
    talk.collection(library.client, "Manuals")
    assert [model.id for model in client.models.list()] == ["knowlex", "knowlex/Manuals", "knowlex/default"]
    assert client.models.retrieve("knowlex/Manuals").id == "knowlex/Manuals"
    assert client.models.retrieve("knowlex").owned_by == "knowlex"

    reply = client.chat.completions.create(model="knowlex/Manuals", messages=asked(TALL))
    assert reply.model_extra["knowlex"]["reason"] == "no_documents"
    for call in (
        lambda: client.models.retrieve("knowlex/nothing"),
        lambda: client.models.retrieve("gpt-4"),
        lambda: client.chat.completions.create(model="gpt-4", messages=asked(TALL)),
        lambda: client.chat.completions.create(model="knowlex/nothing", messages=asked(TALL)),
    ):
        with pytest.raises(openai.NotFoundError) as raised:
            call()
        assert raised.value.code == "model_not_found"
        assert raised.value.param == "model"


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"n": 2}, "n"),
        ({"tool_choice": "required"}, "tool_choice"),
        ({"messages": []}, "messages"),
        ({"messages": asked(" ")}, "messages"),
        ({"messages": asked("x" * 2001)}, "messages"),
        ({"messages": [{"role": "system", "content": "Hello"}]}, "messages"),
        ({"messages": [{"role": "nobody", "content": "Hello"}]}, "messages[0].role"),
        ({"messages": [{"role": "user", "content": 5}]}, "messages[0].content"),
        (
            {"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "x"}}]}]},
            "messages[0].content",
        ),
    ],
)
def test_what_cannot_be_done_is_refused_as_openai_does(server: Stack, changes: dict[str, Any], field: str):
    body = {"model": "knowlex", "messages": asked(TALL), **changes}
    assert_openai_error(server.client.post("/v1/chat/completions", json=body), 400, field=field)


def test_what_means_nothing_here_is_ignored(library: Stack):
    body = {
        "model": "knowlex",
        "messages": asked(TALL),
        "temperature": 0.2,
        "top_p": 1,
        "stop": ["x"],
        "user": "ann",
        "n": 1,
        "max_tokens": 64000,
        "tools": [{"type": "function", "function": {"name": "search", "parameters": {}}}],
        "tool_choice": "auto",
        "stream_options": None,
        "some_new_parameter": {"a": 1},
    }
    assert "91 metres" in library.client.post("/v1/chat/completions", json=body).text


@pytest.mark.parametrize("task", OPEN_WEBUI_TASKS)
def test_tasks_of_open_webui_cost_nothing(library: Stack, task: str):
    body, answer = OPEN_WEBUI_TASKS[task]
    reply = library.client.post("/v1/chat/completions", json=body).json()
    assert json.loads(reply["choices"][0]["message"]["content"]) == answer
    assert (reply["usage"]["total_tokens"], reply["knowlex"]) == (0, None)
    assert not is_recorded(library, body)


def test_a_face_for_open_webuis_voice_costs_nothing(library: Stack):
    reply = library.client.post("/v1/chat/completions", json=EMOJI).json()
    assert (reply["choices"][0]["message"]["content"], reply["knowlex"]) == ("🙂", None)
    assert not is_recorded(library, EMOJI)


@pytest.mark.parametrize("title", LIBRECHAT_TITLES)
@pytest.mark.parametrize("stream", [False, True])
def test_titles_of_librechat_cost_nothing(library: Stack, title: str, stream: bool):
    body = {**LIBRECHAT_TITLES[title], "stream": stream}
    if stream:
        chunks = list(client_of(library).chat.completions.create(**body))
        text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks)
        assert chunks[-1].choices[0].finish_reason == "stop"
    else:
        text = client_of(library).chat.completions.create(**body).choices[0].message.content or ""
    assert text == TITLE
    assert not is_recorded(library, body)


def test_librechat_may_want_its_title_as_json(library: Stack):
    reply = client_of(library).chat.completions.create(**LIBRECHAT_STRUCTURED_TITLE)
    told = json.loads(reply.choices[0].message.content or "")
    assert (set(told), told["title"]) == ({"language", "title"}, TITLE)
    assert not is_recorded(library, LIBRECHAT_STRUCTURED_TITLE)


@pytest.mark.parametrize("body", [OPEN_WEBUI_CHAT, LIBRECHAT_CHAT], ids=["Open WebUI", "LibreChat"])
def test_chats_of_both_are_answered(library: Stack, body: dict[str, Any]):
    *chunks, usage = client_of(library).chat.completions.create(**body)
    assert "91 metres tall" in "".join(chunk.choices[0].delta.content or "" for chunk in chunks)
    assert chunks[-1].model_extra["knowlex"]["citations"]
    assert usage.usage is not None


def test_a_question_that_speaks_of_tasks_is_a_question(library: Stack):
    for text in ("### Task: what do the papers say?", 'What is { "title": "x" }?', "Give it a title"):
        reply = client_of(library).chat.completions.create(model="knowlex", messages=asked(text))
        assert reply.model_extra["knowlex"] is not None


def test_embeddings_in_both_formats(server: Stack):
    client = client_of(server)
    texts = ["The tower has 253 steps.", "Bread bakes for forty minutes."]
    floats = client.embeddings.create(model="knowlex", input=texts, encoding_format="float")
    packed = server.client.post("/v1/embeddings", json={"input": texts, "encoding_format": "base64"}).json()
    alone = client.embeddings.create(model="knowlex", input=texts[1])  # the client asks for base64 itself

    assert [item.index for item in floats.data] == [0, 1]
    size = len(floats.data[0].embedding)
    for item, written in zip(floats.data, packed["data"], strict=True):
        values = struct.unpack(f"<{size}f", base64.b64decode(written["embedding"]))
        assert item.embedding == pytest.approx(values, abs=1e-6)
    assert alone.data[0].embedding == pytest.approx(floats.data[1].embedding, abs=1e-5)
    assert floats.model == packed["model"] != ""
    assert floats.usage.prompt_tokens > 0
    assert server.client.post("/v1/embeddings", json={"input": "x", "dimensions": size}).status_code == 200


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"dimensions": 7}, "dimensions"),
        ({"input": []}, "input"),
        ({"input": [" "]}, "input"),
        ({"input": [[1, 2, 3]]}, "input"),
        ({"input": ["x"] * 257}, "input"),
        ({"input": "x" * 32_001}, "input"),
        ({"input": ["x" * 30_000] * 7}, "input"),
        ({"encoding_format": "hex"}, "encoding_format"),
    ],
)
def test_embeddings_have_limits(server: Stack, changes: dict[str, Any], field: str):
    reply = server.client.post("/v1/embeddings", json={"model": "knowlex", "input": "x", **changes})
    assert_openai_error(reply, 400, field=field)


def test_without_its_model_there_are_errors_that_the_client_knows(provider_server: Stack, provider: Provider):
    talk.ingested(provider_server.client, talk.text(BELFRY, "belfry.txt"))
    client = client_of(provider_server)
    provider.rule("status", status=500, on="chat")
    for stream in (False, True):
        with pytest.raises(openai.InternalServerError) as raised:
            client.chat.completions.create(model="knowlex", messages=asked(TALL), stream=stream)
        assert raised.value.status_code == 503
        assert raised.value.type == "server_error"
        assert raised.value.response.headers["X-Query-ID"]
    with pytest.raises(openai.InternalServerError):
        list(client.chat.completions.create(**OPEN_WEBUI_CHAT))
    provider.rule("status", status=401, on="embeddings")  # so that no search would succeed either
    for body, _ in OPEN_WEBUI_TASKS.values():
        assert client.chat.completions.create(**body).choices[0].message.content


def test_vectors_without_their_model_are_an_error_that_the_client_knows(
    provider_server: Stack, provider: Provider
):
    provider.rule("status", status=401, on="embeddings")
    with pytest.raises(openai.InternalServerError) as raised:
        client_of(provider_server).embeddings.create(model="knowlex", input="x")
    assert (raised.value.status_code, raised.value.type) == (503, "server_error")


def test_too_many_requests_are_told_as_openai_tells_them(server: Stack):
    with server.another_web(KNOWLEX_RATE_LIMIT="1/hour") as web:  # used up by waiting for it
        client = openai.OpenAI(base_url=f"{web.base_url}/v1", api_key="none", max_retries=0)
        for call in (
            client.models.list,
            lambda: client.embeddings.create(model="knowlex", input="x"),
            lambda: client.chat.completions.create(model="knowlex", messages=asked(TALL)),
            lambda: client.chat.completions.create(model="knowlex", messages=asked(TALL), stream=True),
        ):
            with pytest.raises(openai.RateLimitError) as raised:
                call()
            assert (raised.value.code, raised.value.type) == ("rate_limit_exceeded", "rate_limit_error")
            assert 0 < int(raised.value.response.headers["Retry-After"]) <= 3600


def test_links_begin_with_the_address_that_people_know(library: Stack):
    with library.another_web(KNOWLEX_PUBLIC_URL="https://kb.example.org/") as web:
        client = openai.OpenAI(base_url=f"{web.base_url}/v1", api_key="none", max_retries=0)
        reply = client.chat.completions.create(model="knowlex", messages=asked(TALL))
    told = reply.model_extra["knowlex"]["citations"][0]
    link = (reply.choices[0].message.annotations or [])[0].url_citation.url
    for url in (link, told["url"]):
        assert url.startswith(f"https://kb.example.org/d/{told['document_id']}?start=")
    assert f"]({link})" in (reply.choices[0].message.content or "")


def test_a_stream_that_breaks_off_raises_in_the_client(provider_server: Stack, provider: Provider):
    talk.ingested(provider_server.client, talk.text(BELFRY, "belfry.txt"))
    client = client_of(provider_server)
    whole = client.chat.completions.create(model="knowlex", messages=asked(TALL))
    assert whole.usage is not None
    assert whole.usage.total_tokens == whole.usage.prompt_tokens + whole.usage.completion_tokens > 0
    provider.rule("stream_error", on="chat", after=3)
    with pytest.raises(openai.APIError) as raised:
        list(client.chat.completions.create(model="knowlex", messages=asked("How old is it?"), stream=True))
    assert "Knowlex" not in str(raised.value)
