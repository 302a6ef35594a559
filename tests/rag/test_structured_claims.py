"""Claims by a JSON schema, and what happens where a server knows none."""

import json
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import aclosing
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from knowlex.base.errors import SynthesisFailed
from knowlex.base.retry import Retry
from rag.context.fitting import context_of
from rag.prompts import NOT_FOUND, SYSTEM
from rag.synthesizers import chat, claims
from rag.synthesizers.chat import ChatSynthesizer, Structured
from rag.synthesizers.claims import MOST_CLAIMS, TEXT_CHARS, ClaimReader, NotClaims
from rag.synthesizers.ollama import OllamaSynthesizer
from rag.synthesizers.openai import OpenAISynthesizer
from rag.types.answer import Source, Sources, Synthesis, Usage
from tests.provider import Provider
from tests.rag.factory import passage, question

QUICK = Retry(retries=2, base_s=0.01)
SAID = "The tower has 120 steps [1]. Its lamp burns oil [1][2]."
CONTEXT = context_of([passage(1), passage(2)])
FIRST, SECOND = Source(1, "Fact number 1 is true."), Source(2, "Fact number 2 is true.")
PIECES = (
    "The tower has 120 steps",
    Sources((FIRST,), "."),
    " Its lamp burns oil",
    Sources((FIRST, SECOND), "."),
)
Connect = Callable[..., ChatSynthesizer]


@pytest.fixture(params=["openai", "ollama"])
async def connect(request: pytest.FixtureRequest, provider: Provider) -> AsyncIterator[Connect]:
    """`connect(structured="on")`: a client of the provider; closed when the test ends."""
    provider.says(SAID)
    made: list[ChatSynthesizer] = []

    def new(structured: Structured = "auto") -> ChatSynthesizer:
        options: dict[str, Any] = {"model_name": "m", "retry": QUICK, "structured": structured}
        made.append(
            OpenAISynthesizer(api_key="k", base_url=provider.openai_url, **options)
            if request.param == "openai"
            else OllamaSynthesizer(host=provider.url, **options)
        )
        return made[-1]

    yield new
    for one in made:
        await one.aclose()


@pytest.fixture
def synthesizer(connect: Connect) -> ChatSynthesizer:
    return connect()


async def whole(synthesizer: ChatSynthesizer) -> Synthesis:
    return await synthesizer.synthesize(question(), CONTEXT)


async def streamed(synthesizer: ChatSynthesizer) -> list[str | Sources | Usage]:
    async with aclosing(synthesizer.stream(question(), CONTEXT)) as pieces:
        return [piece async for piece in pieces]


def joined(pieces: Sequence[str | Sources | Usage]) -> tuple[str | Sources, ...]:
    """Without the usage, texts that follow each other as one."""
    found: list[str | Sources] = []
    for piece in pieces:
        if isinstance(piece, str) and found and isinstance(found[-1], str):
            found[-1] += piece
        elif not isinstance(piece, Usage):
            found.append(piece)
    return tuple(found)


async def test_claims_come_with_their_sources(synthesizer: ChatSynthesizer, provider: Provider):
    provider.speaks_in(5, 0.002)
    assert joined((await whole(synthesizer)).pieces) == PIECES
    pieces = await streamed(synthesizer)
    assert joined(pieces) == PIECES
    assert isinstance(pieces[-1], Usage)
    assert len(pieces) > len(PIECES) + 1  # the text came while it was written
    body = provider.calls("chat")[0].body
    given = body.get("format") or body["response_format"]["json_schema"]["schema"]
    assert given == claims.SCHEMA
    assert provider.calls("chat")[0].prompt.numbers == [1, 2]
    assert synthesizer.prompt_version == claims.VERSION


def test_the_schema_is_one_that_strict_servers_take():
    def check(schema: Any) -> None:
        if schema["type"] == "object":
            assert schema["additionalProperties"] is False
            assert schema["required"] == list(schema["properties"])
            for inner in schema["properties"].values():
                check(inner)
        elif schema["type"] == "array":
            check(schema["items"])

    check(claims.SCHEMA)


async def test_no_claims_are_a_refusal(synthesizer: ChatSynthesizer, provider: Provider):
    provider.says('{"claims": []}')
    assert (await whole(synthesizer)).text == NOT_FOUND
    assert (await streamed(synthesizer))[0] == NOT_FOUND


async def test_a_model_that_says_nothing_has_found_nothing(synthesizer: ChatSynthesizer, provider: Provider):
    provider.says(None)
    provider.rule("schema_ignored", on="chat")
    assert (await whole(synthesizer)).text == NOT_FOUND
    assert (await streamed(synthesizer))[0] == NOT_FOUND
    assert len(provider.calls("chat")) == 6  # after its tries


@pytest.mark.parametrize("stream_first", [True, False])
@pytest.mark.parametrize("refusal", ["status", "schema_ignored"])
async def test_a_server_without_schemas_is_asked_plainly_for_a_while(
    synthesizer: ChatSynthesizer,
    provider: Provider,
    stream_first: bool,
    refusal: str,
    monkeypatch: pytest.MonkeyPatch,
):
    for holding in ("response_format", "format"):
        fields = {"status": 400, "message": "unknown field"} if refusal == "status" else {}
        provider.rule(refusal, holding=holding, **fields)
    if stream_first:
        assert joined(await streamed(synthesizer)) == (SAID,)
    for _ in range(2):
        assert (await whole(synthesizer)).text == SAID
    assert len(provider.calls("chat")) == 3 + stream_first
    assert synthesizer.prompt_version != claims.VERSION

    monkeypatch.setattr(chat, "REFUSAL_KEPT_S", 0.0)
    synthesizer._plain_until = 0.0  # ten minutes later
    provider.forget_rules()
    assert joined((await whole(synthesizer)).pieces) == PIECES


async def test_on_asks_by_the_schema_again_each_time(connect: Connect, provider: Provider):
    for holding in ("response_format", "format"):
        provider.rule("status", status=422, message="unknown field", holding=holding)
    synthesizer = connect("on")
    for _ in range(2):
        assert (await whole(synthesizer)).text == SAID
    assert len(provider.calls("chat")) == 4
    assert synthesizer.prompt_version == claims.VERSION


async def test_off_never_asks_by_a_schema(connect: Connect, provider: Provider):
    assert (await whole(connect("off"))).text == SAID
    body = provider.calls("chat")[0].body
    assert "response_format" not in body
    assert "format" not in body


async def test_a_stream_that_breaks_between_claims_is_a_failure(
    synthesizer: ChatSynthesizer, provider: Provider
):
    provider.speaks_in(10)
    provider.rule("stream_cut", after=9)
    with pytest.raises(SynthesisFailed):
        await streamed(synthesizer)


async def test_a_text_without_end_is_left_for_a_plain_reply(synthesizer: ChatSynthesizer, provider: Provider):
    endless = '{"claims": [{"text": "' + "the tower of " * 2000
    provider.speaks_in(100)
    provider.says(lambda prompt: SAID if prompt.system == SYSTEM else endless)
    for _ in range(2):
        assert (await whole(synthesizer)).text == SAID
    assert synthesizer.prompt_version == claims.VERSION  # the next reply may be a good one

    text, sources, usage = (*joined(pieces := await streamed(synthesizer)), pieces[-1])
    assert (sources, usage) == (Sources(()), Usage(model="m"))  # shown already, but with no source
    assert isinstance(text, str)
    assert TEXT_CHARS - 50 < len(text) <= TEXT_CHARS


async def test_claims_before_one_without_end_stay(synthesizer: ChatSynthesizer, provider: Provider):
    provider.speaks_in(100)
    provider.says(f'{{"claims": [{claim("A b.", 1)}, {{"text": "' + "the tower of " * 2000)
    pieces = joined((await whole(synthesizer)).pieces)
    assert pieces[:2] == ("A b", Sources((Source(1),), "."))
    assert joined(await streamed(synthesizer)) == pieces
    assert len(provider.calls("chat")) == 2


async def test_claims_without_end_are_left(synthesizer: ChatSynthesizer, provider: Provider):
    provider.speaks_in(100)
    provider.says('{"claims": [' + f"{claim('A b.', 1)}, " * 900)
    found = await whole(synthesizer)
    assert [piece for piece in found.pieces if isinstance(piece, Sources)] == (
        [Sources((Source(1),), ".")] * MOST_CLAIMS
    )
    assert found.usage == (await streamed(synthesizer))[-1] == Usage(model="m")
    assert len(provider.calls("chat")) == 2


def claim(text: str, *blocks: int, quote: str = "") -> str:
    return json.dumps({"text": text, "sources": [{"block": n, "quote": quote} for n in blocks]})


def read(reply: str, size: int) -> tuple[str | Sources, ...]:
    reader = ClaimReader()
    pieces: list[str | Sources] = []
    for start in range(0, len(reply), size):
        pieces += reader.feed(reply[start : start + size])
    return joined([*pieces, *reader.finish()])


_TEXTS = st.text(
    st.one_of(
        st.sampled_from(" .!?[]1\"'\\\n\u2026\U0001f600\ud83d\x00"), st.characters(exclude_categories=[])
    ),
    max_size=20,
)
_SOURCES = st.lists(st.fixed_dictionaries({"block": st.integers(-1, 20), "quote": _TEXTS}), max_size=3)


@given(
    st.lists(st.fixed_dictionaries({"text": _TEXTS, "sources": _SOURCES}), max_size=4),
    st.integers(1, 30),
    st.booleans(),
)
@settings(max_examples=200, deadline=None)
def test_claims_may_come_in_any_pieces(said: list[dict[str, Any]], size: int, ascii_only: bool):
    reply = json.dumps({"claims": said}, indent=1, ensure_ascii=ascii_only)
    found = read(reply, len(reply))
    assert read(reply, size) == found
    text = "".join(piece for piece in found if isinstance(piece, str))
    text.encode()
    assert "\0" not in text


@given(st.integers(0, 400), st.integers(1, 30))
@settings(max_examples=60, deadline=None)
def test_a_reply_that_is_cut_off_ends_each_claim(length: int, size: int):
    reply = f'{{"claims": [{claim("A 😀 b.", 1, 2, quote="c d")}, {claim("E.", 3, quote="f")}]}}'
    try:
        found = read(reply[:length], size)
    except NotClaims:
        assert length < len('{"claims": [')
        return
    assert found == (NOT_FOUND,) or [type(piece) for piece in found] == [str, Sources] * (len(found) // 2)
    assert found == read(reply[:length], 1)


@pytest.mark.parametrize(
    ("reply", "pieces"),
    [
        (
            '```json\n{"claims": [{"text": "A b", "sources": [2, 2, true, "x", 0, {"block": 3}]}]}\n```',
            ("A b", Sources((Source(2), Source(3)), ".")),
        ),
        (
            '{"claims":[{"text":"A [7].","sources":[{"block":1,"quote":" c\\nd "}]},{"text":" "}',
            ("A", Sources((Source(1, "c d"),), ".")),
        ),
        (
            '{"claims":[{"text":"A [2][1, 7].","sources":[]},{"text":"B [3]","sources":[]}]}',
            ("A", Sources((Source(2), Source(1), Source(7)), "."), " B", Sources((Source(3),), ".")),
        ),
        (
            '{"claims":[{"text":"A?","sources":null},{"text":"B',
            ("A", Sources((), "?"), " B", Sources(())),
        ),
        (
            '{"claims":[{"why":{"x":[1]},"sources":[1],"text":"It \\"is\\". \\ud83d\\ude00 (so).\\u201d"}]}',
            ('It "is". \U0001f600 (so)', Sources((Source(1),), ".\u201d")),
        ),
        (
            '{"claims":[{"text":"A b","sources":[{"block": 4, "quote": "c and so on',
            ("A b", Sources((Source(4),))),
        ),
        ('{"claims":[{"text":"A b","sources":[1]}, and more', ("A b", Sources((Source(1),), "."))),
        ('{"claims" : [ ] }', (NOT_FOUND,)),
    ],
)
def test_claims_are_read_for_what_they_mean(reply: str, pieces: tuple[str | Sources, ...]):
    assert read(reply, 1000) == pieces
    assert read(reply, 3) == pieces


@pytest.mark.parametrize("size", [1, 7, 500])
def test_brackets_that_cite_nothing_stay_in_a_claim(size: int):
    text = "Use argv[1] for the first argument; the range is [0, 1]"
    assert read(f'{{"claims": [{claim(text + ".", 1)}]}}', size) == (text, Sources((Source(1),), "."))
    assert read(f'{{"claims": [{claim("It has 9 steps[1], says [2] A[3].", 1)}]}}', size)[0] == (
        "It has 9 steps, says A"
    )


def test_the_items_of_a_list_stand_on_lines_of_their_own():
    reply = json.dumps(
        {
            "claims": [
                {"text": text, "sources": [1]}
                for text in ("Two ports:", "- Brest.", "- Gdynia.", "Both are old.")
            ]
        }
    )
    for size in (1, 4, 1000):
        text = "".join(piece if isinstance(piece, str) else piece.ending for piece in read(reply, size))
        assert text == "Two ports:\n- Brest.\n- Gdynia.\n\nBoth are old."


def test_a_quote_without_end_is_left_with_its_block():
    reply = '{"claims":[{"text":"A b.","sources":[{"block": 4, "quote": "' + "so on " * 1000
    assert read(reply, 9) == ("A b", Sources((Source(4),), "."))


def test_reading_takes_time_in_proportion_to_the_reply():
    reply = '{"claims":[' + ",".join([claim("Word. " * 200, *range(1, 9), quote="q " * 200)] * 11) + "]}"
    started = time.process_time()
    assert len(read(reply, 2)) == 22
    assert time.process_time() - started < 2


@pytest.mark.parametrize(
    "reply",
    [
        "The tower [1].",
        '{"answer": "x"}',
        '{"claims": [7]}',
        "[" * 500,
        '{"claims":',
        '{"claims": [{7: 8}]}' + " " * 99,
    ],
)
def test_anything_else_is_not_claims(reply: str):
    with pytest.raises(NotClaims):
        read(reply, 7)
