"""Labelled pairs -> the calibration that is stored with an embedding model. Plain Python and NumPy."""

from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from embeddings.protocols import Embedder
from knowlex.common.errors import InvalidInput
from rag.evaluation.reliability import calibration_error
from rag.fitting import area_under_curve, fit, unseen_chances
from rag.labelled import Labelled, described_pairs

FEWEST = 50  # pairs of each label; fewer say little about eight numbers


def calibrate(labelled: Sequence[Labelled], embedder: Embedder, *, source: str) -> dict[str, Any]:
    """{the weights, "base" and "spread" of the model's cosines, "fitted_at", "pairs", "relevant", "source",
    "calibration_error", "auc"}; the last two by weights that had not seen the pairs' questions (8 folds).

    Blocking; raises InvalidInput (too few pairs), ValueError (a fold's other questions have one label only),
    and as `Embedder.embed`.
    """
    relevant = sum(one.relevant for one in labelled)
    if min(relevant, len(labelled) - relevant) < FEWEST:
        raise InvalidInput(
            f"At least {FEWEST} relevant and {FEWEST} irrelevant pairs are needed; "
            f"there are {relevant} and {len(labelled) - relevant}."
        )
    pairs, scale = described_pairs(labelled, embedder)
    chances, labels = unseen_chances(pairs), [pair.relevant for pair in pairs]
    weights = {name: round(value, 3) for name, value in asdict(fit(pairs)).items()}
    return {
        **weights,
        "base": round(scale.base, 4),
        "spread": round(scale.spread, 4),
        "fitted_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "pairs": len(pairs),
        "relevant": relevant,
        "source": source,
        "calibration_error": round(calibration_error(chances, labels), 3),
        "auc": round(area_under_curve(chances, labels), 3),
    }
