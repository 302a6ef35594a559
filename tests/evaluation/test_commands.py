"""`manage.py question_set` and `manage.py evaluate` as their users see them."""

import io
import json
import subprocess
import sys
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from tests.evaluation.sets import UNANSWERABLE, jsonl, lighthouses, line
from tests.support.environment import PROJECT
from tests.support.stack import Stack

Done = subprocess.CompletedProcess[str]


def manage(stack: Stack, *words: object) -> Done:
    command = [sys.executable, "manage.py", *map(str, words)]
    return subprocess.run(command, cwd=PROJECT, env=stack.env, capture_output=True, text=True, timeout=120)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "lights.jsonl"
    kinds = (["north"], ["south", "old"], [])
    path.write_bytes(jsonl(*(line(n, topic="sea", tags=kinds[n % 3]) for n in range(6))))
    return path


def question_set(*words: object) -> str:
    """`manage.py question_set …` without the seconds that a process takes to start; what it printed."""
    out = io.StringIO()
    call_command("question_set", *map(str, words), stdout=out)
    return out.getvalue()


@pytest.mark.django_db
def test_a_set_goes_in_and_comes_out_the_same(file: Path):
    assert "6 questions stored as lights" in question_set("load", file)
    with pytest.raises(CommandError, match=r"^A question set with this name exists already\.$") as refused:
        question_set("load", file)
    assert refused.value.returncode == 1
    question_set("load", file, "--replace")
    assert "lights" in question_set("list")

    written = [json.loads(text) for text in question_set("export", "lights").splitlines()]
    assert [one["id"] for one in written] == [f"light-{n}" for n in range(6)]
    assert written[0]["metadata"] == {"topic": "sea"}

    assert "is gone" in question_set("remove", "lights")
    with pytest.raises(CommandError):
        question_set("remove", "lights")


def test_two_configurations_side_by_side_with_limits(server: Stack, file: Path, tmp_path: Path):
    lighthouses(server.client)
    config, plot, report = tmp_path / "wide.json", tmp_path / "out.svg", tmp_path / "out.json"
    config.write_text('{"mode": "hybrid", "top_k": 20}')
    asked = ["evaluate", file, "--collection", "Lighthouses", "--answers", "--config", config]

    good = manage(
        server, *asked, "--set", "words:mode=sparse", "--floor", "hit@10=0.9",
        "--ceiling", "false_abstention=0.5", "--by", "tag", "--plot", plot, "--json", report,
    )  # fmt: skip
    assert good.returncode == 0, good.stderr
    assert {"wide", "words", "difference"} <= set(good.stdout.split("\n")[0].split())
    assert plot.read_text().startswith("<svg")
    body = json.loads(report.read_text())
    assert [one["settings"] for one in body["configurations"]] == [
        {"mode": "hybrid", "top_k": 20},
        {"mode": "sparse"},
    ]
    assert len(body["results"]) == 12
    by_tag = good.stdout.partition("wide by tag")[2].splitlines()
    assert by_tag[0].split() == ["questions", "hit@1", "hit@5", "right", "refused"]
    assert [row.split()[:2] for row in by_tag[1:6]] == [
        ["all", "6"], ["none", "2"], ["north", "2"], ["old", "2"], ["south", "2"],
    ]  # fmt: skip
    assert "words by tag" in good.stdout
    assert body["configurations"][0]["groups"]["north"]["metrics"]["hit@5"]["value"] == 1

    below = manage(server, *asked, "--floor", "wide:hit@10=1.5")
    assert (below.returncode, below.stderr) == (1, "CommandError: wide: hit@10 is 1, below 1.5\n")


def test_relevance_gets_its_level_from_a_question_set(server: Stack, tmp_path: Path):
    lighthouses(server.client, "Lights to calibrate by")
    unanswerable = {"question": UNANSWERABLE, "kind": "unanswerable"}
    lines = [{**unanswerable, "id": f"none {n}"} for n in range(15)]
    path = tmp_path / "lights.jsonl"
    path.write_bytes(jsonl(*(line(n, pages=None, id=str(n)) for n in range(15)), *lines))
    asked = ["calibrate", "--questions", path, "--collection", "Lights to calibrate by", "--dry-run"]
    done = manage(server, *asked)
    assert done.returncode == 0, done.stderr
    told = dict(row.split(": ", 1) for row in done.stdout.splitlines() if ": " in row)
    assert (told["questions"], told["answered"], told["source"]) == ("30", "15", "lights.jsonl")
    assert -3 < float(told["level"]) < 3


def test_a_question_set_without_unanswerable_questions_gives_no_level(server: Stack, file: Path):
    lighthouses(server.client, "Lights for nothing")
    done = manage(server, "calibrate", "--questions", file, "--collection", "Lights for nothing")
    assert done.returncode == 1
    assert "that nothing answers are needed" in done.stderr


@pytest.mark.parametrize(
    "words",
    [
        ["no such set"],
        ["nowhere.jsonl"],
        ["FILE", "--collection", "nowhere"],
        ["FILE", "--floor", "beauty=1"],
        ["FILE", "--floor", "hit@1=nan"],
        ["FILE", "--floor", "answer_accuracy=1"],
        ["FILE", "--set", "mode=dense"],
        ["FILE", "--set", "a:depth=3"],
        ["FILE", "--config", "nowhere.json"],
        ["FILE", "--plot", "nowhere/plot.svg"],
        ["FILE", "--json", "nowhere/out.json"],
    ],
)
@pytest.mark.django_db
def test_bad_usage_ends_with_two(file: Path, words: list[str]):
    with pytest.raises(CommandError) as refused:
        call_command("evaluate", *(str(file) if word == "FILE" else word for word in words))

    assert refused.value.returncode == 2


def test_two_embedding_models_side_by_side(server: Stack, file: Path):
    lighthouses(server.client, "Lights for two models")
    active = "all-MiniLM-L6-v2"
    compared = ["embedding_model", "compare", active, active, "--questions", file]

    good = manage(server, *compared, "--collection", "Lights for two models")
    assert good.returncode == 0, good.stderr
    assert "6 questions, hybrid" in good.stdout
    rows = {
        cells[0]: cells[1:]
        for row in good.stdout.splitlines()
        if len(cells := row.strip("│ ").split("│")) == 4
    }
    figures = {name.strip(): [cell.strip() for cell in cells] for name, cells in rows.items()}
    assert figures["hit@10"] == ["1.000", "1.000", "+0.000"]
    assert {"hit@1", "hit@5", "MRR", "nDCG@10", "latency p50, ms", "latency p95, ms"} <= set(figures)

    empty = manage(server, *compared)
    assert (empty.returncode, empty.stderr) == (
        1,
        "CommandError: Nothing was found in default: is it empty?\n",
    )
