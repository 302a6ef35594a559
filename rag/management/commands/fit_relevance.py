"""`manage.py fit_relevance PAIRS.jsonl`: relevance by a user's own labelled pairs, for the active model."""

from argparse import ArgumentParser
from dataclasses import asdict
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from embeddings.protocols import Embedder
from embeddings.services import active_model
from knowlex.common.components import component
from knowlex.common.errors import KnowlexError
from rag.fitting import expected_calibration_error, fit
from rag.labelled import pairs, read_labelled

FEWEST = 50  # pairs of each label; fewer say little about four weights


class Command(BaseCommand):
    help = (
        'Fits relevance to labelled pairs, a line each: {"question": ..., "passage": ..., "relevant": true}, '
        "and stores the weights with the active embedding model."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("pairs", type=Path)
        parser.add_argument("--dry-run", action="store_true", help="tell the weights, store nothing")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            self._handle(options["pairs"], store=not options["dry_run"])
        except (OSError, UnicodeDecodeError, ValueError) as exc:
            raise CommandError(f"The pairs cannot be used: {exc}") from exc
        except KnowlexError as exc:
            raise CommandError(exc.message) from exc

    def _handle(self, path: Path, *, store: bool) -> None:
        with path.open(encoding="utf-8") as lines:
            labelled = read_labelled(lines)
        relevant = sum(one.relevant for one in labelled)
        if min(relevant, len(labelled) - relevant) < FEWEST:
            raise CommandError(
                f"At least {FEWEST} relevant and {FEWEST} irrelevant pairs are needed; "
                f"there are {relevant} and {len(labelled) - relevant}."
            )
        model = active_model()
        known = list(pairs(labelled, component("EMBEDDER", Embedder)))
        weights = fit(known)
        chances = [weights.probability(pair.features) for pair in known]
        error = expected_calibration_error(chances, [pair.relevant for pair in known])
        self.stdout.write(f"{model.name}: {asdict(weights)}")
        self.stdout.write(f"{len(known)} pairs, calibration error on these same pairs {error:.3f}")
        if store:
            model.calibration = asdict(weights)
            model.save(update_fields=["calibration"])
            self.stdout.write("Stored; the next question is judged by it.")
