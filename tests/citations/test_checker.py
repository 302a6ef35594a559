"""From a raw reply to a checked answer."""

import random
import re
import time

import pytest

from rag.citations.checker import Checker
from rag.types import Block, Context, Part
from tests.citations.hostile import replies
from tests.citations.passages import CONTEXTS
from tests.citations.replies import BRIDGE, NORTH, TOWERS, checked, context, streamed
from tests.rag.factory import passage

OAK = "The bridge is made of oak"
STEPS = "The north tower has 120 steps"
GAS = "The south tower has 90 steps"


@pytest.mark.parametrize(
    ("reply", "text"),
    [
        (f"{STEPS} [1].", f"{STEPS} [1]."),
        (f"{STEPS}. [1]", f"{STEPS}. [1]"),
        (f"{STEPS}.[1] {OAK}.[3]", f"{STEPS}. [1] {OAK}. [3]"),
        (f"{STEPS} [1, 2].", f"{STEPS} [1]."),
        (f"{STEPS} [1-3].", f"{STEPS} [1]."),
        (f"{STEPS} [1][2].", f"{STEPS} [1]."),
        (f"{STEPS}【1】.", f"{STEPS}[1]."),
        (f"{STEPS} ［1］.", f"{STEPS} [1]."),
        (f"{STEPS}[^1].", f"{STEPS}[1]."),
        (f"{STEPS} [Chunk 1].", f"{STEPS} [1]."),
        (f"{STEPS} [Source 1].", f"{STEPS} [1]."),
        (f"{STEPS} [source: 1].", f"{STEPS} [1]."),
        (f"{STEPS} (1).", f"{STEPS} [1]."),
        (f"{STEPS} (source 1).", f"{STEPS} [1]."),
        (f"{STEPS} (Chunk 1).", f"{STEPS} [1]."),
        (f"{STEPS}, according to Source 1.", f"{STEPS} [1]."),
        (f"{STEPS} - Source 1.", f"{STEPS} [1]."),
        (f"{STEPS}. Source 1.", f"{STEPS}. [1]"),
        (f"{STEPS}. Source: [1]", f"{STEPS}. [1]"),
        (f"According to Source 1, {STEPS}.", f"{STEPS} [1]."),
        (f"As stated in [1], {STEPS}.", f"{STEPS} [1]."),
        ("Source 1 says that the north tower has 120 steps.", f"{STEPS} [1]."),
        ("[1] states the north tower has 120 steps.", f"{STEPS} [1]."),
        (f"**Source 1:** {STEPS}.", f"{STEPS} [1]."),
        (f"[1]: {STEPS}.", f"{STEPS} [1]."),
        (f"[1] {STEPS}. [2] {GAS}.", f"{STEPS} [1]. {GAS} [2]."),
        (f"{STEPS} [doc 1, page 3].", f"{STEPS} [1]."),
        (f"{STEPS} [Document 1, p. 3].", f"{STEPS} [1]."),
        (f"{STEPS} [1】.", f"{STEPS} [1]."),
        (f"{STEPS} {{1}}.", f"{STEPS} [1]."),
        (f"{STEPS} <1>.", f"{STEPS} [1]."),
        (f"{STEPS}¹.", f"{STEPS}[1]."),
        (f"{STEPS} [1.]", f"{STEPS} [1]"),
        (f"{STEPS} [ 1 ].", f"{STEPS} [1]."),
        (f"{STEPS} [[1]].", f"{STEPS} [1]."),
        (f"{STEPS} [1†source].", f"{STEPS} [1]."),
        (f"{STEPS} (see [1]).", f"{STEPS} [1]."),
        (f"{STEPS} [Context block 1].", f"{STEPS} [1]."),
        (f"{STEPS} (context block [1]).", f"{STEPS} [1]."),
        (f"{STEPS}.\n\n(Source: block [1])", f"{STEPS}. [1]"),
        (f"According to the context block [1], {STEPS}.", f"{STEPS} [1]."),
        (f"The context block [1] says that {STEPS}.", f"{STEPS} [1]."),
        (f"{STEPS}, context block 1.", f"{STEPS} [1]."),
        (f"{STEPS} [passage 1, sentence 2].", f"{STEPS} [1]."),
        (f"{STEPS} [^1^].", f"{STEPS} [1]."),
        (f"{STEPS} 【1:0†source】.", f"{STEPS} [1]."),
        (f"{STEPS} ([1]).", f"{STEPS} [1]."),
        (f"{STEPS} **[1]**.", f"{STEPS} [1]."),
        (f"{STEPS} [１].", f"{STEPS} [1]."),
        (f"{STEPS} [1](http://203.0.113.1/).", f"{STEPS} [1]."),
        (f"{STEPS}.\n[1]\n\n{OAK}.\n\n[3]", f"{STEPS}. [1]\n\n{OAK}. [3]"),
        (f"{STEPS} [1].\n\nReferences:\n[1] towers.pdf, p. 3.\n[2] more.pdf", f"{STEPS} [1]."),
        (f"{STEPS}.\n\nSources:\n- [1] towers.pdf", f"{STEPS}. [1]"),
        (f"- {STEPS} [1]\n- {GAS} [2]", f"- {STEPS} [1]\n- {GAS} [2]"),
        (f"1. {STEPS} [1]\n2. It has a cat [2]", f"1. {STEPS} [1]\n2. It has a cat"),
    ],
)
async def test_markers_are_read_for_what_they_mean(reply: str, text: str):
    assert (await checked(reply)).text == text


@pytest.mark.parametrize(
    "said",
    [
        f"(1) {STEPS} [1], (2) {OAK[0].lower()}{OAK[1:]} [3].",
        f"{STEPS} [1]. Before (2019) there were none.",
        f"{STEPS} [1]. See Table (1) for 7 m² more.",
        f"{STEPS} [1]. He said [sic] that f(x) [see below] holds.",
    ],
)
async def test_what_is_no_marker_stays(said: str):
    plain = (await checked(said)).text
    assert re.sub(r"\s*\[\d]", "", plain) == re.sub(r"\s*\[\d]", "", said)


@pytest.mark.parametrize(
    ("said", "support"),
    [
        ("The eel needs deep seas (15) [1].", "exact"),  # as the prompt shows it
        ("[1] The eel needs deep seas (15) .", "exact"),
        ("It spawns once (16, 17) and dies [1].", "exact"),
        ("The eel (15) needs deep seas [1].", None),
        ("The eel needs deep seas (16) [1].", None),
    ],
)
async def test_a_passages_references_may_be_quoted_as_the_prompt_shows_them(said: str, support: str | None):
    given = context("The eel needs deep seas [15] . It spawns once [16, 17] and dies.")
    found = await checked(said, given)
    assert [one.support for one in found.citations] == ([support] if support else [])


async def test_brackets_that_a_passage_writes_itself_stay():
    given = context("The method (2) was slow. The tower is old.", "Something else stands here.")
    assert (await checked("The tower is old [1]. It was the method (2).", given)).text == (
        "The tower is old [1]. It was the method (2)."
    )


@pytest.mark.parametrize(
    ("reply", "text"),
    [
        (f"{STEPS} [2].", f"{STEPS} [1]."),  # moved to the passage that says so
        (f"{STEPS} [1]. It is haunted [2].", f"{STEPS} [1]. It is haunted."),
        (f"{STEPS} [1]. The south tower has 91 steps [2].", f"{STEPS} [1]. The south tower has 91 steps."),
        (f"{STEPS} [1]. It is blue [9].", f"{STEPS} [1]. It is blue."),
        (
            f"{STEPS} [1] and the south tower has 90 steps [2].",
            f"{STEPS} [1] and the south tower has 90 steps [2].",
        ),
        (
            f"{STEPS} and the south tower has 90 steps [1][2].",
            f"{STEPS} and the south tower has 90 steps [1][2].",
        ),
        (f"{STEPS} [1] and is made of oak [3].", f"{STEPS} [1] and is made of oak."),
        (f"{OAK} [3]. The north tower [1] has 900 steps.", f"{OAK} [3]. The north tower has 900 steps."),
        (f"{STEPS}. {GAS}. {OAK} [3].", f"{STEPS}. {GAS}. {OAK} [3]."),
        ("Mr [1].", "Mr [1]."),
        (
            "It was built in the U.S [3]. Its lamp burns gas [2].",
            "It was built in the U.S [3]. Its lamp burns gas [2].",
        ),
        (
            f'{OAK} [3]. It is "the pride of all the land" [1].',
            f'{OAK} [3]. It is "the pride of all the land".',
        ),
        (f"[1] [2]. {OAK} [3].", f"{OAK} [3]."),
    ],
)
async def test_only_what_a_passage_says_keeps_its_marker(reply: str, text: str):
    assert (await checked(reply)).text == text


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ("", "not_supported"),
        ("[1]", "not_supported"),
        ("[1][2]. [3]", "not_supported"),
        (STEPS + ".", "not_supported"),
        (STEPS + " [9].", "not_supported"),
        ("The north tower has 121 steps [1].", "not_supported"),
        ("I don't have enough information to answer that [1].", "model_declined"),
        (f"I don't know. However, {STEPS} [1].", "model_declined"),
        ("It is tall. Unfortunately, I cannot find any information about it [1].", "model_declined"),
        ("The provided context does not mention the year [1].", "model_declined"),
        ("Based on the provided context, there is no information about the year.", "model_declined"),
        ("Die Antwort wurde in den Texten nicht gefunden.", "model_declined"),
        ("Ich habe nicht genügend Informationen, um das zu beantworten.", "model_declined"),
        ("Der Kontext enthält keine Informationen über das Jahr.", "model_declined"),
        ("Je n'ai pas assez d'informations pour répondre.", "model_declined"),
        ("Le contexte ne mentionne pas l'année.", "model_declined"),
        ("No tengo suficiente información para responder.", "model_declined"),
        ("El contexto no menciona el año.", "model_declined"),
        ("抱歉，我没有足够的信息来回答这个问题。", "model_declined"),
        ("提供的文本中没有提到这一点。", "model_declined"),
        ("申し訳ありませんが、その情報は見つかりません。", "model_declined"),
        ("提供された文書には、その情報が含まれていません。", "model_declined"),
    ],
)
async def test_what_supports_nothing_is_not_enough(reply: str, reason: str):
    shown, found = await streamed(reply, range(len(reply)))
    assert (found.text, found.cited, found.reason) == ("", (), reason)
    assert reason == "not_supported" or "".join(shown) == ""


@pytest.mark.parametrize(
    "reply",
    [
        f"{OAK} [3]. However, I don't have enough information about the lamp [1].",
        f"The context does not mention the year. {OAK} [3].",
    ],
)
async def test_a_refusal_beside_an_answer_is_said_without_a_marker(reply: str):
    found = await checked(reply)
    assert found.text == reply.replace(" [1]", "")
    assert found.cited == (3,)


async def test_a_citation_says_where_the_claim_and_its_proof_stand():
    found = await checked(f"So: {OAK} [3]. It is haunted. {STEPS}. [1]")
    assert found.cited == (3, 1)
    said = [found.text[c.answer_start : c.answer_end] for c in found.citations]
    quoted = [TOWERS[c.passage - 1][c.quote_start : c.quote_end] for c in found.citations]
    assert said == [f"So: {OAK}", f"{STEPS}."]
    assert quoted == [BRIDGE.split(". ")[0] + ".", NORTH.split(". ")[0] + "."]
    assert [c.support for c in found.citations] == ["supported", "exact"]


async def test_a_block_of_several_passages_is_cited_by_the_passage_that_says_it():
    first, second = "The gate is red. The wall is", "high. The moat is deep."
    block = Block(f"{first} {second}", (Part(0, len(first), 0, 0), Part(len(first) + 1, len(second), 1, 0)))
    given = Context((block,), (passage(1, first), passage(2, second)))
    found = await checked("The moat is deep [1]. The gate is red [1]. The wall is high [1].", given)
    assert found.text == "The moat is deep [2]. The gate is red [1]. The wall is high."
    (moat, gate) = found.citations
    assert second[moat.quote_start : moat.quote_end] == "The moat is deep."
    assert first[gate.quote_start : gate.quote_end] == "The gate is red."


async def test_text_flows_while_the_context_says_its_words():
    reply = f"{STEPS} [1]. It is haunted by the keeper [2]. {OAK} [3]."
    shown, found = await streamed(reply, [match.end() for match in re.finditer(r"\S+\s*", reply)])
    flowing = [piece.strip() for piece in shown if piece]
    assert len(flowing) > 5, flowing
    assert "haunted" not in "".join(shown[:12])
    assert "".join(shown) + found.rest == found.text


async def test_nothing_that_would_load_is_let_through():
    found = await checked(f"{STEPS} [1]. ![x](http://203.0.113.1/x.png). {OAK} [3](http://203.0.113.1/).")
    assert found.text == f"{STEPS} [1]. x. {OAK} [3]."


PIECES = [
    *"[]()【】1234,.;:!? \n",
    "[1]",
    "[1, 2]",
    " [3].",
    ". ",
    "(1)",
    "(see [1])",
    "**[1]**",
    "\n[1]\n",
    "U.S.",
]
PIECES += [
    "Dr. ",
    "[1](http://a)",
    "<sup>1</sup>",
    "source 1",
    "According to Source 1, ",
    "\nSources:\n",
    "\n- ",
]
PIECES += [
    "I don't know. ",
    "The context does not mention it. ",
    " which ",
    " and ",
    "![x](http://a)",
    f" {STEPS}",
]
PIECES += [f"{STEPS} [1]. ", f"{STEPS}. [1] ", f" {STEPS}, according to Source 1. ", f"**{STEPS}** (1). "]
PIECES += [f" {OAK}", f"{GAS} [2]. ", "\n\n", "^", "¹", "{2}", "。", "Source", " from the "]


def pieced(rng: random.Random) -> str:
    return "".join(rng.choices(PIECES, k=rng.randint(1, 25)))


@pytest.mark.parametrize(
    ("reply", "text"),
    [
        (f"{STEPS} [1]. " * 5, f"{STEPS} [1]."),
        (f"{STEPS}. [1] " * 5, f"{STEPS}. [1]"),
        (f"- {STEPS} [1]\n" * 3 + f"- {OAK} [3]", f"- {STEPS} [1]\n- {OAK} [3]"),
        (f"{STEPS} [1]. {OAK} [3]. {STEPS} [1].", f"{STEPS} [1]. {OAK} [3]. {STEPS} [1]."),
        (f"{STEPS} [1]. {STEPS} and more.", f"{STEPS} [1]. {STEPS} and more."),
    ],
)
async def test_what_was_just_said_is_not_said_again(reply: str, text: str):
    assert (await checked(reply)).text == text


async def test_however_a_reply_is_cut_the_answer_is_the_same():
    rng = random.Random(20)
    lies = [reply.text for reply in replies(TOWERS, 60, seed=20)]
    answered = 0
    for reply in [*(pieced(rng) for _ in range(400)), *lies]:
        found = await checked(reply)
        cuts = sorted(rng.sample(range(len(reply) + 1), min(4, len(reply))))
        for where in (cuts, range(1, len(reply))):
            shown, again = await streamed(reply, where)
            assert again[1:] == found[1:], reply
            assert not found.text or "".join(shown) + again.rest == found.text, reply
        assert (await Checker(context()).whole(reply))[1:] == found[1:], reply
        answered += bool(found.text)
    assert answered > 50


async def test_checking_changes_nothing_but_markers():
    letters, answered = re.compile(r"[\W_]+|\d+"), 0
    for contents in CONTEXTS[:2]:
        for reply in replies(contents, 60, seed=5):
            found = (await checked(reply.text, context(*contents))).text
            if found and not re.search("ource|Chunk|http", reply.text):
                said = re.sub(r", p\. 3|†source|\(see", "", reply.text)
                assert letters.sub("", found).lower() == letters.sub("", said).lower()
                answered += 1
    assert answered > 10


async def test_long_replies_take_linear_time():
    sentence = f"{STEPS} [1]. Its lamp burns whale oil and nobody knows why [2]. "

    async def seconds(size: int) -> float:
        reply = (sentence * (size // len(sentence) + 1))[:size]
        started = time.process_time()
        await streamed(reply, range(1, size))
        return time.process_time() - started

    await seconds(2_000)
    assert await seconds(32_000) < 0.5 + 12 * await seconds(4_000)


@pytest.mark.parametrize(
    "piece", ["[", "[1", "(", "word", " ", "\n", "[1] ", ".", "a.", "source ", "**", "。"]
)
async def test_a_reply_of_anything_takes_linear_time(piece: str):
    async def seconds(size: int) -> float:
        reply = piece * (size // len(piece))
        started = time.process_time()
        await streamed(reply, range(10, len(reply), 10))
        return time.process_time() - started

    assert await seconds(24_000) < 1 + 20 * await seconds(3_000)
