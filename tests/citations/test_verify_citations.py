"""`manage.py verify_citations` against a real server: all is well, then one thing after another is not."""

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from knowlex.embedded.data_folder import FolderLock
from tests.history.asking import FACT, Library, make_library
from tests.support.stack import Stack


@pytest.fixture
def library(server: Stack) -> Library:
    return make_library(server)


def verified(library: Library, *options: str) -> tuple[int, list[str]]:
    """Exit code and lines."""
    out = StringIO()
    try:
        call_command("verify_citations", "--url", library.stack.url, *options, stdout=out)
    except SystemExit as exc:
        return int(str(exc.code)), out.getvalue().splitlines()
    return 0, out.getvalue().splitlines()


def rows(lines: list[str]) -> dict[str, int]:
    return {name: int(count) for name, count in (line.split() for line in lines[-9:])}


def test_what_is_stored_is_checked_again(library: Library) -> None:
    asked = library.ask()
    assert asked["citations"]
    library.ask("When was the lighthouse lit?")

    code, lines = verified(library)
    counts = rows(lines)
    assert (code, counts["faults"], len(lines)) == (0, 0, 9), lines
    assert counts["answers"] == 2
    assert counts["exact"] == counts["citations"] >= 2
    assert rows(verified(library, "--limit", "1")[1])["answers"] == 1
    assert rows(verified(library, "--since", "1")[1])["answers"] == 2


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ("quoted_text = quoted_text || ' Truly.'", "the quote does not stand in the chunk"),
        ("start_char = start_char + 1, end_char = end_char + 1", "start_char and end_char do not lead"),
        ("page_number = 7", "page_number is 7"),
        ("citation_index = 9", "the claim does not carry its marker [9]"),
        ("answer_start = 0, answer_end = 5000", "hold no claim"),
    ],
)
def test_each_fault_is_named_and_ends_with_1(library: Library, change: str, fault: str) -> None:
    query_id = library.ask()["query_id"]
    assert verified(library)[0] == 0
    library.stack.sql(f"UPDATE rag_citation SET {change}")
    code, lines = verified(library)
    assert code == 1
    assert any(line.startswith(query_id) and fault in line for line in lines), lines


@pytest.mark.parametrize(
    ("support", "fault"),
    [
        ("exact", "the quote does not hold the claim word for word"),
        ("supported", "the chunk does not support the claim"),
    ],
)
def test_an_answer_that_was_altered_is_neither_exact_nor_supported(
    library: Library, support: str, fault: str
) -> None:
    library.ask()
    assert FACT[:20] in library.explained(library.listed()[0])["answer"]
    library.stack.sql("UPDATE rag_response SET answer = replace(answer, '54', '56')")
    library.stack.sql(f"UPDATE rag_citation SET support = '{support}'")
    code, lines = verified(library)
    assert code == 1
    assert fault in lines[0]


def test_a_claim_that_could_not_be_confirmed_is_no_fault_but_its_quote_may_be(library: Library) -> None:
    library.ask()
    assert library.listed()  # it is written
    library.stack.sql("UPDATE rag_response SET answer = replace(answer, '54', '56')")
    library.stack.sql("UPDATE rag_citation SET support = 'unverified'")
    code, lines = verified(library)
    assert (code, rows(lines)["faults"]) == (0, 0), lines
    assert rows(lines)["unverified"] == rows(lines)["citations"] >= 1
    library.stack.sql("UPDATE rag_citation SET quoted_text = 'Never said.'")
    assert verified(library)[0] == 1


def test_a_contradicted_claim_stands_where_it_is_said_to(library: Library) -> None:
    answer = library.ask()["answer"]
    assert library.listed()  # it is written
    claim = {"text": answer[:5], "answer_start": 0, "answer_end": 5, "missing": ["54"]}
    library.stack.sql(f"UPDATE rag_response SET contradicted = '{json.dumps([claim])}'")
    code, lines = verified(library)
    assert (code, rows(lines)["contradicted"]) == (0, 1), lines
    library.stack.sql("UPDATE rag_response SET answer = 'X' || answer")
    code, lines = verified(library)
    assert code == 1
    assert any("a contradicted claim does not stand where it is said to" in line for line in lines), lines


def test_citations_of_deleted_documents_are_counted_as_gone(library: Library) -> None:
    library.ask()
    assert library.client.delete(f"/v1/documents/{library.towers}").status_code == 200
    code, lines = verified(library)
    counts = rows(lines)
    assert (code, counts["faults"]) == (0, 0), lines
    assert counts["gone"] == counts["citations"] >= 1


def test_a_server_that_is_not_there_is_told() -> None:
    with pytest.raises(CommandError, match=r"http://127\.0\.0\.1:9/? cannot be reached"):
        call_command("verify_citations", "--url", "http://127.0.0.1:9", stdout=StringIO())


def test_without_an_address_the_server_of_the_data_folder_is_asked(settings: Any, tmp_path: Path) -> None:
    settings.DATA_DIR = tmp_path
    with pytest.raises(CommandError, match="No server runs in"):
        call_command("verify_citations", stdout=StringIO())
    with FolderLock(tmp_path, owner="up") as lock:
        lock.publish("http://127.0.0.1:9")
        with pytest.raises(CommandError, match=r"http://127\.0\.0\.1:9/? cannot be reached"):
            call_command("verify_citations", stdout=StringIO())


@pytest.mark.parametrize("words", [["--since", "0"], ["--limit", "-1"], ["--limit", "many"]])
def test_a_number_that_is_none_is_told_with_its_limits(words: list[str]) -> None:
    with pytest.raises(CommandError, match="must be a number from 1 to"):
        call_command("verify_citations", *words)
