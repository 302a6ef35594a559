"""`manage.py embedding_model compare A B`: what each model finds for the questions of a set."""

import asyncio
from typing import Any

from django.core.management.base import OutputWrapper
from rich.console import Console
from rich.table import Table

from embeddings.model_lifecycle import catalog
from embeddings.models import EmbeddingModel
from rag.evaluation.model_comparison import Figures, figures, read_cases
from rag.management.event_loop import close_after


def compare(
    out: OutputWrapper, first: str, second: str, questions: str, collection: list[str], mode: str, **_: Any
) -> None:
    """Raises KnowlexError: no such model, file or collection."""
    models = [catalog.find_model(name) for name in (first, second)]
    cases = read_cases(questions)
    for model in models:
        _tell_gap(out, model)
    found = asyncio.run(close_after(figures(models, cases, collection, mode)))
    table = Table(f"{len(cases)} questions, {mode}", *(model.name for model in models), "difference")
    for name in Figures.NAMES:
        a, b = (getattr(one, name) for one in found)
        table.add_row(Figures.NAMES[name], f"{a:.3f}", f"{b:.3f}", f"{b - a:+.3f}")
    Console(file=out, width=None if out.isatty() else 120).print(table)  # type: ignore[arg-type]


def _tell_gap(out: OutputWrapper, model: EmbeddingModel) -> None:
    held = catalog.fetch_counts_of(model.pk)
    if held is not None and held.missing:
        out.write(f"{model.name} lacks the vectors of {held.missing} of {held.chunks} chunks.")
