"""What a reranking model's probability does to relevance, and what it never does."""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from embeddings.services import active_model
from rag.relevance.assessment import assess
from rag.rerankers.by_model import ModelReranker, RerankFailed
from rag.rerankers.cross_encoder import CrossEncoderReranker
from tests.rag.overlap_model import make_overlap_model
from tests.relevance.asking import ask_of, judged, passage, retrieval
from tests.support.texts import fact, question

QUESTION = "How high above sea level does Nairobi lie?"
KENYA = "Nairobi is the capital of Kenya. It lies at 1,795 metres above sea level."
MODEL = "http:some-reranker"


def scored(score: float | None, *, model: str = MODEL, calibration: dict[str, Any] | None = None) -> float:
    found = retrieval(QUESTION, [passage(1, KENYA)._replace(rerank_score=score)])
    found = replace(found, rerank_model=model, reranker="http")
    return assess(QUESTION, found, calibration).passages[0].relevance


def test_the_more_the_reranker_finds_the_more_relevant() -> None:
    told = [scored(score) for score in (0.0, 0.01, 0.2, 0.5, 0.8, 0.99, 1.0)]
    assert told == sorted(told)
    assert told[0] < 0.5 < scored(None) < told[-1]


def test_a_strength_is_no_probability() -> None:
    plain = judged(QUESTION, [passage(1, KENYA)]).passages[0]
    assert plain.rerank_score is not None
    assert plain.relevance == scored(None) == scored(0.01, model="")


def weights(**others: float) -> dict[str, float]:
    names = ("similarity", "sentence", "coverage", "evidence", "sentence_similarity", "names", "margin")
    return {"intercept": 0.0, **dict.fromkeys(names, 0.0), "reranked": 0.0, **others}


def test_only_the_model_that_was_calibrated_is_weighed() -> None:
    stored: dict[str, Any] = {
        **weights(intercept=-1.0),
        **{f"reranked_{name}": value for name, value in weights(reranked=1.0).items()},
        "reranker": MODEL,
    }
    assert scored(0.3, calibration=stored) == pytest.approx(0.3)
    assert scored(None, calibration=stored) == pytest.approx(0.2689, abs=1e-4)  # it failed
    other = scored(0.3, model="http:another", calibration=stored)
    assert 0.2689 < other < 0.3  # between what the two say


class Failing(CrossEncoderReranker):
    async def scores(self, question: str, texts: Sequence[str]) -> list[float]:
        raise RerankFailed("Not today.")


def test_a_reranker_that_fails_leaves_relevance_as_it_is(tmp_path: Path) -> None:
    folder = str(make_overlap_model(tmp_path))
    passages = [passage(1, KENYA), passage(2, "Eels need deep seas.")]

    def told(reranker: ModelReranker) -> tuple[str, float]:
        found = asyncio.run(reranker.rerank(ask_of(QUESTION), retrieval(QUESTION, passages)))
        return found.rerank_model, assess(QUESTION, found, None).passages[0].relevance

    plain = judged(QUESTION, passages).passages[0].relevance
    assert told(Failing(model=folder)) == ("", plain)
    model, reranked = told(CrossEncoderReranker(model=folder, timeout_s=20))
    assert model == f"cross-encoder:{tmp_path.name}"
    assert reranked != plain


@pytest.mark.django_db
def test_calibrate_fits_the_scores_of_the_configured_reranker(tmp_path: Path, settings: Any) -> None:
    options = {"model": str(make_overlap_model(tmp_path))}
    part = {"class": f"{CrossEncoderReranker.__module__}.CrossEncoderReranker", "options": options}
    settings.KNOWLEX = settings.KNOWLEX | {"RERANKER": part}
    pairs = tmp_path / "pairs.jsonl"
    rows = [(n, m) for n in range(60) for m in (n, n + 60)]
    pairs.write_text(
        "\n".join(
            json.dumps({"question": question(n), "passage": fact(m), "relevant": n == m}) for n, m in rows
        )
    )
    call_command("calibrate", str(pairs), stdout=StringIO())

    stored = active_model().calibration
    assert stored is not None
    assert stored["reranker"] == f"cross-encoder:{tmp_path.name}"
    assert stored["reranked"] == 0.0 < stored["reranked_reranked"]
    assert {"reranked_auc", "reranked_calibration_error", "auc"} <= stored.keys()
