"""`manage.py calibrate PAIRS.jsonl`: relevance by a user's own labelled pairs."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from embeddings.registry import embedder_for
from embeddings.services import active_model
from knowlex.common.errors import KnowlexError
from rag.calibrating import FEWEST, calibrate
from rag.labelled import read_labelled


class Command(BaseCommand):
    help = (
        "Fits relevance to labelled pairs for the active embedding model and stores the weights with it. A "
        'line each: {"question": ..., "passage": ..., "relevant": true}, and "title" if the passage has one; '
        f"at least {FEWEST} relevant and {FEWEST} irrelevant ones."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("pairs", type=Path, nargs="?")
        parser.add_argument("--model", help="name of the model, refused if another one is active")
        parser.add_argument("--source", help="what the pairs are, as the admin shows it (the file's name)")
        parser.add_argument("--dry-run", action="store_true", help="tell the weights, store nothing")
        parser.add_argument("--reset", action="store_true", help="back to the weights that ship")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["reset"] == (options["pairs"] is not None):
            raise CommandError("Give a file of labelled pairs, or --reset.")
        try:
            self._handle(options)
        except (OSError, UnicodeDecodeError, ValueError) as exc:
            raise CommandError(f"The pairs cannot be used: {exc}") from exc
        except KnowlexError as exc:
            raise CommandError(exc.message) from exc

    def _handle(self, options: dict[str, Any]) -> None:
        model = active_model()
        if options["model"] not in (None, model.name):
            raise CommandError(f"The active model is {model.name}; only its chunks are searched.")
        if options["reset"]:
            found = None
        else:
            path: Path = options["pairs"]
            with path.open(encoding="utf-8") as lines:
                labelled = read_labelled(lines)
            found = calibrate(labelled, embedder_for(model.spec), source=options["source"] or path.name)
            for name, value in found.items():
                self.stdout.write(f"{name}: {value}")
        if options["dry_run"]:
            self.stdout.write("Nothing was stored.")
            return
        model.calibration = found
        model.save(update_fields=["calibration"])
        self.stdout.write(f"Stored with {model.name}; the next question is judged by it.")
