"""What a question's words are worth is asked of the database once for each state of what is read."""

from uuid import uuid4

from rag.retrievers.scope import STATES, WORDS, Known, KnownScopes
from rag.types.question import Question

ROW = {"id": 1, "languages": ["en"]}


def asked(state: str) -> Question:
    return Question("Where is the ship?", (uuid4(),), 5, state=state)


def known_of(known: KnownScopes, state: str) -> Known:
    found = known.of(asked(state))
    assert found is not None
    return found


def test_words_that_were_asked_for_are_known_and_so_is_that_some_are_nowhere() -> None:
    known = KnownScopes()
    known.note(asked("a"), ["ship", "moon"], {**ROW, "chunks_with": {"ship": 3}})
    assert known_of(known, "a").lacking(["storm", "ship", "moon", "sea"]) == ["storm", "sea"]

    known_of(known, "a").add(["sea"], {"sea": 2})
    assert known_of(known, "a").row == {**ROW, "chunks_with": {"ship": 3, "sea": 2}}
    assert known_of(known, "a").lacking(["ship", "moon", "sea"]) == []


def test_another_state_knows_nothing_of_it() -> None:
    known = KnownScopes()
    known.note(asked("a"), ["ship"], {**ROW, "chunks_with": {"ship": 3}})
    known.note(asked(""), ["ship"], {**ROW, "chunks_with": {"ship": 3}})

    assert known.of(asked("b")) is None
    assert known.of(asked("")) is None


def test_what_is_known_is_bounded() -> None:
    known = KnownScopes()
    for n in range(STATES + 1):
        known.note(asked(f"s{n}"), ["ship"], {**ROW, "chunks_with": {}})
    assert known.of(asked("s0")) is None
    assert known.of(asked(f"s{STATES}")) is not None

    known.note(asked("much"), [str(n) for n in range(WORDS + 1)], {**ROW, "chunks_with": {}})
    assert known.of(asked("much")) is None
    known.note(asked("much"), ["ship"], {**ROW, "chunks_with": {}})
    assert known_of(known, "much").lacking(["1", "ship"]) == ["1"]
