"""From a raw reply to a checked answer: its markers, its claims, and what is told of each."""

import pytest

from rag.citations.checker import CheckedReply
from rag.context.fitting import context_of
from rag.types.answer import Contradiction, Source, Verification
from rag.types.context import Block, Context, Part
from tests.citations.replies import BRIDGE, NORTH, TOWERS, checked, context, streamed, structured
from tests.rag.factory import passage

OAK = "The bridge is made of oak"
STEPS = "The north tower has 120 steps"
GAS = "The south tower has 90 steps"


def states(found: CheckedReply) -> list[tuple[str, int, str]]:
    """The claims of an answer, each with the passage that it cites and its state."""
    return [
        (found.text[one.answer_start : one.answer_end], one.passage, one.support) for one in found.citations
    ]


def contradicted(found: CheckedReply) -> list[tuple[str, tuple[str, ...]]]:
    return [(found.text[one.answer_start : one.answer_end], one.missing) for one in found.contradicted]


@pytest.mark.parametrize(
    ("reply", "text"),
    [
        (f"{STEPS} [1].", f"{STEPS} [1]."),
        (f"{STEPS}. [1]", f"{STEPS}. [1]"),
        (f"{STEPS}.[1] {OAK}.[3]", f"{STEPS}. [1] {OAK}. [3]"),
        (f"{STEPS} [1, 2].", f"{STEPS} [1][2]."),
        (f"{STEPS} [1-3].", f"{STEPS} [1][2][3]."),
        (f"{STEPS} [1][2].", f"{STEPS} [1][2]."),
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
        (f"1. {STEPS} [1]\n2. It has a cat [2]", f"1. {STEPS} [1]\n2. It has a cat [2]"),
        (f"{STEPS} [1] and [7].", f"{STEPS} [1]."),
        (f"{STEPS} [7], or [1], and it is big.", f"{STEPS} [1], and it is big."),
        (f"[1] [2]. {OAK} [3].", f"{OAK} [1][2][3]."),
        (f"{STEPS}.\n[1]\n[1]", f"{STEPS}. [1]"),
        (f"{STEPS} [1]. [1] {OAK} [3].", f"{STEPS} [1]. {OAK} [3]."),
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
    assert (await checked(said)).text == said


async def test_references_and_brackets_of_a_passage_are_no_markers():
    given = context("The eel needs deep seas [15] . The method (2) was slow.", "Something else stands here.")
    for said in ("The eel needs deep seas [1].", "The method (2) was slow [1]."):
        found = await checked(said, given)
        assert (found.text, found.citations[0].support) == (said, "exact")


async def test_words_of_the_models_own_keep_their_marker():
    found = await checked(f"{STEPS} [1]. Whoever climbs it needs good lungs [1]. It is haunted [2].")
    assert found.text == f"{STEPS} [1]. Whoever climbs it needs good lungs [1]. It is haunted [2]."
    assert [support for *_, support in states(found)] == ["exact", "unverified", "unverified"]


async def test_a_contradicted_claim_loses_its_marker_and_is_listed():
    found = await checked(f"{STEPS} [1]. The south tower has 91 steps [2]. {OAK} [3].")
    assert found.text == f"{STEPS} [1]. The south tower has 91 steps. {OAK} [3]."
    assert found.contradicted == (Contradiction(35, 63, ("91",)),)
    assert contradicted(found) == [("The south tower has 91 steps", ("91",))]


async def test_each_part_of_a_sentence_is_a_claim_of_the_marker_behind_it():
    found = await checked(f"{STEPS} [1] and the south tower has 91 steps [2].")
    assert found.text == f"{STEPS} [1] and the south tower has 91 steps."
    assert states(found) == [(STEPS, 1, "exact")]
    assert contradicted(found) == [("and the south tower has 91 steps", ("91",))]


async def test_what_stands_behind_the_last_marker_belongs_to_its_claim():
    found = await checked(f"{OAK} [3]. The north tower [1] has 900 steps.")
    assert found.text == f"{OAK} [3]. The north tower has 900 steps."
    assert contradicted(found) == [("The north tower has 900 steps", ("900",))]


@pytest.mark.parametrize(
    ("reply", "text"),
    [
        (f"{STEPS} [2].", f"{STEPS} [1]."),
        (f"{STEPS}. [3]", f"{STEPS}. [1]"),
        (
            "Ninety steps lead up to the lamp of the south [1].",
            "Ninety steps lead up to the lamp of the south [1].",
        ),
    ],
)
async def test_a_marker_moves_only_to_a_passage_that_verifies_its_claim(reply: str, text: str):
    assert (await checked(reply)).text == text


@pytest.mark.parametrize(
    ("reply", "counts"),
    [
        (f"{STEPS} [1].", Verification(exact=1)),
        (f"{STEPS} [1][2].", Verification(exact=1)),  # one claim of two markers
        (f"{STEPS} [1]. [1]", Verification(exact=1)),
        (f"{STEPS} [1]. {OAK} [3].", Verification(exact=1, unverified=1)),
        (f"{STEPS} [1]. It has 91 steps [2]. [2]", Verification(exact=1, contradicted=1)),
        (f"{STEPS} [1]. The keeper is a kind man.", Verification(exact=1, uncited=1)),
        (f"{STEPS}. {GAS}. {OAK} [3].", Verification(unverified=1, uncited=2)),
        (
            f"# The towers\n\nHere it is:\n{STEPS} [1].\n\nAnything else you need?\nYes.",
            Verification(exact=1),
        ),
        (
            f"The lamp of the south burns gas [2]. {STEPS} and the lamp burns gas [1].",
            Verification(unverified=2),
        ),
    ],
)
async def test_claims_are_counted_by_their_state(reply: str, counts: Verification):
    assert (await checked(reply)).verification == counts


async def test_strict_keeps_only_the_markers_of_verified_claims():
    reply = f"{STEPS} [1][2]. It is haunted [2]. The south tower has 91 steps [2]."
    found = await checked(reply, strict=True)
    assert found.text == f"{STEPS} [1]. It is haunted. The south tower has 91 steps."
    assert found.verification == Verification(exact=1, contradicted=1, uncited=1)
    assert (await checked("It is haunted [2].", strict=True)).reason == "not_supported"
    assert (await checked("It is haunted [2].")).reason is None


async def test_the_question_and_the_names_of_documents_are_given():
    reply = "In the year 1999 its hull was already of teak [1]."
    given = context("The hull is of teak, as everyone could see in the harbour.")
    assert (await checked(reply, given)).reason == "not_supported"
    assert (await checked(reply, given, question="What was the hull made of in 1999?")).cited == (1,)
    assert (await checked("In document1.pdf of Document 1 the hull is of teak [1].", given)).cited == (1,)


@pytest.mark.parametrize(
    ("reply", "reason", "unmarked"),
    [
        ("", "not_supported", False),
        ("[1]", "not_supported", False),
        ("[1][2]. [3]", "not_supported", False),
        (f"{STEPS}.", "not_supported", True),  # worth asking once more for markers
        (f"{STEPS} [9].", "not_supported", True),
        ("The north tower has 121 steps [1].", "not_supported", False),
        ("The north tower has 121 steps [1]. The south tower has 91 steps [2].", "not_supported", False),
        ("It is tall. Unfortunately, I cannot find any information about it [1].", "not_supported", True),
        (f"The passages do not say how old it is, but {STEPS}.", "not_supported", True),
    ],
)
async def test_without_a_claim_that_cites_nothing_is_answered(reply: str, reason: str, unmarked: bool):
    _, found = await streamed(reply, range(len(reply)))
    assert (found.text, found.cited, found.citations, found.contradicted) == ("", (), (), ())
    assert (found.reason, found.unmarked) == (reason, unmarked)


@pytest.mark.parametrize(
    "reply",
    [
        "I don't have enough information to answer that [1].",
        "I don't have enough information to answer that. The passages are about towers.",
        "The provided context does not mention the year [1].",
        "The passages do not say how old it is.",
        "Based on the provided context, there is no information about the year.",
        "Die Antwort wurde in den Texten nicht gefunden.",
        "Ich habe nicht genügend Informationen, um das zu beantworten.",
        "Der Kontext enthält keine Informationen über das Jahr.",
        "Je n'ai pas assez d'informations pour répondre.",
        "Le contexte ne mentionne pas l'année.",
        "No tengo suficiente información para responder.",
        "El contexto no menciona el año.",
        "抱歉，我没有足够的信息来回答这个问题。",
        "提供的文本中没有提到这一点。",
        "申し訳ありませんが、その情報は見つかりません。",
        "提供された文書には、その情報が含まれていません。",
    ],
)
async def test_a_refusal_is_none_and_nothing_of_it_is_shown(reply: str):
    shown, found = await streamed(reply, range(len(reply)))
    assert (found.text, found.reason, found.unmarked) == ("", "model_declined", False)
    assert "".join(shown) == ""


@pytest.mark.parametrize(
    "claim",
    [
        "Die Informationen werden nicht an Dritte weitergegeben.",
        "No information about customers is stored on the device.",
        "Les documents ne doivent pas être traduits.",
        "No hay datos personales en el registro.",
        "该文档没有包含图片。",
    ],
)
async def test_what_a_passage_says_is_no_refusal(claim: str):
    given = context(f"{claim} {OAK}.")
    assert (await checked(f"{claim[:-1]} [1]{claim[-1]}", given)).cited == (1,)
    assert (await structured((claim, (Source(1),)), given=given)).cited == (1,)


@pytest.mark.parametrize(
    "claim", ["Die Informationen dürfen nicht an Dritte gelangen", "Les documents ne peuvent pas être copiés"]
)
async def test_that_documents_do_something_else_than_tell_is_a_claim(claim: str):
    assert (await checked(f"{claim} [1].")).reason != "model_declined"


@pytest.mark.parametrize(
    ("reply", "text"),
    [
        (f"The passages do not say how old it is, but {STEPS} [1].", None),
        (f"The context does not mention the year. {STEPS} [1].", None),
        (f"I don't know. However, {STEPS} [1].", None),
        (
            f"{STEPS} [1]. However, I don't have enough information about the lamp [2].",
            f"{STEPS} [1]. However, I don't have enough information about the lamp.",
        ),
    ],
)
async def test_a_partial_refusal_is_an_answer(reply: str, text: str | None):
    found = await checked(reply)
    assert (found.text, found.cited, found.reason) == (text or reply, (1,), None)


async def test_a_citation_says_where_the_claim_and_its_proof_stand():
    found = await checked(f"So: {OAK} [3]. It is haunted. {STEPS}. [1]")
    assert found.cited == (3, 1)
    assert states(found) == [(f"So: {OAK}", 3, "unverified"), (STEPS, 1, "exact")]
    quoted = [TOWERS[c.passage - 1][c.quote_start : c.quote_end] for c in found.citations]
    assert quoted == [BRIDGE.split(". ")[0] + ".", NORTH.split(". ")[0] + "."]


async def test_a_block_of_several_passages_is_cited_by_the_passage_that_says_it():
    first, second = "The gate is red. The wall is", "high. The moat is deep."
    block = Block(
        f"{first} {second}", (Part(0, len(first), 0, 0), Part(len(first) + 1, len(second), 1, 0)), "en"
    )
    given = Context((block,), (passage(1, first), passage(2, second)))
    found = await checked("The moat is deep [1]. The gate is red [1]. The wall is high [1].", given)
    assert found.text == "The moat is deep [2]. The gate is red [1]. The wall is high [1]."
    quotes = [
        given.passages[one.passage - 1].content[one.quote_start : one.quote_end] for one in found.citations
    ]
    assert quotes == ["The moat is deep.", "The gate is red.", "The wall is"]


async def test_nothing_that_would_load_is_let_through():
    found = await checked(f"{STEPS} [1]. ![x](http://203.0.113.1/x.png). {OAK} [3](http://203.0.113.1/).")
    assert found.text == f"{STEPS} [1]. x. {OAK} [3]."


async def test_an_abbreviation_ends_no_claim():
    reply = "It was built in the U.S [3]. Its lamp burns gas [2]. Mr. X made it [1]."
    found = await checked(reply)
    assert [claim for claim, *_ in states(found)] == [
        "It was built in the U.S",
        "Its lamp burns gas",
        "Mr. X made it",
    ]


async def test_dots_in_a_quotation_stand_for_what_was_left_out():
    given = context("The launch was postponed in May, since the valve leaked, to the third of November.")
    told = await checked(
        'The minutes say "the launch was postponed ... to the third of November" [1].', given
    )
    assert told.cited == (1,)
    invented = 'The minutes say "the launch was cancelled ... to the third of November" [1].'
    assert (await checked(invented, given)).reason == "not_supported"


async def test_what_a_model_says_twice_is_shown_twice():
    reply = f"{STEPS} [1]. {STEPS} [1]."
    assert (await checked(reply)).text == reply


async def test_a_reply_that_only_lists_its_sources_has_them_behind_its_last_sentence():
    found = await checked(f"{STEPS}. {GAS}.\n\nSources:\n- [2] towers.pdf, p. 3")
    assert found.text == f"{STEPS}. {GAS}. [2]"


async def test_a_terse_answer_is_read_with_the_question_and_not_with_the_names_of_the_documents():
    title = "Monuments of the northern coast, second survey"
    alder = "The north tower of Alder was built in 1836 and altered by Ann Lee."
    given = context_of([passage(1, f"# {title}\n\n{alder}", title=title)])
    found = await checked("1836 [1].", given, question="When was the north tower of Alder built?")
    (citation,) = found.citations
    assert citation.support == "supported"
    assert given.passages[0].content[citation.quote_start : citation.quote_end] == alder


async def test_a_marker_below_a_block_of_code_leaves_its_fence_alone():
    given = context("To back up, run this command: server-admin backup --all /var/backups")
    reply = "To back up, run this command:\n\n```\nserver-admin backup --all /var/backups\n```\n[1]"
    assert (await checked(reply, given)).text == reply
