"""Follow-up questions without a chat model: the terms that they lack are carried over."""

import pytest

from rag.conversation.carry_over import Turn, carry_over

TOWER = "How tall is the Eiffel Tower?"


@pytest.mark.parametrize(
    ("before", "question", "expected"),
    [
        (TOWER, "When was it built?", "When was the Eiffel Tower built?"),
        (TOWER, "Who designed it, and why?", "Who designed the Eiffel Tower, and why?"),
        (TOWER, "What is its weight?", "What is the Eiffel Tower's weight?"),
        (TOWER, "And who paid for it?", "And who paid for the Eiffel Tower?"),
        (TOWER, "How many people go there?", "How many people go there (the Eiffel Tower)?"),
        ("When was the belfry of Ghent finished?", "How tall is it?", "How tall is the belfry of Ghent?"),
        ("What is consistent hashing?", "Who invented it?", "Who invented it (consistent hashing)?"),
        ("How is bread baked?", "How long does it keep?", "How long does it keep (bread baked)?"),
        ("When was Nikola Tesla born?", "Where did he live?", "Where did Nikola Tesla live?"),
        ("Who wrote Hamlet?", "When was it published?", "When was Hamlet published?"),
        ("What is the capital of France?", "And in Germany?", "What is the capital of Germany?"),
        ("What is the capital of France?", "What about Spain?", "What is the capital of Spain?"),
        ("What did Adobe earn in 2022?", "And Amazon in 2019?", "What did Amazon earn in 2019?"),
        ("How many lived in Paris in 1900?", "And in Rome in 1950?", "How many lived in Rome in 1950?"),
        ("What was the revenue in 2019?", "And in 2020?", "What was the revenue in 2020?"),
        ("How long does black tea steep?", "And green tea?", "How long does green tea steep?"),
        ("How long does sourdough bake?", "At 200 degrees?", "How long does sourdough bake at 200 degrees?"),
        ("How is bread baked?", "And tea?", "And tea (how is bread baked)?"),
        (TOWER, "Why?", "Why (how tall is the Eiffel Tower)?"),
        (TOWER, "Since when?", "Since when (how tall is the Eiffel Tower)?"),
        ("When was the Eiffel Tower built?", "Which architect?", "Which architect (the Eiffel Tower)?"),
        (TOWER, "Tell me more.", "Tell me more (how tall is the Eiffel Tower)."),
    ],
)
def test_a_follow_up_stands_alone(before: str, question: str, expected: str):
    assert carry_over(question, [Turn(before)]) == expected


def test_a_person_is_looked_for_in_the_answer():
    turn = Turn("Who built the radio boat?", "A boat.", "Nikola Tesla demonstrated a radio-controlled boat.")
    assert carry_over("When was he born?", [turn]) == "When was Nikola Tesla born?"


def test_what_an_earlier_turn_named_is_carried_through_all():
    first = "How tall is the Eiffel Tower?"
    second = carry_over("When was it built?", [Turn(first)])
    third = carry_over("Who designed it?", [Turn(second), Turn(first)])
    assert third == "Who designed the Eiffel Tower?"


@pytest.mark.parametrize(
    "question",
    [
        "What is the capital of Germany?",
        "What is hashing?",
        "And what is the capital of Germany?",
        "Who wrote Faust?",
        "green tea steeping time",
        "What is hashing and how does it work?",
        "When was the belfry built, and who built it?",
        "How long does it take to bake a loaf of bread?",
        "Is it true that the tower was moved to Berlin?",
        "Are there towers in Ghent?",
        "Did Tesla say that the boat was steered?",
        "Wie hoch ist der Eiffelturm?",
        "Gibt es Türme in Gent?",
        "Quelle est la capitale de la France ?",
        "¿Cuál es la capital de Francia?",
        "法国的首都是哪里？",
        "其他城市有哪些？",
    ],
)
def test_a_question_of_its_own_stays_as_it_is(question: str):
    assert carry_over(question, [Turn(TOWER)]) == question


@pytest.mark.parametrize(
    ("before", "question", "expected"),
    [
        ("Wie hoch ist der Eiffelturm?", "Wann wurde er gebaut?", "Wann wurde er (der Eiffelturm) gebaut?"),
        (
            "Was ist die Hauptstadt von Frankreich?",
            "Und von Deutschland?",
            "Was ist die Hauptstadt von Deutschland?",
        ),
        ("Wie lange zieht grüner Tee?", "Und schwarzer Tee?", "Wie lange zieht schwarzer Tee?"),
        ("Où est Paris ?", "Quand a-t-elle été construite ?", "Quand a-t-elle (Paris) été construite ?"),
        ("¿Cuál es la capital de Francia?", "¿Y de España?", "¿Cuál es la capital de España?"),
        ("Где находится Эрмитаж?", "Когда он был построен?", "Когда он (Эрмитаж) был построен?"),
        ("埃菲尔铁塔在哪里？", "它有多高？", "它有多高 (埃菲尔铁塔在哪里)？"),
    ],
)
def test_other_languages(before: str, question: str, expected: str):
    assert carry_over(question, [Turn(before)]) == expected


@pytest.mark.parametrize(
    "question", ["?", "!!!", "…", "it", "and", "and?", "That.", "a" * 2000, "it " * 600, "()"]
)
@pytest.mark.parametrize("before", [TOWER, "?", "Why?", "it", "日本", "x" * 2000])
def test_nothing_raises_or_grows_too_long(question: str, before: str):
    assert len(carry_over(question, [Turn(before), Turn("", "", "")])) <= 2000


def test_without_a_conversation_nothing_changes():
    assert carry_over("How tall is it?", []) == "How tall is it?"
