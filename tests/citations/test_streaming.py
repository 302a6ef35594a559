"""However a reply is cut, and whatever it is made of: the same answer, as early as can be, in linear time."""

import random
import re
import time

import pytest

from rag.citations.checker import Checker
from rag.types.answer import Synthesis
from tests.citations.hostile import replies
from tests.citations.passages import CONTEXTS
from tests.citations.replies import TOWERS, checked, context, streamed

OAK = "The bridge is made of oak"
STEPS = "The north tower has 120 steps"
GAS = "The south tower has 90 steps"
PIECES = [
    *"[]()【】1234,.;:!? \n^¹。",
    *("[1]", "[1, 2]", " [3].", ". ", "(1)", "(see [1])", "**[1]**", "\n[1]\n", "U.S.", "[1](http://a)"),
    *("<sup>1</sup>", "source 1", "According to Source 1, ", "\nSources:\n", "\n- ", "\n\n", "{2}", "Source"),
    *("I don't know. ", "The context does not mention it. ", " which ", " and ", "![x](http://a)"),
    *(" from the ", "Dr. "),
    *(f" {STEPS}", f" {OAK}", f"{STEPS} [1]. ", f"{STEPS}. [1] ", f" {STEPS}, according to Source 1. "),
    *(f"**{STEPS}** (1). ", f"{GAS} [2]. ", "The north tower has 121 steps [1]. "),
    *(", but it is not said [2]. ", "\nBibliography\n"),
]  # fmt: skip


async def test_however_a_reply_is_cut_the_answer_is_the_same():
    rng = random.Random(20)
    odd = ["".join(rng.choices(PIECES, k=rng.randint(1, 25))) for _ in range(400)]
    answered = 0
    for reply in [*odd, *(reply.text for reply in replies(TOWERS, 60, seed=20))]:
        found = await checked(reply)
        cuts = sorted(rng.sample(range(len(reply) + 1), min(4, len(reply))))
        for where in (cuts, range(1, len(reply))):
            shown, again = await streamed(reply, where)
            assert again[1:] == found[1:], reply
            assert not found.text or "".join(shown) + again.rest == found.text, reply
        assert (await Checker(context()).whole(Synthesis(reply)))[1:] == found[1:], reply
        answered += bool(found.text)
    assert answered > 100


async def test_text_flows_word_by_word_and_only_markers_wait():
    reply = f"{STEPS} [1]. It is haunted by the keeper [2]. {OAK} [3]."
    words = [found.end() for found in re.finditer(r"\S+\s*", reply)]
    shown, found = await streamed(reply, words)
    assert found.text == reply
    assert "".join(shown[:4]) == "The north tower has"
    assert "".join(shown[:10]).endswith("[1]. It is haunted")
    assert max(len(piece.split()) for piece in shown) <= 3, shown


async def test_a_contradicted_claim_has_flown_before_it_is_told():
    reply = f"{STEPS} [1]. The south tower has 91 steps [2]."
    shown, end = await streamed(reply, range(1, len(reply)))
    assert "has 91" in "".join(shown)
    assert "".join(shown) + end.rest == end.text == f"{STEPS} [1]. The south tower has 91 steps."
    assert [one.missing for one in end.contradicted] == [("91",)]


async def test_checking_changes_nothing_but_markers():
    letters, answered = re.compile(r"[\W_]+|\d+"), 0
    for contents in CONTEXTS[:2]:
        for reply in replies(contents, 60, seed=5):
            found = (await checked(reply.text, context(*contents))).text
            if found and not re.search("ource|Chunk|http", reply.text):
                said = re.sub(r", p\. 3|†source|\(see", "", reply.text)
                assert letters.sub("", found).lower() == letters.sub("", said).lower()
                answered += 1
    assert answered > 30


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
    "piece",
    [
        *("[", "[1", "(", "word", " ", "\n", "[1] ", ".", "a.", "source ", "**", "。", "(1)\n", "1,", "A1 "),
        *("I don't know. ", "A b c.\n[1]\n", '"', "¹", "not ", "\nSources:\n"),
    ],
)
async def test_a_reply_of_anything_takes_linear_time(piece: str):
    async def seconds(size: int) -> float:
        reply = piece * (size // len(piece))
        started = time.process_time()
        await streamed(reply, range(10, len(reply), 10))
        return time.process_time() - started

    assert await seconds(24_000) < 1 + 10 * await seconds(6_000)  # an unfinished sentence has up to 2000
