"""What the commands that measure have in common: their questions, configurations, limits and tables."""

import asyncio
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

from django.core.management.base import OutputWrapper
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn

from documents.access import FULL
from documents.library.collections import find_collection
from knowlex.base.errors import InvalidInput
from knowlex.runtime.progress import TerminalBar
from knowlex.web.json_body import parse_json
from knowlex.web.shapes import parse
from rag.answering.pipeline import Pipeline
from rag.evaluation import question_sets
from rag.evaluation.configurations import Configuration, ConfigurationList
from rag.evaluation.outcomes import ANSWER_METRICS, RETRIEVAL_METRICS, Outcome
from rag.evaluation.question_files import parse_lines
from rag.evaluation.runner import CaseRunner
from rag.evaluation.scoring import is_relevant
from rag.evaluation.summary import METRIC_ORDER, summarise
from rag.evaluation.types import Case
from rag.management.commands.question_set import bounded_lines
from rag.management.event_loop import close_after
from rag.types.question import Question


def load_scope(questions: str, named: Sequence[str]) -> tuple[list[Any], list[Case]]:
    """Return the collections and the questions, of a file if there is one, else of a stored set."""
    path = Path(questions)
    if path.is_file() or path.suffix == ".jsonl":
        with path.open("rb") as file:
            cases, own = list(parse_lines(bounded_lines(file))), None
    else:
        stored = question_sets.get_set(questions, access=FULL)
        cases, own = list(question_sets.iterate_cases(stored)), stored.collection
    if own is not None and not named:
        return [own], cases
    return [find_collection(name, access=FULL) for name in named or (None,)], cases


COMPARED = {
    "hit@1": "hit@1",
    "hit@5": "hit@5",
    "hit@10": "hit@10",
    "mrr@10": "MRR",
    "ndcg@10": "nDCG@10",
    "latency_p50_ms": "latency p50, ms",
    "latency_p95_ms": "latency p95, ms",
}


def compare_models(
    models: Sequence[str], questions: str, collections: Sequence[str], mode: str
) -> tuple[int, dict[str, list[float]]]:
    """Search with each embedding model; return the count of questions and each figure's value by model.

    Only answerable questions are searched for. Raises InvalidInput where no search finds anything.
    """
    scope, cases = load_scope(questions, collections or ("default",))
    answerable = [case for case in cases if case.answerable]
    if not answerable:
        raise InvalidInput(f"{questions} holds no answerable question.")
    settings = {"mode": mode, "threshold": 0.0}
    configurations = [Configuration(name, {**settings, "embedding_model": name}) for name in models]
    runner = CaseRunner(configurations, [collection.id for collection in scope], answers=False)
    outcomes = asyncio.run(close_after(_run_cases(runner, answerable)))
    if failed := [outcome.error for each in outcomes for outcome in each if outcome.error]:
        raise InvalidInput(failed[0])
    if not any(outcome.found for each in outcomes for outcome in each):
        raise InvalidInput(f"Nothing was found in {', '.join(collections) or 'default'}: is it empty?")
    measured = [summarise(each)["metrics"] for each in zip(*outcomes, strict=True)]
    return len(answerable), {
        label: [metrics[name]["value"] for metrics in measured] for name, label in COMPARED.items()
    }


async def _run_cases(runner: CaseRunner, cases: Sequence[Case]) -> list[list[Outcome]]:
    return [await runner.outcomes(case) for case in cases]


SHOWN = 5  # passages of a question, as an answer is written from


async def judge_questions(
    cases: Sequence[Case], pipeline: Pipeline, collection_ids: Sequence[UUID]
) -> list[tuple[float, bool]]:
    """Return the relevance of each question's best passage, and whether one of the first answers it.

    A question that could be answered, but of which nothing relevant is found, is left out: that is no matter
    of relevance. Raises as `Pipeline.search`.
    """
    judged: list[tuple[float, bool]] = []
    for case in cases:
        question = Question(case.question, tuple(collection_ids), SHOWN, min_relevance=0.0, principals=None)
        passages = (await pipeline.search(question)).passages
        found = case.answerable and any(is_relevant(case, passage) for passage in passages)
        if found or not case.answerable:
            judged.append((max((passage.relevance for passage in passages), default=0.0), found))
    return judged


class QuestionBar(TerminalBar):
    def __init__(self, stream: OutputWrapper, total: int) -> None:
        columns = BarColumn(), MofNCompleteColumn(), TextColumn("questions"), TimeRemainingColumn()
        super().__init__(stream, *columns, transient=True)
        self._total, self._done = total, 0
        if self._progress:
            self._task = self._progress.add_task("", total=total)

    def step(self) -> None:
        self._done += 1
        if self._progress:
            self._progress.advance(self._task)
        else:
            self._now_and_then(f"{self._done}/{self._total} questions")


LATENCIES = ("latency_p50_ms", "latency_p95_ms")


def format_table(names: Sequence[str], summary: Mapping[str, Any]) -> str:
    """Format a line for each metric, and the difference of two configurations, * where it is significant."""
    measured, differences = summary["configurations"], summary["differences"] or {}
    lines = [_format_header(names, with_difference=len(names) == 2)]
    for metric in (*METRIC_ORDER, "balanced", *LATENCIES, "calibration_error"):
        figures = [_find_figure(one, metric) for one in measured]
        if any(figures):
            lines.append(_format_line(metric, figures, differences.get(metric)))
    asked, failed = measured[0]["questions"], [one["errors"] for one in measured]
    lines.append(f"{asked} questions" + (f", {'/'.join(map(str, failed))} failed" if any(failed) else ""))
    return "\n".join(lines)


def _format_header(names: Sequence[str], *, with_difference: bool) -> str:
    columns = "".join(f"  {name[:24]:<24}" for name in names)
    return f"{'':30}{columns}" + ("  difference" if with_difference else "")


GROUP_COLUMNS = {
    "hit@1": "hit@1",
    "hit@5": "hit@5",
    "answer_accuracy": "right",
    "false_abstention": "refused",
    "abstention_on_silent": "silent: refused",
    "abstention_on_absent": "absent: refused",
}


def format_groups(title: str, groups: Mapping[str, Mapping[str, Any]]) -> str:
    """Format a line for each group, of the figures that any of them has. title: stands above the names."""
    shown = {
        metric: label
        for metric, label in GROUP_COLUMNS.items()
        if any(metric in one["metrics"] for one in groups.values())
    }
    head = [title, "questions", *shown.values()]
    rows = [
        [name or "none", str(one["questions"]), *(_format_cell(one["metrics"].get(m, {}), m) for m in shown)]
        for name, one in groups.items()
    ]
    widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
    lines = (zip(row, widths, strict=True) for row in (head, *rows))
    return "\n".join("  ".join(cell.ljust(width) for cell, width in line).rstrip() for line in lines)


def _find_figure(one: Mapping[str, Any], metric: str) -> dict[str, Any]:
    if metric == "calibration_error":
        return {} if one[metric] is None else {"value": one[metric], "low": None, "high": None}
    found: dict[str, Any] = one["metrics"].get(metric, {})
    return found


def _format_line(
    metric: str, figures: Sequence[Mapping[str, Any]], difference: Mapping[str, Any] | None
) -> str:
    columns = "".join(f"  {_format_cell(figure, metric):<24}" for figure in figures)
    return f"{metric:<30}{columns}{_format_difference(difference)}".rstrip()


def _format_cell(figure: Mapping[str, Any], metric: str) -> str:
    if not figure:
        return "-"
    digits = 1 if metric in (*LATENCIES, "answer_words") else 3
    text = f"{figure['value']:.{digits}f}"
    return (
        text if figure["low"] is None else f"{text} ({figure['low']:.{digits}f}-{figure['high']:.{digits}f})"
    )


def _format_difference(difference: Mapping[str, Any] | None) -> str:
    if not difference:
        return ""
    low, high = difference["low"], difference["high"]
    sure = "*" if low is not None and (low > 0 or high < 0) else ""
    span = "" if low is None else f" ({low:+.3f} to {high:+.3f})"
    counts = f"better {difference['better']}, worse {difference['worse']}, equal {difference['equal']}"
    return f"  {difference['difference']:+.3f}{sure}{span}, {counts}"


@dataclass(frozen=True, slots=True)
class MetricLimit:
    """A limit. value: at least, or with `is_ceiling` at most. configuration: "" for each that is measured."""

    metric: str
    value: float
    is_ceiling: bool
    configuration: str = ""

    def broken(self, measured: Mapping[str, Mapping[str, Any]]) -> list[str]:
        """Return a line for each configuration that is past the limit or lacks the figure."""
        names = [self.configuration] if self.configuration else list(measured)
        return [words for name in names if (words := self._broken(name, measured[name]["metrics"]))]

    def _broken(self, name: str, metrics: Mapping[str, Mapping[str, Any]]) -> str:
        if self.metric not in metrics:
            return f"{name}: {self.metric} could not be measured"
        value = metrics[self.metric]["value"]
        if self.is_ceiling and value > self.value:
            return f"{name}: {self.metric} is {value:g}, above {self.value:g}"
        if not self.is_ceiling and value < self.value:
            return f"{name}: {self.metric} is {value:g}, below {self.value:g}"
        return ""


def parse_limits(
    floors: Sequence[str], ceilings: Sequence[str], configurations: Sequence[Configuration], answers: bool
) -> list[MetricLimit]:
    """Parse `[NAME:]METRIC=VALUE`. Raises InvalidInput."""
    names = [one.name for one in configurations]
    known = (*RETRIEVAL_METRICS, *LATENCIES, *((*ANSWER_METRICS, "balanced") if answers else ()))
    return [_parse_limit(text, names, known, is_ceiling=False) for text in floors] + [
        _parse_limit(text, names, known, is_ceiling=True) for text in ceilings
    ]


def _parse_limit(text: str, names: Sequence[str], known: Sequence[str], *, is_ceiling: bool) -> MetricLimit:
    left, equals, number = text.rpartition("=")
    name, _, metric = left.rpartition(":")
    if name and name not in names:
        raise InvalidInput(f"{text}: no configuration is named {name!r}; there is {', '.join(names)}.")
    if not equals or metric not in known:
        hint = (
            " with --answers" if metric in (*ANSWER_METRICS, "balanced") else f": one of {', '.join(known)}"
        )
        raise InvalidInput(f"{text} must be METRIC=VALUE{hint}.")
    try:
        value = float(number)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):  # nothing is below "nan", so nothing would ever break it
        raise InvalidInput(f"{text}: {number!r} is not a number.")
    return MetricLimit(metric, value, is_ceiling, name)


MAX_FILE_BYTES = 64 * 1024


def parse_configurations_given(files: Sequence[str], settings: Sequence[str]) -> list[Configuration]:
    """Parse one or two configurations; without any, return the server's own settings. Raises
    InvalidInput, OSError.
    """
    given = [_read_configuration_file(Path(file)) for file in files]
    for text in settings:
        _add_setting(given, text)
    return parse(ConfigurationList, {"configurations": given or None}).read()


def _read_configuration_file(path: Path) -> dict[str, Any]:
    """Read a configuration, named after its file unless it has a name; settings alone will do."""
    with path.open("rb") as file:
        raw = file.read(MAX_FILE_BYTES)
    try:
        given = parse_json(raw)
    except InvalidInput as exc:
        raise InvalidInput(f"{path}: {exc.message.replace('Request body', 'The file')}") from None
    if not isinstance(given, dict):
        raise InvalidInput(f"{path}: The file must hold an object.")
    if "settings" in given:
        return {"name": path.stem, **given}
    return {"name": given.pop("name", path.stem), "settings": given}


def _add_setting(given: list[dict[str, Any]], text: str) -> None:
    left, equals, value = text.partition("=")
    name, colon, key = left.rpartition(":")
    if not (equals and colon and name and key):
        raise InvalidInput(f"--set {text} must be NAME:KEY=VALUE, for example plain:rerank=false.")
    found = next((one for one in given if one.get("name") == name), None)
    if found is None:
        found = {"name": name, "settings": {}}
        given.append(found)
    if isinstance(found["settings"], dict):
        found["settings"][key] = _parse_value(value)


def _parse_value(text: str) -> Any:
    """Return a number, true or false, as JSON writes them; else the text itself."""
    try:
        return json.loads(text)
    except ValueError:
        return text
