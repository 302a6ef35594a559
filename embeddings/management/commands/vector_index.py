"""`manage.py vector_index status|build|measure`: the vector indexes now, not when the workers see to them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.core.management.base import CommandError, CommandParser

from knowlex.runtime.commands import ProjectCommand

if TYPE_CHECKING:
    from embeddings.models import EmbeddingModel

_BUSY = "Another process is building or measuring an index just now."


class Command(ProjectCommand):
    help = "Shows, builds or measures the vector index of a model; searches and writes go on meanwhile."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("action", choices=["status", "build", "measure"], nargs="?", default="status")
        parser.add_argument("--model", help="name; the active one unless given")
        parser.add_argument("--force", action="store_true", help="build even if nothing asks for it")
        parser.add_argument("--min-rows", type=int, help="build from so many rows on")

    def handle(self, *args: Any, action: str, model: str | None, **options: Any) -> None:
        from embeddings.models import EmbeddingModel

        wanted = {"name": model} if model else {"active": True}
        row = EmbeddingModel.objects.filter(**wanted).first()
        if row is None:
            raise CommandError(f"There is no model {model!r}." if model else "Nothing was embedded yet.")
        if action == "build":
            self._build(row, **options)
        elif action == "measure":
            self._measure(row)
        self._write_status(row)

    def _build(self, model: EmbeddingModel, *, force: bool, min_rows: int | None, **_: Any) -> None:
        from embeddings import indexing

        if refused := indexing.explain_refusal(model):
            self.stderr.write(f"No index for {model.name}: {refused}")
        if force:
            name = indexing.rebuild(model)
        else:
            name = indexing.ensure_index(model, min_rows=None if min_rows is None else max(1, min_rows))
        if name:
            self.stdout.write(f"Built {name}.")
        elif indexing.is_being_built():
            self.stdout.write("Another process is at it: the workers build indexes by themselves.")
        else:
            self.stdout.write("Nothing to build.")

    def _measure(self, model: EmbeddingModel) -> None:
        from embeddings import indexing
        from embeddings.models import VectorIndex

        if not VectorIndex.objects.filter(model=model).exists():
            raise CommandError(f"{model.name} has no vector index.")
        if indexing.measure_now(model, reason="asked for") is None:
            raise CommandError(_BUSY + " Or an exact search takes too long here to compare with.")

    def _write_status(self, model: EmbeddingModel) -> None:
        from embeddings import indexing
        from embeddings.external.configuration import is_external
        from embeddings.models import IndexMeasurement, VectorIndex

        state = VectorIndex.objects.filter(model=model).first()
        if state is None:
            how = "" if is_external() else " searches are exact."
            self.stdout.write(f"{model.name}: no vector index;{how} {indexing.explain_refusal(model)}")
            return
        use = "used by searches" if state.serves else "not used: its recall is too low; searches are exact"
        recall = "not measured" if state.recall is None else f"{state.recall:.3f}"
        self.stdout.write(
            f"{model.name}: {state.kind} on {state.storage}, {use}. Built {state.built_at:%F %H:%M} UTC "
            f"for {state.rows} rows, lists {state.lists}, effort {state.effort}, recall@10 {recall}."
        )
        for look in IndexMeasurement.objects.filter(model=model)[:10]:
            self.stdout.write(
                f"  {look.measured_at:%Y-%m-%d %H:%M}  recall {look.recall:.3f}  effort {look.effort:>4}  "
                f"{look.index_ms:7.1f} ms, exact {look.exact_ms:7.1f} ms  {look.rows} rows  ({look.reason})"
            )
