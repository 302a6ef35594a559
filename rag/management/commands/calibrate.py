"""`manage.py calibrate PAIRS.jsonl`, or `--questions SET|FILE.jsonl`: relevance by a user's own labels."""

import asyncio
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from knowlex.base.errors import KnowlexError
from knowlex.runtime.commands import ProjectCommand


class Command(ProjectCommand):
    help = (
        "Fits relevance to labelled pairs for the active embedding model and stores the weights with it. A "
        'line each: {"question": ..., "passage": ..., "relevant": true}, and "title" if the passage has one; '
        "at least 50 relevant and 50 irrelevant ones. A configured reranker's scores count, too. Or its "
        "level to a question set, 50 questions say, of which at least 10 have no answer in the documents."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("pairs", type=Path, nargs="?")
        parser.add_argument("--questions", metavar="SET|FILE.jsonl", help="as for `evaluate`")
        parser.add_argument("--collection", action="append", default=[], help="name or id; may be repeated")
        parser.add_argument("--model", help="name of the model, refused if another one is active")
        parser.add_argument("--source", help="what the pairs are, as the admin shows it (the file's name)")
        parser.add_argument("--dry-run", action="store_true", help="tell the weights, store nothing")
        parser.add_argument("--reset", action="store_true", help="back to the weights that ship")

    def handle(self, *args: Any, **options: Any) -> None:
        if sum(bool(options[name]) for name in ("reset", "pairs", "questions")) != 1:
            raise CommandError("Give a file of labelled pairs, or --questions, or --reset.")
        if options["collection"] and not options["questions"]:
            raise CommandError("--collection is for --questions; labelled pairs bring their passages along.")
        try:
            self._handle(options)
        except (OSError, UnicodeDecodeError, ValueError) as exc:
            raise CommandError(f"The pairs cannot be used: {exc}") from exc
        except KnowlexError as exc:
            raise CommandError(exc.message) from exc

    def _handle(self, options: dict[str, Any]) -> None:
        from embeddings.services import active_model

        model = active_model()
        if options["model"] not in (None, model.name):
            raise CommandError(f"The active model is {model.name}; only its chunks are searched.")
        calibration = None if options["reset"] else _fit(options, model.calibration)
        for name, value in (calibration or {}).items():
            self.stdout.write(f"{name}: {value}")
        if options["dry_run"]:
            self.stdout.write("Nothing was stored.")
            return
        model.calibration = calibration
        model.save(update_fields=["calibration"])
        self.stdout.write(f"Stored with {model.name}; the next question is judged by it.")


def _fit(options: dict[str, Any], before: dict[str, Any] | None) -> dict[str, Any]:
    """Fit relevance. before: the calibration so far, by which the search for a question set judges."""
    from embeddings.registry import embedder_for
    from embeddings.services import active_model
    from knowlex.runtime.components import component
    from rag.answering import parts
    from rag.management.evaluation import judge_questions, load_scope
    from rag.management.event_loop import close_after
    from rag.protocols import Reranker
    from rag.relevance.calibrator import calibrate, level_by_questions
    from rag.relevance.fitting import read_labelled
    from rag.rerankers.by_model import ModelReranker

    if options["questions"]:
        collections, cases = load_scope(options["questions"], options["collection"])
        ids = [collection.id for collection in collections]
        judged = asyncio.run(close_after(judge_questions(cases, parts.build_pipeline(), ids)))
        return level_by_questions(judged, before, source=options["source"] or Path(options["questions"]).name)
    path: Path = options["pairs"]
    with path.open(encoding="utf-8") as lines:
        labelled = read_labelled(lines)
    configured = component("RERANKER", Reranker)
    reranker = configured if isinstance(configured, ModelReranker) else None
    embedder = embedder_for(active_model().spec)
    return calibrate(labelled, embedder, reranker, source=options["source"] or path.name)
