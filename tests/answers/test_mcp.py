"""POST /mcp, `manage.py mcp` and `knowlex-mcp`, asked by the SDK's own client over HTTP and real pipes."""

import asyncio
import json
import re
import sys
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import httpx
import httpx2
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError

from rag.api.mcp import LEAD_CHARS, WINDOW_CHARS
from tests.answers.asking import QUESTION, Library, block_with
from tests.conftest import MakeStack
from tests.keys.accounts import make_account
from tests.keys.key_factory import as_key, make_key
from tests.support import commands
from tests.support.api import UNKNOWN_ID, assert_problem, embed, ingest
from tests.support.environment import PROJECT
from tests.support.stack import Stack

T = TypeVar("T")
ACCEPT = {"Accept": "application/json, text/event-stream"}
MODES = ("legacy", "auto")  # with the handshake of 2025, and without one as since 2026-07-28


def speak(stack: Stack, work: Callable[[Client], Awaitable[T]], *, key: str = "", mode: str = "auto") -> T:
    async def run() -> T:
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        async with (
            httpx2.AsyncClient(headers=headers, timeout=60) as http,
            Client(streamable_http_client(f"{stack.url}/mcp", http_client=http), mode=mode) as client,
        ):
            return await work(client)

    return asyncio.run(run())


def call(stack: Stack, tool: str, key: str = "", mode: str = "auto", **arguments: Any) -> Any:
    """The structured result of a tool; an error as its body."""

    async def work(client: Client) -> Any:
        return await client.call_tool(tool, arguments)

    result = speak(stack, work, key=key, mode=mode)
    assert len(result.content) == 1
    told = json.loads(result.content[0].text)
    if result.is_error:
        assert result.structured_content is None
        return told
    assert told == result.structured_content
    return told


async def ignore(progress: float, total: float | None, message: str | None) -> None: ...


def height(prompt: Any) -> str:
    return f"The lighthouse of Norderney is 54 metres tall [{block_with(prompt, '54 metres tall')}]."


@pytest.mark.parametrize("mode", MODES)
def test_the_server_tells_its_name_and_version(server: Stack, mode: str):
    async def work(client: Client) -> Any:
        return client.server_info

    told = speak(server, work, mode=mode)
    schema = server.client.get("/api/schema", headers={"Accept": "application/json"}).json()
    assert (told.name, told.version) == ("knowlex", schema["info"]["version"])


@pytest.mark.parametrize("mode", MODES)
def test_the_tools_are_typed_and_only_read(server: Stack, mode: str):
    async def work(client: Client) -> Any:
        return (await client.list_tools()).tools

    tools = {tool.name: tool for tool in speak(server, work, mode=mode)}
    assert set(tools) == {"search", "fetch", "ask"}
    for tool in tools.values():
        assert (tool.annotations.read_only_hint, tool.annotations.destructive_hint) == (True, False)
        assert tool.output_schema["type"] == "object"
    assert tools["search"].input_schema["required"] == ["query"]
    assert tools["ask"].input_schema["required"] == ["question"]
    assert set(tools["fetch"].output_schema["required"]) == {"id", "title", "text", "url", "metadata"}


@pytest.mark.parametrize("mode", MODES)
def test_what_is_found_can_be_fetched(library: Library, mode: str):
    results = call(library.stack, "search", mode=mode, query="253 steps", collections=None)["results"]
    assert {tuple(sorted(result)) for result in results} == {("id", "title", "url")}
    assert results[0]["id"] == library.markdown_id
    assert results[0]["url"].startswith(f"{library.stack.url}/d/{library.markdown_id}?start=")
    fetched = call(library.stack, "fetch", mode=mode, id=results[0]["id"])
    assert set(fetched) == {"id", "title", "text", "url", "metadata"}
    assert "It has 253 steps." in fetched["text"]
    assert fetched["metadata"]["document_name"] == "places.md"
    assert fetched["metadata"]["next_id"] is None


@pytest.mark.parametrize("mode", MODES)
def test_an_answer_has_checked_citations_whole_and_with_progress(library: Library, mode: str):
    library.provider.says(height)
    whole = call(library.stack, "ask", mode=mode, question=QUESTION)
    told: list[tuple[float, str | None]] = []

    async def work(client: Client) -> Any:
        async def note(progress: float, total: float | None, message: str | None) -> None:
            told.append((progress, message))

        return await client.call_tool("ask", {"question": QUESTION}, progress_callback=note)

    streamed = speak(library.stack, work, mode=mode).structured_content
    assert told[0] == (0, "Searching")
    assert told[-1][0] > 0
    for answer in (whole, streamed):
        assert (answer["answered"], answer["reason"]) == (True, None)
        assert answer["answer"] == "The lighthouse of Norderney is 54 metres tall [1]."
        (citation,) = answer["citations"]
        assert (citation["document_id"], citation["page_number"]) == (library.pdf_id, 1)
        assert (citation["citation_index"], citation["support"]) == (1, "exact")
        assert "54 metres tall" in citation["quoted_text"]
        assert citation["url"].startswith(f"{library.stack.url}/d/{library.pdf_id}?start=")
    asked = library.client.get(f"/v1/queries/{whole['query_id']}").json()
    assert asked["query"] == QUESTION


def test_without_an_answer_the_reason_is_told(library: Library):
    library.provider.says("Nothing is cited here.")
    answer = call(library.stack, "ask", question=QUESTION)
    assert (answer["answered"], answer["reason"], answer["citations"]) == (False, "not_supported", [])
    assert 1 <= len(answer["nearest"]) <= 3


@pytest.mark.parametrize("streamed", [False, True])
def test_a_provider_that_is_away_is_an_error_the_model_can_read(library: Library, streamed: bool):
    library.provider.rule("status", status=401, on="chat")

    async def work(client: Client) -> Any:
        options = {"progress_callback": ignore} if streamed else {}
        return await client.call_tool("ask", {"question": QUESTION}, **options)

    result = speak(library.stack, work)
    assert (result.is_error, result.structured_content) == (True, None)
    body = json.loads(result.content[0].text)
    reply = library.client.post("/v1/query", json={"query": QUESTION})
    assert reply.status_code == body["status"] >= 500
    assert (body["error"], body["message"]) == (reply.json()["error"], reply.json()["message"])


@pytest.mark.parametrize(
    ("tool", "arguments", "code", "field"),
    [
        ("search", {}, "INVALID_QUERY", "query"),
        ("search", {"query": "x" * 2001}, "INVALID_QUERY", "query"),
        ("search", {"query": "steps", "limit": 51}, "VALIDATION_ERROR", "limit"),
        ("search", {"query": "steps", "collections": ["nowhere"]}, "NOT_FOUND", "collections"),
        ("ask", {"question": ""}, "INVALID_QUERY", "question"),
        ("fetch", {"id": "nothing"}, "VALIDATION_ERROR", "id"),
        ("fetch", {"id": UNKNOWN_ID}, "NOT_FOUND", None),
    ],
)
def test_a_bad_argument_is_named(server: Stack, tool: str, arguments: Any, code: str, field: str | None):
    body = call(server, tool, **arguments)
    assert body["error"] == code
    assert (body.get("details") or {}).get("field") == field


def test_an_unknown_tool_is_an_error_of_the_protocol(server: Stack):
    async def work(client: Client) -> None:
        with pytest.raises(MCPError, match="Unknown tool: rm"):
            await client.call_tool("rm", {})

    speak(server, work)


def test_a_long_document_is_read_piece_by_piece(server: Stack):
    lines = [f"Line {number} of the long story." for number in range(2500)]
    text = "# Story\n\n" + "\n\n".join(lines)
    document_id = ingest(server.client, text.encode(), "story.md")["documentId"]
    embed(server.client)
    (first, *_) = call(server, "search", query="Line 2000 of the long story")["results"]
    start = int(first["id"].partition("@")[2])
    found = call(server, "fetch", id=first["id"])
    assert found["metadata"]["start_char"] == start
    assert "Line 2000 of" in found["text"][: LEAD_CHARS + 4000]
    pieces, next_id = [], document_id
    while next_id is not None:
        piece = call(server, "fetch", id=next_id)
        assert len(piece["text"]) <= WINDOW_CHARS
        pieces.append(piece["text"])
        next_id = piece["metadata"]["next_id"]
    whole = server.client.get(f"/v1/documents/{document_id}").json()["content"]
    assert len(pieces) > 1
    assert "".join(pieces) == whole


def test_documents_are_resources_listed_in_pages_and_read_by_page(library: Library):
    for number in range(50):
        ingest(library.client, f"# Note {number}\n\nText.".encode(), f"note{number}.md")
    embed(library.client)

    async def work(client: Client) -> Any:
        first = await client.list_resources()
        second = await client.list_resources(cursor=first.next_cursor)
        assert (len(first.resources), second.next_cursor) == (50, None)
        page = await client.read_resource(f"knowlex://documents/{library.pdf_id}/pages/2")
        with pytest.raises(MCPError, match="no page 3"):
            await client.read_resource(f"knowlex://documents/{library.pdf_id}/pages/3")
        with pytest.raises(MCPError, match="cursor"):
            await client.list_resources(cursor="made up")
        return [*first.resources, *second.resources], page.contents[0]

    resources, page = speak(library.stack, work)
    uris = {resource.uri for resource in resources}
    assert len(uris) == 52
    assert f"knowlex://documents/{library.pdf_id}" in uris
    assert "Borkum is 60 metres" in page.text
    assert "Norderney" not in page.text


def test_a_wrong_key_is_refused_and_a_bound_one_sees_its_collections_only(keyed_library: Stack):
    stack = keyed_library
    bound = make_key(stack, "read", collections=["ours"])
    full = make_key(stack, "read")
    reply = httpx.post(f"{stack.url}/mcp", json={}, headers={"Authorization": "Bearer kx_wrong"})
    assert_problem(reply, 401, "UNAUTHORIZED")
    for key, names in ((full, {"ours.md", "theirs.md"}), (bound, {"ours.md"})):

        async def work(client: Client) -> Any:
            return (await client.list_resources()).resources

        resources = {
            resource.name: resource.uri.rpartition("/")[2] for resource in speak(stack, work, key=key)
        }
        assert set(resources) == names
        results = call(stack, "search", key, query="What colour is the vault?", limit=50)["results"]
        assert {result["id"] for result in results} == set(resources.values())
        if key == full:
            others = resources["theirs.md"]
    assert call(stack, "search", bound, query="vault", collections=["theirs"])["error"] == "FORBIDDEN"
    assert call(stack, "fetch", bound, id=others)["error"] == "NOT_FOUND"
    asked = {"question": "What colour is the vault of theirs?"}
    answer = call(stack, "ask", bound, **asked)
    assert "golden" not in json.dumps(answer)

    async def streamed(client: Client) -> Any:
        return await client.call_tool("ask", asked, progress_callback=ignore)

    told = speak(stack, streamed, key=bound).structured_content
    assert {**told, "query_id": ""} == {**answer, "query_id": ""}


def test_no_description_holds_an_id_and_what_is_new_is_found_without_listing_again(server: Stack):
    """As RAGFlow's did, whose tools named the data sets that were there at the start: its issue 13183."""

    async def work(client: Client) -> Any:
        return await client.list_tools(), await client.list_resource_templates()

    for listed in speak(server, work):
        assert not re.search(r"[0-9a-f]{8}-?[0-9a-f]{4}-", listed.model_dump_json())
    made = server.client.post("/v1/collections", json={"name": "Fresh"})
    ingest(server.client, b"# Quay\n\nThe quay of Fresh is blue.", "quay.md", collection="Fresh")
    embed(server.client)
    (found,) = call(server, "search", query="What colour is the quay?")["results"]
    for named in ("Fresh", made.json()["id"]):
        assert call(server, "search", query="quay", collections=[named])["results"] == [found]


@pytest.mark.parametrize("mode", MODES)
def test_defaults_and_greatest_values_are_taken(library: Library, mode: str):
    """RAGFlow asked its own API for more than that gave (16369), and wanted what is optional (13981)."""
    for arguments in ({}, {"limit": 50}, {"limit": 1}, {"limit": None, "collections": None}):
        results = call(library.stack, "search", mode=mode, query="lighthouse", **arguments)["results"]
        assert 1 <= len(results) <= (arguments.get("limit") or 10)
    library.provider.says(height)
    assert call(library.stack, "ask", mode=mode, question=QUESTION, collections=[])["answered"]


def test_every_key_that_works_elsewhere_works_here(keyed_library: Stack):
    """RAGFlow's did not (7332)."""
    stack = keyed_library
    make_account(stack, "ann", superuser=True)
    anns = commands.manage(stack, "create_api_key", "laptop", "--user", "ann").strip().splitlines()[-1]
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    for key in (*(make_key(stack, scope) for scope in ("read", "write", "admin")), anns):
        assert call(stack, "search", key, query="What colour is the vault?")["results"]
        for headers in ({"X-API-Key": key}, {"Authorization": f"Bearer {key}"}):
            for path in ("/mcp", "/v1/search"):
                body = message if path == "/mcp" else {"query": "vault"}
                reply = httpx.post(f"{stack.url}{path}", json=body, headers={**ACCEPT, **headers})
                assert reply.status_code == 200, reply.text


def test_a_bound_key_reads_no_resource_of_others(keyed_library: Stack):
    stack = keyed_library
    bound = make_key(stack, "read", collections=["ours"])
    theirs = stack.sql("SELECT id FROM documents_document WHERE original_filename = 'theirs.md'")[0]["id"]

    async def work(client: Client) -> Any:
        (mine,) = (await client.list_resources()).resources
        (template,) = (await client.list_resource_templates()).resource_templates
        for uri in (f"knowlex://documents/{theirs}", f"knowlex://documents/{theirs}/pages/1"):
            with pytest.raises(MCPError, match="not found"):
                await client.read_resource(uri)
        for uri in ("file:///etc/passwd", "knowlex://documents/..%2f", "knowlex://collections/ours"):
            with pytest.raises(MCPError):
                await client.read_resource(uri)
        page = template.uri_template.replace("{id}", mine.uri.rpartition("/")[2]).replace("{number}", "1")
        return (
            mine,
            (await client.read_resource(mine.uri)).contents,
            (await client.read_resource(page)).contents,
        )

    mine, (whole,), (page,) = speak(stack, work, key=bound)
    assert (mine.name, mine.mime_type, whole.mime_type) == ("ours.md", "text/plain", "text/plain")
    assert "The vault of ours is silver." in whole.text
    assert page.text in whole.text


def test_links_begin_with_the_address_that_people_know(keyed_library: Stack):
    key = make_key(keyed_library, "read")
    told = call(keyed_library, "ask", key, question="What colour is the vault of ours?")
    found = call(keyed_library, "search", key, query="vault")["results"]
    assert told["citations"], told
    for citation in told["citations"]:
        assert citation["url"].startswith(f"https://kb.example.org/d/{citation['document_id']}?start=")
    assert all(one["url"].startswith("https://kb.example.org/d/") for one in found)


@pytest.fixture(scope="module")
def _keyed_stack(make_module_stack: MakeStack) -> Stack:
    return make_module_stack(
        KNOWLEX_REQUIRE_API_KEY="true",
        KNOWLEX_PUBLIC_URL="https://kb.example.org",
        KNOWLEX_RELEVANCE_THRESHOLD="0",
    )


def fill(stack: Stack) -> None:
    with as_key(stack, make_key(stack)) as admin:
        for name, colour in (("ours", "silver"), ("theirs", "golden")):
            assert admin.post("/v1/collections", json={"name": name}).status_code == 201
            text = f"# Vault\n\nThe vault of {name} is {colour}.".encode()
            ingest(admin, text, f"{name}.md", collection=name)
        embed(admin)


@pytest.fixture
def keyed_library(_keyed_stack: Stack) -> Stack:
    _keyed_stack.filled(fill)
    return _keyed_stack


def test_the_rules_of_other_faces_hold(server: Stack):
    url, message = f"{server.url}/mcp", {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    accept = ACCEPT
    with server.another_web(KNOWLEX_RATE_LIMIT="1/hour") as web:  # used up by waiting for it
        assert_problem(web.post("/mcp", json=message, headers=accept), 429, "RATE_LIMITED")
    assert httpx.post(url, json=message, headers=accept).json() == {"jsonrpc": "2.0", "id": 1, "result": {}}
    foreign = httpx.post(url, json=message, headers={**accept, "Origin": "https://evil.example"})
    assert_problem(foreign, 403, "FORBIDDEN")
    rebound = httpx.post(url, json=message, headers={**accept, "Host": "evil.example"})
    assert_problem(rebound, 400, "VALIDATION_ERROR")
    large = httpx.post(url, content=b" " * (1024 * 1024 + 1), headers={**accept})
    assert_problem(large, 413, "PAYLOAD_TOO_LARGE")
    for method in ("GET", "DELETE"):
        reply = httpx.request(method, url, headers=accept)
        assert_problem(reply, 405, "METHOD_NOT_ALLOWED")
        assert "POST" in reply.headers["Allow"]
    assert (
        httpx.post(
            url, content=b"[" * 90_000, headers={**accept, "Content-Type": "application/json"}
        ).status_code
        == 400
    )


@pytest.mark.parametrize(
    ("mode", "words"),
    [("legacy", ["manage.py", "mcp"]), ("auto", ["-m", "knowlex_client.mcp", "--key", "any"])],
)
def test_stdio_hands_everything_to_the_server(library: Library, mode: str, words: list[str]):
    library.provider.says(height)
    told: list[float] = []

    async def note(progress: float, total: float | None, message: str | None) -> None:
        told.append(progress)

    async def run() -> Any:
        command = StdioServerParameters(
            command=sys.executable,
            args=[*words, "--url", library.stack.url],
            env=library.stack.env,
            cwd=PROJECT,
        )
        async with Client(stdio_client(command), mode=mode) as client:
            tools = await client.list_tools()
            answer = await client.call_tool("ask", {"question": QUESTION}, progress_callback=note)
            found = await client.call_tool("search", {"query": "253 steps"})
            resource = await client.read_resource(f"knowlex://documents/{library.pdf_id}")
            failed = await client.call_tool("fetch", {"id": UNKNOWN_ID})
            return tools.tools, answer, found, resource, failed

    tools, answer, found, resource, failed = asyncio.run(run())
    assert {tool.name for tool in tools} == {"search", "fetch", "ask"}
    assert answer.structured_content["citations"][0]["support"] == "exact"
    assert told[0] == 0
    assert found.structured_content["results"][0]["id"] == library.markdown_id
    assert "Norderney is 54 metres tall" in resource.contents[0].text
    assert failed.is_error
    assert "NOT_FOUND" in failed.content[0].text


def over_stdio(stack: Stack, key: str, tool: str, **arguments: Any) -> Any:
    """The result of a tool by `manage.py mcp`, with the key where programs are told to put it."""

    async def run() -> Any:
        command = StdioServerParameters(
            command=sys.executable,
            args=["manage.py", "mcp", "--url", stack.url],
            env={**stack.env, "KNOWLEX_API_KEY": key},
            cwd=PROJECT,
        )
        async with Client(stdio_client(command)) as client:
            return json.loads((await client.call_tool(tool, arguments)).content[0].text)

    return asyncio.run(run())


def test_stdio_with_a_bound_key_sees_its_collections_only(keyed_library: Stack):
    bound = make_key(keyed_library, "read", collections=["ours"])
    told = over_stdio(keyed_library, bound, "search", query="What colour is the vault?", limit=50)
    assert [result["title"] for result in told["results"]] == ["Vault"]


def test_stdio_with_a_wrong_key_says_so_and_not_on_standard_output(keyed_library: Stack):
    done = keyed_library.run("mcp", "--url", keyed_library.url, "--api-key", "kx_wrong")
    assert (done.returncode, done.stdout) == (1, "")
    assert f"{keyed_library.url} does not answer as it should: Invalid or expired API key" in done.stderr
    assert "Traceback" not in done.stderr
