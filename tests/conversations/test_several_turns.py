"""Conversations of several turns without a chat model: nothing piles up, and nothing silly is asked."""

import pytest

from rag.conversation.carry_over import Turn, carry_over


def resolve(*questions: str) -> list[str]:
    """What stands for each question after the first."""
    turns: list[Turn] = []
    for question in questions:
        turns.insert(0, Turn(carry_over(question, turns)))
    return [turn.question for turn in reversed(turns)][1:]


@pytest.mark.parametrize(
    ("first", "then"),
    [
        (
            "What is Kenya known for?",
            [
                ("What is its capital?", "What is Kenya's capital?"),
                ("And its population?", "And Kenya's population?"),
                ("How large is it?", "How large is Kenya?"),
                ("What about Uganda?", "How large is Uganda?"),
                ("Who is its president?", "Who is Uganda's president?"),
            ],
        ),
        (
            "How tall is the north tower?",
            [
                ("And the south tower?", "How tall is the south tower?"),
                ("When was it built?", "When was it built (the south tower)?"),
                ("Who built it?", "Who built it (the south tower)?"),
            ],
        ),
        (
            "What was Amazon's revenue in 2019?",
            [
                ("And in 2020?", "What was Amazon's revenue in 2020?"),
                ("And Apple's?", "What was Apple's revenue in 2020?"),
                ("What about net income?", "What about net income (what was Apple's revenue in 2020)?"),
                ("How many employees does it have?", "How many employees does Apple have?"),
            ],
        ),
        (
            "How do I install Rust?",
            [
                ("And on Windows?", "How do I install Rust on Windows?"),
                ("How do I update it?", "How do I update Rust?"),
            ],
        ),
        (
            "What are the opening hours?",
            [
                ("On Sundays?", "What are the opening hours on Sundays?"),
            ],
        ),
        (
            "Who is responsible for the budget?",
            [
                ("Who approves it?", "Who approves it (responsible for the budget)?"),
                ("And when?", "And when (responsible for the budget)?"),
                (
                    "What happens if it is exceeded?",
                    "What happens if it is exceeded (responsible for the budget)?",
                ),
            ],
        ),
        (
            "What is the notice period?",
            [
                ("Is it different for managers?", "Is it different for managers (the notice period)?"),
                ("What about interns?", "What about interns (the notice period)?"),
            ],
        ),
        (
            "肯尼亚的首都是哪里？",
            [
                ("它有多少人口？", "它有多少人口 (肯尼亚的首都是哪里)？"),
                ("那里的气候怎么样？", "那里的气候怎么样 (肯尼亚的首都是哪里)？"),
                ("乌干达呢？", "乌干达呢 (肯尼亚的首都是哪里)？"),
            ],
        ),
        (
            "Was ist die Hauptstadt von Kenia?",
            [("Wie viele Einwohner hat sie?", "Wie viele Einwohner hat sie (die Hauptstadt von Kenia)?")],
        ),
    ],
)
def test_each_turn_stands_alone(first: str, then: list[tuple[str, str]]) -> None:
    assert resolve(first, *(question for question, _ in then)) == [expected for _, expected in then]


@pytest.mark.parametrize(
    ("before", "question", "expected"),
    [
        ("When did Nikola Tesla live?", "When did he die?", "When did Nikola Tesla die?"),
        ("When did the Normans conquer England?", "Who led them?", "Who led the Normans?"),
        ("How is COVID-19 treated?", "What causes it?", "What causes COVID-19?"),
        ("Compare TCP and UDP", "Which ports do they use?", "Which ports do TCP and UDP use?"),
        ("WHAT IS KENYA KNOWN FOR?", "HOW BIG IS IT?", "HOW BIG IS IT (KENYA KNOWN)?"),
        ("How do I configure TLS (1.3)?", "How do I disable it?", "How do I disable TLS?"),
        (
            "Who was the first president of the United States?",
            "When was he born?",
            "When was the first president of the United States born?",
        ),
        (
            "What is the boiling point of water?",
            "And its freezing point?",
            "And its freezing point (the boiling point of water)?",
        ),
    ],
)
def test_a_pronoun_stands_for_what_was_asked_about(before: str, question: str, expected: str) -> None:
    assert carry_over(question, [Turn(before)]) == expected
