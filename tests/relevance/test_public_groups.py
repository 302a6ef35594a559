"""Groups of sentences and cells that are made of public question sets to train the reader."""

from benchmarks.reading.public_groups import groups_of_tatqa

REPORT = {
    "paragraphs": [
        {"order": 2, "text": "Sales rose by a third. They were made in Norway."},
        {"order": 1, "text": "1. Revenue"},
    ],
    "table": {
        "table": [
            ["in thousands", "", ""],
            ["", "2019", "2018"],
            ["Current assets", "", ""],
            ["Inventories", "$7,144", "6,020"],
            ["Cash", "12", "12"],
        ]
    },
    "questions": [
        {"question": "Where were sales made?", "answer": ["Norway"], "answer_from": "text"},
        {"question": "What were inventories in 2019?", "answer": ["7,144"], "answer_from": "table"},
        {"question": "What was cash in 2019?", "answer": ["12"], "answer_from": "table"},
        {"question": "Which year had more cash?", "answer": ["2019"], "answer_from": "table"},
    ],
}


def test_sentences_and_cells_that_answer_become_groups() -> None:
    for one in REPORT["questions"]:
        one["answer_type"] = "span"  # type: ignore[index,call-overload]
    told, table = groups_of_tatqa([REPORT])

    texts = [one["text"] for one in told["sentences"]]  # type: ignore[attr-defined]
    assert texts == ["1. Revenue", "Sales rose by a third.", "They were made in Norway."]
    assert told["questions"] == [["Where were sales made?", [2], []]]
    assert (table["title"], table["columns"]) == ("in thousands", ["2019", "2018"])
    assert table["rows"] == [["Inventories", "$7,144", "6,020"], ["Cash", "12", "12"]]
    # A cell that is told twice may be another one's; of an earlier year the table tells nothing.
    assert table["questions"] == [
        ["What were inventories in 2019?", [[0, 1]], []],
        ["What were inventories in 2017?", [], []],
    ]
