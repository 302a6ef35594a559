"""However a reply is cut into pieces, its text is the same: lines, events, characters, reasoning, length."""

import json
import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from knowlex.base.errors import SynthesisFailed
from rag.chat.cleaning import MAX_ANSWER_CHARS, Cleaner, ReasoningShown
from rag.chat.ollama import ChatDialect, Sent
from rag.chat.openai import OpenAIDialect
from rag.chat.reading import MAX_LINE_BYTES, EventSplitter, LineSplitter, ReplyReader, ServerEvent
from rag.chat.replies import RetryableFailure
from rag.types.answer import Usage

PARTS = [
    "<think>",
    "</think>",
    "<thinking>",
    "</thinking>",
    "<th",
    "ink>",
    "<context>",
    "</con",
    "text>",
    "\n",
    "<",
    "a < b",
    "</",
    "Okay, so",
    "x",
]
PARTS += [
    "\x00",
    "\ud83d",
    "\ude00",
    "\ud800",
    "\x07",
    "\ufffe",
    " ",
    "\n\n",
    "The tower has 120 steps [1]. ",
    "é漢",
]
REPLY = st.lists(st.sampled_from(PARTS) | st.text(max_size=3), max_size=25).map("".join)
CUTS = st.lists(st.integers(1, 9), max_size=80)
EXAMPLES = settings(max_examples=60, deadline=None)


def cut(whole: Any, sizes: list[int]) -> list[Any]:
    pieces, start = [], 0
    for size in sizes:
        pieces.append(whole[start : start + size])
        start += size
    return [*pieces, whole[start:]]


def cleaned(pieces: list[str]) -> str:
    cleaner = Cleaner()
    return "".join([*map(cleaner.feed, pieces), cleaner.finish()])


@EXAMPLES
@given(REPLY, CUTS)
def test_pieces_give_what_the_whole_gives(reply: str, sizes: list[int]):
    whole = cleaned([reply])
    try:
        assert cleaned(cut(reply, sizes)) == whole
    except ReasoningShown:
        assert "</think" in reply.lower()  # alone, after text that did not sound like reasoning
    assert whole == whole.strip()
    whole.encode()


@EXAMPLES
@given(st.integers(MAX_ANSWER_CHARS - 400, MAX_ANSWER_CHARS + 400), st.integers(1, 300), CUTS)
def test_a_long_text_is_cut_at_the_same_place(length: int, word: int, sizes: list[int]):
    reply = ("w" * word + " ") * (length // (word + 1)) + "end"
    whole = cleaned([reply])
    assert cleaned(cut(reply, [MAX_ANSWER_CHARS - 300, *sizes])) == whole
    assert reply.startswith(whole)
    assert len(whole) <= MAX_ANSWER_CHARS
    assert len(whole) > MAX_ANSWER_CHARS - 250 or whole == reply


@pytest.mark.parametrize(
    ("reply", "text"),
    [
        ("Yes [1]. <think>why?</think> And no [2].", "Yes [1].  And no [2]."),
        ("Okay, the user asks for steps, and block 1 tells.</think>\n\n120 [1].", "120 [1]."),
        ("Okay, 120 steps [1].", "Okay, 120 steps [1]."),
        ("<THINK>x</Think>Yes [1].", "Yes [1]."),
        ("[THINK]Block [1] tells.[/THINK]Yes [1].", "Yes [1]."),
        ("<thought>x</thought>Yes [1]. <reasoning>y</reasoning>", "Yes [1]."),
        ("5 < 6, and <b> is a tag [1].", "5 < 6, and <b> is a tag [1]."),
        ("Yes <thi", "Yes <thi"),
        ("\ud83d\ude00 [1]", "\U0001f600 [1]"),
    ],
)
def test_reasoning_is_left_out(reply: str, text: str):
    assert cleaned([reply]) == cleaned(list(reply)) == text


@pytest.mark.parametrize(
    ("reply", "text"),
    [
        ("The answer is:\n<context>\n[1] 120 steps.\n  </Context>", "The answer is:\n\n[1] 120 steps."),
        ("<context>120 steps [1].</context>\n", "120 steps [1]."),
        ("The element <context> is one [1].\n<contexts>", "The element <context> is one [1].\n<contexts>"),
        ("120 steps [1].\n</contex", "120 steps [1].\n</contex"),
    ],
)
def test_the_prompts_fence_is_left_out(reply: str, text: str):
    assert cleaned([reply]) == cleaned(list(reply)) == text


def test_once_a_model_is_known_to_announce_no_reasoning_all_is_held():
    cleaner = Cleaner(unannounced=True)
    assert not any(map(cleaner.feed, "The towers differ, as block 2 says.</thi"))
    assert cleaner.feed("nk> 120 [1].") == "120 [1]."


@pytest.mark.parametrize(
    ("reply", "known", "for_the_next"),
    [
        ("The towers differ.</think>120 [1].", False, True),
        ("The towers differ.</think>120 [1].", True, True),
        ("Okay, block 2 differs.</think>120 [1].", False, False),  # its beginning announces it
        ("120 [1].", True, False),
    ],
)
def test_beginnings_are_held_until_a_reply_has_no_lone_tag(reply: str, known: bool, for_the_next: bool):
    cleaner = Cleaner(unannounced=known)
    assert (cleaner.feed(reply) + cleaner.finish()).strip() == "120 [1]."
    assert cleaner.unannounced is for_the_next


@EXAMPLES
@given(st.lists(st.binary(max_size=6).filter(lambda line: not set(line) & set(b"\r\n"))), CUTS)
def test_lines_end_in_any_way_and_come_in_any_blocks(lines: list[bytes], sizes: list[int]):
    for end in (b"\n", b"\r\n", b"\r"):
        whole = b"\xef\xbb\xbfbegin" + end + b"".join(line + end for line in lines) + b"rest"
        reader = LineSplitter()
        read = [line for block in cut(whole, sizes) for line in reader.feed(block)]
        assert [*read, *reader.finish()] == [b"begin", *lines, b"rest"]


def test_a_line_without_end_is_not_held_for_ever():
    reader = LineSplitter()
    assert reader.feed(b"x" * MAX_LINE_BYTES) == []
    with pytest.raises(RetryableFailure):
        reader.feed(b"x")


def test_events_have_comments_names_and_data_of_several_lines():
    sent = b": hello\r\ndata: one\r\ndata:two\r\nid: 7\r\n\r\n: ping\n\nevent: error\ndata: {}\n\n"
    sent += b"retry: 5\n\ndata: x"
    events = EventSplitter()
    read = [event for place in range(len(sent)) for event in events.feed(sent[place : place + 1])]
    assert read == [ServerEvent("", b"one\ntwo"), ServerEvent("error", b"{}")]
    assert events.finish() == [ServerEvent("", b"x")]


def openai_stream(*chunks: Any) -> bytes:
    return b"".join(f"data: {json.dumps(chunk)}\n\n".encode() for chunk in chunks) + b"data: [DONE]\n\n"


def delta(**fields: Any) -> dict[str, Any]:
    reason = fields.pop("finish_reason", None)
    return {"choices": [{"index": 0, "delta": fields, "finish_reason": reason}]}


def read_openai(
    body: bytes, sizes: list[int] | None = None, *, streamed: bool = True
) -> tuple[str, Usage | None]:
    reading = ReplyReader(OpenAIDialect("m", 0).tongue, streamed=streamed)
    text = "".join(map(reading.feed, cut(body, sizes or [])))
    if not (reading.last or reading.failure):
        text += reading.finish()
    if reading.failure:
        raise reading.failure
    return text, reading.usage


STREAM = openai_stream(
    delta(role="assistant", content=""),
    delta(reasoning_content="Let me see."),
    delta(reasoning="Hmm.", content=None),
    delta(content="Zwölf "),
    delta(content=[{"type": "thinking", "thinking": "x"}, {"type": "text", "text": "漢字 [1]."}]),
    delta(finish_reason="length"),
    {"choices": None, "usage": {"prompt_tokens": 7, "completion_tokens": 3}},
)


@EXAMPLES
@given(CUTS, st.booleans())
def test_a_stream_may_be_cut_anywhere(sizes: list[int], streamed: bool):
    assert read_openai(STREAM, sizes, streamed=streamed) == ("Zwölf 漢字 [1].", Usage(7, 3))


@pytest.mark.parametrize(
    "body",
    [
        STREAM[: STREAM.index(b'"length"') - 40],
        openai_stream(delta(content="A"))[: -len(b"data: [DONE]\n\n")],
        b"data: {not json\n\n",
        b"data: []\n\n",
        b"data: \xff\n\n",
        openai_stream({"choices": ["x"]}),
        openai_stream({"error": {"message": "busy"}}),
        b'event: error\ndata: {"message": "busy"}\n\n',
        b"<html>Bad gateway</html>",
        b"",
    ],
)
def test_a_stream_that_is_cut_or_broken_is_no_answer(body: bytes):
    with pytest.raises(RetryableFailure):
        read_openai(body)


@pytest.mark.parametrize(
    "refused", [delta(refusal="I cannot."), delta(content="A", finish_reason="content_filter")]
)
def test_a_refusal_is_a_failure_that_is_not_tried_again(refused: dict[str, Any]):
    whole = {"choices": [{"message": refused["choices"][0]["delta"], **refused["choices"][0]}]}
    for body, streamed in (
        (openai_stream(delta(content="Well, "), refused), True),
        (json.dumps(whole).encode(), False),
    ):
        with pytest.raises(SynthesisFailed, match="refuses") as failed:
            read_openai(body, streamed=streamed)
        assert not isinstance(failed.value, RetryableFailure)


def test_an_event_at_the_end_needs_no_empty_line():
    assert read_openai(STREAM.rstrip())[0] == "Zwölf 漢字 [1]."
    assert read_openai(openai_stream(delta(content="A", finish_reason="stop"))[:-14].rstrip())[0] == "A"


def test_ollama_s_lines_are_read_with_its_thoughts_left_out():
    lines = [
        {"message": {"role": "assistant", "content": "", "thinking": "Hmm"}, "done": False},
        {"message": {"role": "assistant", "content": "Zwölf [1]."}, "done": False},
        {
            "message": {"role": "assistant", "content": ""},
            "done": True,
            "prompt_eval_count": 7,
            "eval_count": 3,
        },
    ]
    body = "\r\n\n".join(map(json.dumps, lines)).encode()
    for streamed in (True, False):
        reading = ReplyReader(ChatDialect(Sent("m", 0, 4000, None, "30m", {})).tongue, streamed=streamed)
        text = "".join(map(reading.feed, cut(body, [10] * 5))) + reading.finish()
        assert (text, reading.usage) == ("Zwölf [1].", Usage(7, 3))


@pytest.mark.parametrize(
    "pieces",
    [
        ["<think></think>" * 60_000],
        ["<think>" * 100_000],
        [" " * 5] * 50_000,
        ["\ud800"] * 50_000,
        ["Answer.", *[" \n"] * 50_000],
    ],
    ids=["pairs", "tags", "blank", "broken", "trailing"],
)
def test_a_broken_model_does_not_hold_up_the_others(pieces: list[str]):
    """What is looked at again for each piece, or copied for each tag, takes many times as long."""
    started = time.process_time()
    assert cleaned(pieces) == pieces[0].strip() * pieces[0].startswith("Answer.")
    assert time.process_time() - started < 5  # what looks at it all again for each piece took 46 s
