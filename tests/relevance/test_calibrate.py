"""`manage.py calibrate`: a user's own labelled pairs decide what is relevant."""

import gc
import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.contrib import admin
from django.core.management import CommandError, call_command

from embeddings.admin.models import EmbeddingModelAdmin
from embeddings.embedders.ollama import OllamaEmbedder
from embeddings.models import EmbeddingModel
from embeddings.services import active_model
from knowlex.base.errors import InvalidInput
from rag.ranking.logits import logistic, logit_of
from rag.relevance.assessment import assess
from rag.relevance.calibrator import level_by_questions
from rag.relevance.fitting import Labelled, described_pairs, read_labelled
from tests.provider import Provider
from tests.relevance.asking import passage, retrieval
from tests.support.texts import fact, question


def lines(count: int) -> str:
    """`count` questions, each with the fact that answers it and with one that does not."""
    rows = []
    for n in range(count):
        rows.append({"question": question(n), "passage": fact(n), "relevant": True})
        rows.append({"question": question(n), "passage": fact(n + count), "relevant": False})
    return "\n".join(map(json.dumps, rows))


def run(path: Path | None, *options: str) -> str:
    said = StringIO()
    call_command("calibrate", *([str(path)] if path else []), *options, stdout=said)
    return said.getvalue()


@pytest.mark.django_db
def test_fitted_weights_are_stored_with_the_active_model_and_used(tmp_path: Path) -> None:
    path = tmp_path / "pairs.jsonl"
    path.write_text(lines(60))

    assert "pairs: 120" in run(path)

    stored = active_model().calibration
    assert stored is not None
    assert (stored["pairs"], stored["relevant"], stored["source"]) == (120, 60, "pairs.jsonl")
    assert 0 <= stored["calibration_error"] < 0.3
    assert stored["fitted_at"].startswith("20")
    shown = EmbeddingModelAdmin(EmbeddingModel, admin.site).relevance(active_model())
    assert shown.startswith("120 pairs of pairs.jsonl, 20")
    asked = question(7)
    found = retrieval(asked, [passage(1, fact(7)), passage(2, fact(8))])
    right, wrong = assess(asked, found, stored).passages
    assert right.relevance > wrong.relevance
    assert (right, wrong) != assess(asked, found, None).passages


def test_a_level_moves_what_ships_and_what_was_fitted() -> None:
    asked = question(7)
    found = retrieval(asked, [passage(1, fact(7)), passage(2, fact(8))])
    shipped, lower = (assess(asked, found, stored).passages for stored in (None, {"level": -1.0}))
    assert logit_of(lower[0].relevance) == pytest.approx(logit_of(shipped[0].relevance) - 1)
    assert assess(asked, found, {"level": float("nan")}).passages == shipped


def test_questions_set_a_level_from_where_the_one_before_had_been() -> None:
    judged = [(0.9, True)] * 15 + [(0.85, False)] * 10
    first = level_by_questions(judged, None, source="ours.jsonl")
    assert first["level"] < 0
    assert (first["questions"], first["answered"], first["source"]) == (25, 15, "ours.jsonl")
    moved = [(logistic(logit_of(chance) + first["level"]), label) for chance, label in judged]
    again = level_by_questions(moved, {**first, "intercept": 1.0}, source="ours.jsonl")
    assert again["level"] == pytest.approx(first["level"], abs=0.01)
    assert again["intercept"] == 1.0
    shown = EmbeddingModelAdmin(EmbeddingModel, admin.site).relevance(EmbeddingModel(calibration=again))
    assert shown.startswith("level by 25 questions of ours.jsonl, 20")


@pytest.mark.django_db
def test_the_active_model_is_asked_though_the_settings_have_another(tmp_path: Path, monkeypatch: Any) -> None:
    """As where nothing in the environment names a model, and one was switched to."""
    active = EmbeddingModel.objects.create(
        name="multilingual-e5-small", provider="local", dimensions=384, active=True, wanted=True
    )
    path = tmp_path / "pairs.jsonl"
    path.write_text(lines(60))
    asked: list[str] = []

    def known(labelled: Any, embedder: Any, reranker: Any, *, source: str) -> dict[str, str]:
        asked.append(embedder.model_name)
        return {"source": source}

    monkeypatch.setattr("rag.relevance.calibrator.calibrate", known)
    run(path)

    assert asked == [active.name]


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


@pytest.mark.django_db
def test_a_reset_goes_back_to_the_weights_that_ship() -> None:
    EmbeddingModel.objects.filter(pk=active_model().pk).update(calibration={"intercept": 1.0})
    run(None, "--reset")
    assert active_model().calibration is None


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("options", "said"),
    [([], "Give a file"), (["--reset", "--model", "another"], "active model is")],
)
def test_what_cannot_be_done_is_said(options: list[str], said: str) -> None:
    with pytest.raises(CommandError, match=said):
        run(None, *options)


@pytest.mark.parametrize(
    "line",
    [
        "no json",
        "[]",
        '{"question": "a"}',
        '{"question": "a", "passage": "b", "relevant": "yes"}',
        '{"question": 1, "passage": "b", "relevant": true}',
        '{"question": "a", "passage": " ", "relevant": true}',
        '{"question": "a", "passage": "b", "relevant": true, "more": 1}',
    ],
)
def test_a_line_of_another_form_is_named(line: str) -> None:
    good = '{"question": "a", "passage": "b", "relevant": true}'
    with pytest.raises(InvalidInput, match="Line 3 ") as told:
        read_labelled([good, "", line])
    assert "__init__" not in told.value.message


def test_a_model_on_a_server_is_left_no_connection(provider: Provider, caplog: pytest.LogCaptureFixture):
    embedder = OllamaEmbedder(host=provider.url, model_name="nomic-embed-text", dimensions=768)
    pairs = [Labelled(question(n), fact(n), relevant=True) for n in range(2)]
    described_pairs(pairs, embedder)
    del embedder
    gc.collect()
    assert "Unclosed" not in caplog.text
