"""OpenAI's API as its own client and as Open WebUI and LibreChat speak it."""

import base64
import json
import struct
from typing import Any

import httpx
import openai
import pytest

from tests.platform import talk
from tests.provider import Provider
from tests.support.api import assert_openai_error
from tests.support.stack import Stack

BELFRY = (
    "The belfry of Ghent is 91 metres tall. The belfry of Ghent was finished in 1380. "
    "Jan van Haelst designed the belfry of Ghent."
)
TALL = "How tall is the belfry of Ghent?"


def client_of(stack: Stack, key: str = "none") -> openai.OpenAI:
    return openai.OpenAI(base_url=f"{stack.url}/v1", api_key=key, max_retries=0, timeout=60)


def asked(*texts: str) -> list[Any]:
    roles = ("user", "assistant")
    return [{"role": roles[place % 2], "content": text} for place, text in enumerate(texts)]


def task(instruction: str, output: str, *chat: str) -> str:
    """A prompt of Open WebUI's, in the form of its templates."""
    lines = "\n".join(f"{('USER', 'ASSISTANT')[place % 2]}: {text}" for place, text in enumerate(chat))
    return (
        f"### Task:\n{instruction}\n\n### Output:\nJSON format: {output}\n\n"
        f"### Chat History:\n<chat_history>\n{lines}\n</chat_history>"
    )


TITLE = task(
    "Generate a concise, 3-5 word title with an emoji summarizing the chat history.",
    '{ "title": "your concise title here" }',
    TALL,
    "It is 91 metres tall.",
)


def is_recorded(stack: Stack, prompt: str) -> bool:
    """What was asked before stands in the list when this is answered."""
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


@pytest.mark.parametrize(
    ("prompt", "answer"),
    [
        (TITLE, {"title": "How tall is the belfry of"}),
        (
            task("Generate 1-3 broad tags categorizing the main themes", '{ "tags": ["tag1"] }', TALL),
            {"tags": []},
        ),
        (
            task("Suggest 3-5 relevant follow-up questions", '{ "follow_ups": ["Q?"] }', TALL),
            {"follow_ups": []},
        ),
        (task("Analyze the chat history for search queries", '{ "queries": ["q"] }', TALL), {"queries": []}),
        (task("You are an autocompletion system.", '{ "text": "<completion>" }', TALL), {"text": ""}),
    ],
)
def test_tasks_of_open_webui_cost_nothing(library: Stack, prompt: str, answer: dict[str, Any]):
    body = {"model": "knowlex", "messages": asked(prompt), "stream": False, "max_completion_tokens": 1000}
    reply = library.client.post("/v1/chat/completions", json={**body, "metadata": {"task": "title"}}).json()
    assert json.loads(reply["choices"][0]["message"]["content"]) == answer
    assert (reply["usage"]["total_tokens"], reply["knowlex"]) == (0, None)
    assert not is_recorded(library, prompt)


@pytest.mark.parametrize(
    "prompt",
    [
        "Provide a concise, 5-word-or-less title for the conversation, using title case conventions."
        f" Only return the title itself.\n\nConversation:\nUser: {TALL}\nAI: It is 91 metres tall.",
        "Please generate a concise title (max 40 characters) for a conversation that starts with:\n"
        f"User: {TALL}\nAssistant: It is 91 metres tall.\n\nTitle:",
    ],
)
@pytest.mark.parametrize("stream", [False, True])
def test_titles_of_librechat_cost_nothing(library: Stack, prompt: str, stream: bool):
    client = client_of(library)
    if stream:
        chunks = list(client.chat.completions.create(model="knowlex", messages=asked(prompt), stream=True))
        title = "".join(chunk.choices[0].delta.content or "" for chunk in chunks)
        assert chunks[-1].choices[0].finish_reason == "stop"
    else:
        reply = client.chat.completions.create(model="knowlex", messages=asked(prompt))
        title = reply.choices[0].message.content or ""
    assert title == "How tall is the belfry of"
    assert not is_recorded(library, prompt)


def test_librechat_may_want_its_title_as_json(server: Stack):
    prompt = (
        f"Analyze this conversation and provide:\n1. The detected language\n\nUser: {TALL}\nAI: 91 metres"
    )
    reply = client_of(server).chat.completions.create(
        model="knowlex",
        messages=asked(prompt),
        response_format={
            "type": "json_schema",
            "json_schema": {"name": "title", "schema": {"type": "object"}},
        },
    )
    assert json.loads(reply.choices[0].message.content or "")["title"] == "How tall is the belfry of"


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
    reply = client.chat.completions.create(model="knowlex", messages=asked(TITLE))
    assert json.loads(reply.choices[0].message.content or "")["title"]


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
