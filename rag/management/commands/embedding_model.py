"""`manage.py embedding_model`: further embedding models, and the switch to another while people search."""

from __future__ import annotations

import logging
import sys
from argparse import ArgumentParser
from typing import TYPE_CHECKING, Any

from django.core.management.base import CommandError

from knowlex.base.errors import KnowlexError
from knowlex.runtime.commands import ProjectCommand

if TYPE_CHECKING:
    from embeddings.model_lifecycle import catalog, switch
    from embeddings.models import EmbeddingModel
    from embeddings.types import ModelSpec

TEXTS = "Every chunk is embedded by each model that is kept up; searches use the active one."


class Command(ProjectCommand):
    help = f"Adds, builds, compares and switches embedding models while searches go on. {TEXTS}"

    def add_arguments(self, parser: ArgumentParser) -> None:
        verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
        verbs.add_parser("list", help="all models: state, vectors, size, index")
        _add_adding(verbs.add_parser("add", help="a further model; it is tried, and used for nothing yet"))
        building = verbs.add_parser("build", help="embed all chunks with it, and every new one from now on")
        building.add_argument("name", help="one that was added; a local one is added first")
        building.add_argument("--detach", action="store_true", help="leave the work to the workers at once")
        _add_comparing(verbs.add_parser("compare", help="two models on a question set, side by side"))
        activating = verbs.add_parser("activate", help="search with it from now on")
        activating.add_argument("name")
        activating.add_argument("--wait", action="store_true", help="until no chunk lacks its vector")
        activating.add_argument(
            "--force", action="store_true", help="though chunks lack its vector, which no search finds then"
        )
        verbs.add_parser("rollback", help="search with the model before again, at once")
        verbs.add_parser("remove", help="free its vectors; never the active one").add_argument("name")

    def handle(self, *args: Any, verb: str, **options: Any) -> None:
        logging.disable(logging.INFO)  # what workers log would run through the progress bar
        try:
            getattr(self, f"_{verb}")(**options)
        except KnowlexError as exc:
            raise CommandError(exc.message) from exc
        except KeyboardInterrupt:
            self.stderr.write("Interrupted. What was asked for stays on record: workers go on with it.")
            sys.exit(130)
        finally:
            logging.disable(logging.NOTSET)

    def _list(self, **_: Any) -> None:
        from rich.console import Console
        from rich.table import Table

        from embeddings.model_lifecycle import catalog
        from embeddings.models import EmbeddingModel

        counts, before = catalog.fetch_counts(), EmbeddingModel.objects.before().first()
        table = Table(
            "name", "provider", "dimensions", "state", "vectors", "waiting", "failed", "MB", "index"
        )
        for model in EmbeddingModel.objects.order_by("id"):
            held = counts[model.pk]
            megabytes = f"{catalog.measure_bytes(model.pk) / 1e6:.1f}"
            numbers = [f"{held.vectors} / {held.chunks}", str(held.waiting), str(held.failed), megabytes]
            about = [model.name, model.provider, str(model.dimensions or "?")]
            table.add_row(
                *about,
                catalog.describe_state(model, held, before),
                *numbers,
                catalog.describe_index(model.pk),
            )
        width = None if self.stdout.isatty() else 200
        Console(file=self.stdout, width=width, soft_wrap=False).print(table)  # type: ignore[arg-type]

    def _add(self, **options: Any) -> None:
        from embeddings import active_model
        from embeddings.model_lifecycle import catalog

        model, is_new = catalog.add_model(_spec(options))
        word = "Added" if is_new else "There already:"
        self.stdout.write(f"{word} {model.spec}. Next: {active_model.COMMAND} build {model.name}")

    def _build(self, name: str, detach: bool, **_: Any) -> None:
        from embeddings import active_model, tasks
        from embeddings.model_lifecycle import building as model_building
        from embeddings.model_lifecycle import catalog

        model = catalog.find_or_add_local(name)
        batches = model_building.begin_build(model)
        with tasks.tolerate_lost_hint():
            tasks.enqueue(batches[: tasks.MAX_HINTS])
        if detach:
            self.stdout.write(f"{len(batches)} batches are on record for the workers; see `list`.")
            return
        held = self._built(model)
        self.stdout.write(f"{model.name} has {held.vectors} vectors of {held.chunks} chunks.")
        if held.failed:
            raise CommandError(
                f"{held.failed} chunks could not be embedded: {held.reason.rstrip('.')}. "
                f"`{active_model.COMMAND} build {model.name}` tries them again."
            )
        if not model.active:
            self.stdout.write(f"Next: {active_model.COMMAND} activate {model.name}")

    def _built(self, model: EmbeddingModel) -> catalog.ModelCounts:
        from embeddings.management.displays import BuildDisplay
        from embeddings.model_lifecycle import building as model_building

        with BuildDisplay(self.stderr, model.name) as display:
            held: catalog.ModelCounts | None = None
            for held in model_building.follow_build(model, on_alone=display.alone):
                display.show(held)
        assert held is not None
        return held

    def _compare(self, first: str, second: str, questions: str, mode: str, **options: Any) -> None:
        from rich.console import Console
        from rich.table import Table

        from embeddings.model_lifecycle import catalog
        from rag.management.evaluation import compare_models

        for model in (catalog.find_model(first), catalog.find_model(second)):
            counts = catalog.fetch_counts_of(model.pk)
            if counts is not None and counts.missing:
                self.stdout.write(
                    f"{model.name} lacks the vectors of {counts.missing} of {counts.chunks} chunks."
                )
        count, figures = compare_models((first, second), questions, options["collection"], mode)
        table = Table(f"{count} questions, {mode}", first, second, "difference")
        for name, values in figures.items():
            table.add_row(name, *(f"{value:.3f}" for value in values), f"{values[1] - values[0]:+.3f}")
        Console(file=self.stdout, width=None if self.stdout.isatty() else 120).print(table)  # type: ignore[arg-type]

    def _activate(self, name: str, wait: bool, force: bool, **_: Any) -> None:
        from embeddings.indexing.building import ensure_index
        from embeddings.model_lifecycle import catalog, switch

        model = catalog.find_model(name)
        if not model.active:
            if ensure_index(model):
                self.stdout.write(f"Built the vector index of {name}.")
            switched = self._when_ready(model) if wait else switch.activate_model(model, force=force)
            self._tell_switch(switched)
        else:
            self.stdout.write(f"{name} is active already.")
        self._tell_environment(model)

    def _when_ready(self, model: EmbeddingModel) -> switch.ModelSwitch:
        from embeddings.local_worker import LocalWorker
        from embeddings.management.displays import BuildDisplay
        from embeddings.model_lifecycle import building, switch

        worker = LocalWorker(lambda: self.stderr.write(BuildDisplay.ALONE))
        with BuildDisplay(self.stderr, model.name) as display:
            for found in switch.activate_when_complete(model):
                if isinstance(found, switch.ModelSwitch):
                    return found
                display.lacking(found.count + found.unshipped)
                worker.work_or_wait(building.POLL_S)
        raise AssertionError("unreachable")

    def _rollback(self, **_: Any) -> None:
        from embeddings.model_lifecycle import switch

        switched = switch.roll_back()
        self._tell_switch(switched)
        self._tell_environment(switched.model)

    def _tell_switch(self, switched: switch.ModelSwitch) -> None:
        from embeddings import active_model
        from embeddings.models import EmbeddingModel

        was = f" instead of {switched.before.name}" if switched.before else ""
        self.stdout.write(f"Searches use {switched.model.name} now{was}.")
        if switched.lacking:
            self.stdout.write(
                f"{switched.lacking} chunks lack its vector: they are asked for, and their documents are in "
                "processing until they have it."
            )
        if switched.unshipped:
            self.stdout.write(
                f"{switched.unshipped} of its vectors are on their way to the vector store; until they are "
                "there, a search may miss these chunks."
            )
        if switched.before and switched.before.pk:
            self.stdout.write(
                f"{switched.before.name} is kept up; {active_model.COMMAND} rollback goes back to it."
                if switched.before == EmbeddingModel.objects.before().first()
                else f"{active_model.COMMAND} activate {switched.before.name} goes there again."
            )

    def _tell_environment(self, model: EmbeddingModel) -> None:
        from django.conf import settings

        from embeddings import active_model, registry

        self.stdout.write(f"For the next start: {active_model.settings_to_follow(model.spec)}")
        named = registry.configured_model()
        if settings.EMBEDDER_CHOSEN and not registry.is_same_model(model.spec, named):
            self.stdout.write(f"This environment names {named}: Knowlex would refuse to start with it.")

    def _remove(self, name: str, **_: Any) -> None:
        from embeddings.model_lifecycle import catalog, removal

        model = catalog.find_model(name)
        vectors = removal.remove_model(model)
        self.stdout.write(f"Removed {name} with {vectors} vectors.")


def _add_adding(parser: ArgumentParser) -> None:
    parser.add_argument("name", help="all-MiniLM-L6-v2, multilingual-e5-small, the provider's, or your own")
    parser.add_argument(
        "--provider", choices=["local", "openai", "ollama"], help="openai for text-embedding-…"
    )
    parser.add_argument("--dimensions", type=int, help="to ask the provider for, or as a check")
    parser.add_argument("--model", help="the provider's name for it, if NAME is your own")
    parser.add_argument("--path", help="folder of an ONNX sentence-transformers model, the same for workers")
    parser.add_argument("--query-prefix", help="before questions; else as the folder says, none for Ollama")
    parser.add_argument("--passage-prefix", help="before chunks; else as the folder says, none for Ollama")


def _add_comparing(parser: ArgumentParser) -> None:
    parser.add_argument("first", metavar="A")
    parser.add_argument("second", metavar="B")
    parser.add_argument(
        "--questions",
        required=True,
        metavar="FILE.jsonl|SET",
        help="a file, a question a line, or a stored set",
    )
    parser.add_argument("--collection", action="append", default=[], help="its name or id; else `default`")
    parser.add_argument("--mode", choices=["hybrid", "dense"], default="hybrid")


def _spec(given: dict[str, Any]) -> ModelSpec:
    from embeddings import registry
    from embeddings.model_lifecycle import catalog

    return catalog.parse_spec(
        given["name"],
        provider=given["provider"],
        dimensions=given["dimensions"],
        options={name: given[name] for name in registry.MODEL_OPTIONS if given[name] is not None},
    )
