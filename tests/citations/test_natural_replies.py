"""The replies that the benchmark `natural_replies` replays: their form, and how answers are read."""

import json
from collections import Counter

import pytest

from benchmarks.replay_chat import NOT_FOUND, Replay, blocks_of, source_form, structured_reply
from benchmarks.reply_set import (
    DOCUMENTS,
    Claim,
    Quote,
    Record,
    documents,
    load,
    numbers_in,
    reply_of,
    squeezed,
    without_markers,
)
from benchmarks.reply_states import Seen

RECORDS = load()
KINDS = {
    "number", "date", "unit", "entity", "role_swap", "overgeneral", "causal", "negation", "invented",
    "conflation", "wrong_block", "world_true", "terse_wrong",
}  # fmt: skip
CHUNK = "The tower has 120 steps. It was built in 1836."
CLAIM = Claim("It has 120 steps [1].", (1,), (Quote(1, "The tower has 120 steps."),))


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record.id)
def test_a_reply_is_made_of_claims_whose_quotes_stand_in_their_blocks(record: Record) -> None:
    for claim in record.claims:
        assert claim.text in record.reply
        assert claim.markers
        assert sorted(set(numbers_in(claim.text))) == sorted(claim.markers)
        assert {quote.block for quote in claim.quotes} == set(claim.markers)
        for quote in claim.quotes:
            assert squeezed(quote.quote)
            assert squeezed(quote.quote) in squeezed(record.blocks[quote.block])
    if record.answerable:
        assert record.claims
        assert numbers_in(record.reply) == [n for claim in record.claims for n in numbers_in(claim.text)]
    else:
        assert (record.reply, record.claims, record.variants) == (NOT_FOUND, (), ())


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record.id)
def test_a_variant_is_wrong_in_a_known_way_and_stands_for_a_claim(record: Record) -> None:
    for variant in record.variants:
        assert variant.kind in KINDS
        assert 0 <= variant.of < len(record.claims)
        assert variant.text != record.claims[variant.of].text
        assert set(variant.markers) == set(numbers_in(variant.text)) <= set(record.blocks)
        assert {quote.block for quote in variant.quotes} <= set(variant.markers)
        assert variant.text in reply_of(record, variant).text


def test_both_halves_hold_every_language_and_form_and_enough_of_each() -> None:
    halves = Counter(record.half for record in RECORDS)
    forms = {(record.half, record.form) for record in RECORDS if record.form != "unanswerable"}
    variants = Counter(variant.kind for record in RECORDS for variant in record.variants)

    assert abs(halves["view"] - halves["unseen"]) <= 1
    assert len({record.id for record in RECORDS}) == halves.total()
    assert {(record.half, record.lang) for record in RECORDS} == {
        (half, lang) for half in ("view", "unseen") for lang in ("de", "en")
    }
    assert forms == {
        (half, form) for half in ("view", "unseen") for form in ("fact", "figures", "open", "terse")
    }
    assert sum(record.lang == "de" for record in RECORDS) >= 10
    assert sum(not record.answerable for record in RECORDS) == 3
    assert variants["terse_wrong"] >= 15
    assert set(variants) == KINDS


def test_the_documents_are_there_and_small() -> None:
    sizes = [path.stat().st_size for path in DOCUMENTS.rglob("*") if path.is_file()]

    assert len(documents()) == len(sizes) + 1
    assert max(sizes) < 200_000
    assert sum(sizes) < 400_000


def test_a_reply_in_parts_says_what_its_text_says() -> None:
    for record in RECORDS:
        for reply in [reply_of(record), *(reply_of(record, variant) for variant in record.variants)]:
            parts = " ".join(part.text for part in reply.parts) if record.answerable else reply.text
            assert squeezed(parts) == squeezed(reply.text)


@pytest.mark.parametrize(
    ("text", "bare"),
    [
        ("Nine miles [1].", "Nine miles."),
        ("Nine miles. [1]", "Nine miles."),
        ("- Nine miles [1, 2]", "Nine miles"),
        ("2. Nine [1], not ten [2][3].", "Nine, not ten."),
    ],
)
def test_markers_and_list_signs_are_left_out_of_a_structured_claim(text: str, bare: str) -> None:
    assert without_markers(text) == bare


def test_the_model_answers_in_the_form_that_the_schema_asks_for() -> None:
    quoting = {"type": "object", "properties": {"block": {"type": "integer"}, "quote": {"type": "string"}}}

    told = {
        form: json.loads(structured_reply((CLAIM,), {1: 4}, source_form(_asked(source))))["claims"][0]
        for form, source in (("numbers", {"type": "integer"}), ("quotes", quoting))
    }

    assert told["numbers"] == {"text": "It has 120 steps.", "sources": [4]}
    assert told["quotes"]["sources"] == [{"block": 4, "quote": "The tower has 120 steps."}]


def test_the_model_finds_its_blocks_again_under_other_numbers_and_headers() -> None:
    record = next(one for one in RECORDS if one.answerable and len(one.blocks) == 1)
    ((number, text),) = record.blocks.items()
    user = (
        f"Context:\n<context>\n[1] Another.\n\n[2] (report, page 3)\n{text}\n</context>\n\n"
        f"Question: {record.question}"
    )
    replay = Replay("refuse")
    replay.expect(record, reply_of(record))

    said = replay.said({"messages": [{"content": user}]})

    assert list(blocks_of(user)) == [1, 2]
    assert replay.told.mapping == {number: 2}
    assert said is not None
    assert set(numbers_in(said)) == {2}
    assert replay.said({"messages": [{"content": user}], "response_format": {"type": "json_schema"}}) is None
    assert replay.said({"messages": [{"content": "Question: Another?"}]}) == NOT_FOUND


SAID = "It has 120 steps [1]."


@pytest.mark.parametrize(
    ("response", "state"),
    [
        ({"answer": SAID}, "uncited"),
        ({"answer": "Not enough.", "reason": "not_supported"}, "not shown"),
        ({"answer": SAID, "citations": [("supported", 0, 21)]}, "supported"),
        ({"answer": SAID, "citations": [("exact", 0, 21), ("unverified", 0, 21)]}, "unverified"),
        ({"answer": "So it is [1]. It has 120 steps.", "citations": [("exact", 0, 13)]}, "uncited"),
        ({"answer": SAID, "contradicted": [{"answer_start": 0, "answer_end": 17}]}, "contradicted"),
        ({"answer": "Nothing.", "contradicted": [{"text": "It has 120 steps."}]}, "contradicted"),
    ],
)
def test_a_claim_is_in_the_worst_state_of_its_citations(response: dict[str, object], state: str) -> None:
    cited = [
        {"support": support, "answer_start": start, "answer_end": end, "citation_index": 1, "chunk_id": "c"}
        for support, start, end in response.get("citations", [])
    ]
    sources = [{"citation_index": 1, "chunk_id": "c"}]
    seen = Seen({**response, "citations": cited, "sources": sources}, {"c": CHUNK}, {1: CHUNK})

    shown = seen.claim(CLAIM, {1: 1})

    assert shown.state == state
    assert seen.nameless() == seen.inexact() == 0


def _asked(source: dict[str, object]) -> dict[str, object]:
    claim = {"properties": {"text": {"type": "string"}, "sources": {"type": "array", "items": source}}}
    schema = {"type": "object", "properties": {"claims": {"type": "array", "items": claim}}}
    return {"type": "json_schema", "json_schema": {"name": "reply", "schema": schema}}
