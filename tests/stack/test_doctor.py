"""`manage.py doctor` asks the configured chat model one question, and shows what came of each step."""

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from rag.trial import PASSAGE, QUESTION
from tests.provider import Provider
from tests.stack.up import manage

KEY = "sk-test-93ab1c"
CITED = "The Aldwick lighthouse was built in 1874 and stands 41 metres tall [1]."


def doctor(tmp_path: Path, **settings: str) -> subprocess.CompletedProcess[str]:
    return manage("doctor", KNOWLEX_DATA_DIR=str(tmp_path), KNOWLEX_EMBEDDER="local", **settings)


def ollama(provider: Provider, **settings: str) -> dict[str, str]:
    return {"KNOWLEX_SYNTHESIZER": "ollama", "OLLAMA_HOST": provider.url, **settings}


def openai(provider: Provider, **settings: str) -> dict[str, str]:
    return {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": provider.openai_url, **settings}


def steps(told: subprocess.CompletedProcess[str]) -> list[tuple[str, str, str]]:
    """Mark, step and what came of it: the lines behind the one that says what is asked, without times."""
    lines = told.stdout.partition(QUESTION)[2].splitlines()[1:]
    found = [re.fullmatch(r"(\S+) +(\w+) +\d+\.\d\d s: (.+)", line) for line in lines]
    assert all(found), told.stdout + told.stderr
    return [match.group(1, 2, 3) for match in found if match]


def test_with_the_extractive_answerer_no_model_is_asked_and_it_says_what_that_would_take(
    tmp_path: Path, provider: Provider
) -> None:
    told = doctor(tmp_path, OLLAMA_HOST=provider.url)

    line = told.stdout.splitlines()[-1]
    assert told.returncode == 0
    assert line.startswith(
        "ok    chat model   none: answers are extractive, word for word from your documents."
    )
    assert "KNOWLEX_SYNTHESIZER=ollama (with Ollama running) or OPENAI_API_KEY" in line
    assert "local: all-MiniLM-L6-v2 in this process, for German, English, Spanish" in told.stdout
    assert provider.calls() == []


def test_it_says_which_languages_the_multilingual_model_is_for(tmp_path: Path) -> None:
    told = doctor(tmp_path, KNOWLEX_EMBEDDING_MODEL="multilingual-e5-small")
    assert (
        "multilingual-e5-small in this process, for Arabic, German, English, Spanish, Chinese" in told.stdout
    )


def test_a_model_that_cites_is_shown_step_by_step(tmp_path: Path, provider: Provider) -> None:
    provider.says(CITED)

    told = doctor(tmp_path, **ollama(provider))

    assert told.returncode == 0, told.stdout + told.stderr
    assert f'ollama llama3.2:1b at {provider.url}: is asked "{QUESTION}" with one passage' in told.stdout
    assert steps(told) == [
        ("ok", "server", f"{provider.url} was reached"),
        ("ok", "model", "llama3.2:1b is known"),
        ("ok", "reply", f'"{CITED}"'),
        ("ok", "markers", "[1]"),
        ("ok", "claim", f'exact: "{CITED.removesuffix(" [1].")}"'),
        ("ok", "verdict", "The model cites as asked."),
    ]
    (call,) = provider.calls("chat")
    assert PASSAGE in str(call.body)


def test_a_model_that_cites_nothing_is_told_as_such(tmp_path: Path, provider: Provider) -> None:
    provider.says("It was built in 1874. " * 20)

    told = doctor(tmp_path, **openai(provider))

    assert told.returncode == 0  # it can be reached, and it answers
    reply, markers, verdict = steps(told)[2:]
    assert reply[2].endswith('" …')
    assert len(reply[2]) < 210
    assert markers == ("-", "markers", "none was read")
    assert verdict[:2] == ("-", "verdict")
    assert verdict[2].startswith("The model answered, but cited nothing: ")
    assert KEY not in told.stdout + told.stderr


def test_a_model_that_was_not_pulled_is_told_with_the_command_that_pulls_it(
    tmp_path: Path, provider: Provider
) -> None:
    provider.has_pulled("mistral:7b")

    told = doctor(tmp_path, **ollama(provider))

    assert told.returncode == 1
    assert [step[:2] for step in steps(told)] == [("ok", "server"), ("FAILS", "model")]
    assert "`ollama pull llama3.2:1b`" in steps(told)[-1][2]
    assert provider.calls("chat") == []


def test_a_server_that_is_away_is_told(tmp_path: Path) -> None:
    told = doctor(tmp_path, KNOWLEX_SYNTHESIZER="openai", OPENAI_BASE_URL="http://127.0.0.1:9/v1")

    assert told.returncode == 1
    assert steps(told) == [
        ("FAILS", "server", "It cannot be reached: check OPENAI_BASE_URL, and that this server runs.")
    ]


def test_a_key_that_is_refused_is_told_and_not_shown(tmp_path: Path, provider: Provider) -> None:
    provider.rule("status", status=401, message=f"Incorrect API key provided: {KEY}")

    told = doctor(tmp_path, **openai(provider))

    assert told.returncode == 1
    assert steps(told)[-1] == ("FAILS", "model", "It refuses the key (HTTP 401): check OPENAI_API_KEY.")
    assert KEY not in told.stdout + told.stderr


def test_a_server_that_lists_other_models_is_asked_all_the_same(tmp_path: Path, provider: Provider) -> None:
    provider.says(CITED)

    told = doctor(tmp_path, **openai(provider, KNOWLEX_CHAT_MODEL="my-model"))

    assert told.returncode == 0
    model, reply = steps(told)[1:3]
    assert model[0] == "-"
    assert "gpt-4o-mini: KNOWLEX_CHAT_MODEL names another" in model[2]
    assert reply == ("ok", "reply", f'"{CITED}"')


@pytest.mark.parametrize("provided", [ollama, openai])
def test_a_model_that_does_not_answer_is_waited_for_as_long_as_for_an_answer(
    tmp_path: Path, provider: Provider, provided: Callable[..., dict[str, str]]
) -> None:
    provider.rule("hang", on="chat")

    told = doctor(tmp_path, **provided(provider, KNOWLEX_LLM_TIMEOUT_SECONDS="1"))

    assert told.returncode == 1
    mark, step, says = steps(told)[-1]
    assert (mark, step) == ("FAILS", "reply")
    assert "Raise KNOWLEX_LLM_TIMEOUT_SECONDS" in says
    assert re.search(r"^FAILS reply +1\.\d\d s: ", told.stdout, re.MULTILINE)
