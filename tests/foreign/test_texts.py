"""Texts of a program as records."""

import pytest

from rag_service.records import records_from_texts

HANDBOOK = """# Leave

## Annual leave

Everyone has 25 days of paid leave a year.

## Sick leave

Tell your manager before nine.
"""


def test_short_texts_stay_as_they_are():
    first, second = records_from_texts(["Wear gloves.", "Wash your hands."])

    assert (first.id, first.text, first.metadata["source_doc"]) == ("text 1#0", "Wear gloves.", "text 1")
    assert (second.text, second.metadata["source_doc"]) == ("Wash your hands.", "text 2")


@pytest.mark.parametrize(
    "texts",
    [
        [("manual.pdf", "Wear gloves.")],
        {"manual.pdf": "Wear gloves."},
        [{"text": "Wear gloves.", "source_doc": "manual.pdf"}],
        [{"page_content": "Wear gloves.", "source": "manual.pdf"}],
        (one for one in [["manual.pdf", "Wear gloves."]]),
    ],
)
def test_names_are_given_in_many_ways(texts):
    (record,) = records_from_texts(texts)

    assert (record.text, record.metadata["source_doc"]) == ("Wear gloves.", "manual.pdf")


def test_metadata_is_kept():
    given = {"text": "Wear gloves.", "source_doc": "m.pdf", "page_number": 5, "id": "own", "weight": 0.5}

    (record,) = records_from_texts([given])

    assert record.id == "own"
    assert record.metadata == {key: given[key] for key in given if key != "text"} | {"chunk_index": 0}


def test_a_page_is_a_page_number():
    (record,) = records_from_texts([{"text": "Wear gloves.", "page": 7}])

    assert record.metadata["page_number"] == 7


def test_pages_of_one_document_are_numbered_through():
    records = records_from_texts(
        [{"text": f"Page {n}.", "source_doc": "m.pdf", "page": n} for n in (1, 2, 3)]
    )

    assert [(one.id, one.metadata["chunk_index"]) for one in records] == [
        ("m.pdf#0", 0),
        ("m.pdf#1", 1),
        ("m.pdf#2", 2),
    ]


def test_markdown_is_split_at_its_headings():
    annual, sick = records_from_texts([("handbook.md", HANDBOOK)])

    assert annual.metadata["section_title"] == "Annual leave"
    assert sick.metadata["section_title"] == "Sick leave"
    assert sick.metadata["chapter"] == "Leave"
    assert "before nine" in sick.text


def test_long_texts_are_split_between_sentences():
    sentences = [f"Rule {n} says that gloves are worn in room {n}." for n in range(200)]

    records = records_from_texts([("rules.txt", " ".join(sentences))])

    assert len(records) > 5
    assert all(record.text.endswith(".") and len(record.text) <= 2000 for record in records)
    assert all(any(sentence in record.text for record in records) for sentence in sentences)
    assert len({record.id for record in records}) == len(records)


def test_blank_and_hostile_texts():
    records = records_from_texts(["", " \n\u200b", "Wear\x00 gloves\ud800."])

    assert [record.text for record in records] == ["Wear gloves."]


@pytest.mark.parametrize(
    ("texts", "told"),
    [
        ("one text", "list of texts"),
        (5, "list of texts"),
        (["fine", 5], r"texts\[1\]"),
        ([{"body": "x"}], r"texts\[0\]"),
        ([("name", 5)], r"texts\[0\]"),
        ([None], r"texts\[0\]"),
    ],
)
def test_what_is_no_text_is_refused(texts, told):
    with pytest.raises(ValueError, match=told):
        records_from_texts(texts)
