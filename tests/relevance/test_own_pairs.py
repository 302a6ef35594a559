"""`manage.py fit_relevance`: a user's own labelled pairs decide what is relevant."""

import json
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from embeddings.services import active_model
from knowlex.common.errors import InvalidInput
from rag.labelled import read_labelled
from rag.relevance import assess
from tests.relevance.asking import passage, retrieval
from tests.support.texts import fact, question


def lines(count: int) -> str:
    """`count` questions, each with the fact that answers it and with one that does not."""
    rows = []
    for n in range(count):
        rows.append({"question": question(n), "passage": fact(n), "relevant": True})
        rows.append({"question": question(n), "passage": fact(n + count), "relevant": False})
    return "\n".join(map(json.dumps, rows))


def run(path: Path, *options: str) -> str:
    said = StringIO()
    call_command("fit_relevance", str(path), *options, stdout=said)
    return said.getvalue()


@pytest.mark.django_db
def test_fitted_weights_are_stored_with_the_active_model_and_used(tmp_path: Path) -> None:
    path = tmp_path / "pairs.jsonl"
    path.write_text(lines(60))

    assert "120 pairs" in run(path)

    stored = active_model().calibration
    asked = question(7)
    found = retrieval(asked, [passage(1, fact(7)), passage(2, fact(8))])
    right, wrong = assess(asked, found, stored).passages
    assert right.relevance > wrong.relevance
    assert (right, wrong) != assess(asked, found, None).passages


@pytest.mark.django_db
def test_a_dry_run_stores_nothing(tmp_path: Path) -> None:
    path = tmp_path / "pairs.jsonl"
    path.write_text(lines(60))
    assert "intercept" in run(path, "--dry-run")
    assert active_model().calibration is None


@pytest.mark.django_db
def test_too_few_pairs_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "pairs.jsonl"
    path.write_text(lines(10))
    with pytest.raises(CommandError, match="At least 50 relevant"):
        run(path)


@pytest.mark.parametrize(
    "line",
    [
        "no json",
        "[]",
        '{"question": "a"}',
        '{"question": "a", "passage": "b", "relevant": "yes"}',
        '{"question": 1, "passage": "b", "relevant": true}',
        '{"question": "a", "passage": "b", "relevant": true, "more": 1}',
    ],
)
def test_a_line_of_another_form_is_named(line: str) -> None:
    good = '{"question": "a", "passage": "b", "relevant": true}'
    with pytest.raises(InvalidInput, match="Line 3 "):
        read_labelled([good, "", line])
