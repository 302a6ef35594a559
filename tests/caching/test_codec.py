"""Answers as bytes: they come back as they were, and nothing else comes back as an answer."""

import zlib
from dataclasses import replace
from datetime import date
from random import Random
from typing import Any

import pytest

from rag.answering import cache
from rag.types.answer import Answer, Citation, Contradiction, Usage, Verification
from rag.types.question import Filters, MetadataFilter
from rag.types.sentences import SentenceScore
from tests.rag.factory import passage, question

FILTERS = Filters(
    document_ids=(passage(1).document_id,),
    tags=("a",),
    metadata=(MetadataFilter("year", any_of=(1, "1", 1.5, True)), MetadataFilter("on", at_least="2024")),
    created_from=date(2024, 1, 31),
)


def answer(**fields: Any) -> Answer:
    cited, other, passed_over = (passage(n, f"Passage {n} says £{n}. " * 40) for n in (1, 2, 3))
    made = Answer(
        question=question("What is it?", filters=FILTERS, state="s", deadline=1.5),
        answered=True,
        text="It is £1 [1]. And more [2].",
        context=(cited, other),
        cited=(1, 2),
        retrieved=3,
        confidence=0.1 + 0.2,
        usage=Usage(100, 20, "a-model"),
        stage_ms={"retrieve": 1.25},
        passages=(cited, other),
        citations=(Citation(1, 0, 17, 0, 9, "exact"), Citation(2, 3, 8, 14, 22, "supported")),
        candidates=(
            other,
            cited,
            passed_over._replace(sparse_score=1 / 3, fused_score=1e-7, rerank_score=2.5),
        ),
        model_name="m",
        reranker="sentence",
        rewriting="done",
        contradicted=(Contradiction(14, 22, ("more",)),),
        verification=Verification(exact=1, supported=1, contradicted=1),
    )
    return replace(made, **fields)


UNTOLD = {
    "document_name": "", "title": "", "chunk_index": 0, "content": "", "page_number": None, "last_page": None,
    "token_count": 0,
}  # fmt: skip
LONG = answer(text="It is £1 [1]. And more [2]." + 4000 * " More.")


def test_an_answer_comes_back_as_it_was():
    given = answer()
    value = cache.encode_answer(given)
    assert value is not None
    back = cache.decode_answer(value)
    assert back is not None
    assert replace(back, candidates=()) == replace(given, candidates=())
    assert back.candidates[:2] == given.candidates[:2]
    # What came into nothing leaves all behind but how it was judged.
    assert back.candidates[2] == given.candidates[2]._replace(**UNTOLD)


def test_sentences_are_left_behind():
    compared = passage(1)._replace(bounds=((0, 3),), similarities=(0.5,))  # read when the answer is judged
    scored = compared._replace(sentences=(SentenceScore(0, 3, 0.5, 0.5),), analysis="the words")
    value = cache.encode_answer(answer(context=(scored, passage(2)), citations=()))
    assert value is not None
    back = cache.decode_answer(value)
    assert back is not None
    assert back.context[0] == compared


def test_a_large_answer_is_not_kept():
    assert cache.encode_answer(answer(text="long " * 300_000)) is None


def test_what_json_cannot_hold_is_not_kept():
    assert cache.encode_answer(answer(text="half a character: \ud800")) is None


@pytest.mark.parametrize(
    "fields",
    [
        {"cited": (3,)},
        {"cited": (0,)},
        {"cited": ()},
        {"text": ""},
        {"answered": False},
        {"citations": (Citation(9, 0, 1, 0, 1, "exact"),)},
        {"citations": (Citation(1, 0, 10**6, 0, 1, "exact"),)},
        {"citations": (Citation(1, 0, 5, 0, 10**6, "exact"),)},
        {"contradicted": (Contradiction(-1, 5, ()),)},
        {"contradicted": (Contradiction(5, 10**6, ()),)},
        {"contradicted": (Contradiction(5, 4, ()),)},
    ],
)
def test_an_answer_that_contradicts_itself_is_none(fields: dict[str, Any]):
    value = cache.encode_answer(answer(**fields))
    assert value is not None
    assert cache.decode_answer(value) is None


def test_garbled_and_foreign_values_are_no_answers():
    plain, packed = cache.encode_answer(answer()), cache.encode_answer(LONG)
    assert plain is not None
    assert packed is not None
    assert (plain[:1], packed[:1]) == (b"j", b"z")
    for given in (plain, packed):
        assert cache.decode_answer(given) is not None
        for cut in range(0, len(given) - 1, 97):
            assert cache.decode_answer(given[:cut]) is None
    for strange in (b"", b"j", b"z", b"jnull", b"j[]", b"j{}", b"x" + plain, b"\x80\x04K\x01.", b"z" + plain):
        assert cache.decode_answer(strange) is None


def test_a_changed_byte_never_raises():
    value, rng = cache.encode_answer(answer()), Random(5)
    assert value is not None
    plain = bytearray(value)
    for _ in range(300):
        changed = plain.copy()
        changed[rng.randrange(len(changed))] = rng.randrange(256)
        cache.decode_answer(bytes(changed))


def test_what_unpacks_to_too_much_is_not_unpacked():
    assert cache.decode_answer(b"z" + zlib.compress(b" " * 50_000_000)) is None
