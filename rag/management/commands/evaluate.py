"""`manage.py evaluate SET|FILE.jsonl`: one or two configurations measured side by side."""

from __future__ import annotations

import asyncio
import json
from argparse import ArgumentParser
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.core.management.base import CommandError

from knowlex.base.errors import KnowlexError
from knowlex.runtime.commands import ProjectCommand

if TYPE_CHECKING:
    from rag.evaluation.configurations import Configuration
    from rag.evaluation.outcomes import Outcome
    from rag.evaluation.runner import CaseRunner
    from rag.evaluation.types import Case
    from rag.management.evaluation import MetricLimit, QuestionBar


BAD_USAGE, BELOW = 2, 1


class Command(ProjectCommand):
    help = (
        "Measures how well questions are found and answered: hit@k, recall@k, MRR, nDCG@10; with --answers "
        "accuracy, abstention, citations. Ends with 1 if a figure is past its limit, with 2 if it cannot run."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "questions", metavar="SET|FILE.jsonl", help="a stored set, or a file of JSON lines"
        )
        parser.add_argument("--collection", action="append", default=[], help="name or id; may be repeated")
        parser.add_argument("--config", action="append", default=[], metavar="FILE.json",
                            help='{"name": ..., "settings": {"mode": ...}}; at most two')  # fmt: skip
        parser.add_argument("--set", action="append", default=[], metavar="NAME:KEY=VALUE", dest="given",
                            help="a setting of the configuration NAME, which is made if need be")  # fmt: skip
        parser.add_argument("--answers", action="store_true", help="write answers, too")
        parser.add_argument("--by", choices=("tag", "document", "lang"),
                            help="the figures by tag, document or language, too")  # fmt: skip
        parser.add_argument("--floor", action="append", default=[], metavar="[NAME:]METRIC=VALUE")
        parser.add_argument("--ceiling", action="append", default=[], metavar="[NAME:]METRIC=VALUE")
        parser.add_argument("--plot", type=Path, metavar="OUT.svg")
        parser.add_argument("--json", type=Path, metavar="OUT.json")

    def handle(self, *args: Any, **options: Any) -> None:
        from rag.evaluation.runner import summarise_run
        from rag.evaluation.summary import summarise_groups
        from rag.management.evaluation import (
            format_groups,
            format_table,
            load_scope,
            parse_configurations_given,
            parse_limits,
        )

        try:
            _check_places(options["plot"], options["json"])
            configurations = parse_configurations_given(options["config"], options["given"])
            limits = parse_limits(options["floor"], options["ceiling"], configurations, options["answers"])
            collections, cases = load_scope(options["questions"], options["collection"])
            outcomes = self._asked(cases, collections, configurations, answers=options["answers"])
        except KnowlexError as exc:
            raise CommandError(exc.message, returncode=BAD_USAGE) from exc
        except OSError as exc:
            raise CommandError(f"{exc.filename}: {exc.strerror or exc}.", returncode=BAD_USAGE) from exc
        summary = summarise_run(outcomes)
        names = [one.name for one in configurations]
        self.stdout.write(format_table(names, summary))
        if by := options["by"]:
            for name, one, of_one in zip(names, summary["configurations"], outcomes, strict=True):
                one["groups"] = summarise_groups(cases, of_one, by)
                self.stdout.write("\n" + format_groups(f"{name} by {by}", one["groups"]))
        self._write(options, configurations, summary, cases, outcomes)
        self._judge(limits, dict(zip(names, summary["configurations"], strict=True)))

    def _asked(
        self, cases: Sequence[Case], collections: Sequence[Any], configurations: Sequence[Configuration],
        *, answers: bool,
    ) -> list[list[Outcome]]:  # fmt: skip
        from rag.evaluation.runner import CaseRunner
        from rag.management.evaluation import QuestionBar
        from rag.management.event_loop import close_after

        asker = CaseRunner(configurations, [one.id for one in collections], answers=answers)
        with QuestionBar(self.stderr, len(cases)) as bar:
            each = asyncio.run(close_after(_outcomes(asker, cases, bar)))
        return [list(of_one) for of_one in zip(*each, strict=True)]

    def _write(
        self, options: dict[str, Any], configurations: Sequence[Configuration], summary: dict[str, Any],
        cases: Sequence[Case], outcomes: Sequence[Sequence[Outcome]],
    ) -> None:  # fmt: skip
        from rag.charts import figures_svg

        names = [one.name for one in configurations]
        if options["plot"]:
            title = Path(options["questions"]).stem
            options["plot"].write_text(figures_svg(title, names, summary["configurations"]), encoding="utf-8")
        if options["json"]:
            report = _report(configurations, summary, cases, outcomes)
            options["json"].write_text(json.dumps(report, ensure_ascii=False, indent=1), encoding="utf-8")

    def _judge(self, limits: Sequence[MetricLimit], measured: dict[str, Any]) -> None:
        broken = [words for limit in limits for words in limit.broken(measured)]
        if failed := {name: one["errors"] for name, one in measured.items() if one["errors"]}:
            told = ", ".join(f"{count} of {name}" for name, count in failed.items())
            raise CommandError(f"Questions that failed: {told}.", returncode=BAD_USAGE)
        if broken:
            raise CommandError("\n".join(broken), returncode=BELOW)


def _check_places(*files: Path | None) -> None:
    """Check before the long work that the files can be written. Raises OSError."""
    for file in files:
        if file is not None:
            file.open("a").close()


async def _outcomes(asker: CaseRunner, cases: Sequence[Case], bar: QuestionBar) -> list[list[Outcome]]:
    """Return for each question one outcome by configuration."""
    found = []
    for case in cases:
        found.append(await asker.outcomes(case))
        bar.step()
    return found


def _report(
    configurations: Sequence[Configuration], summary: dict[str, Any], cases: Sequence[Case],
    outcomes: Sequence[Sequence[Outcome]],
) -> dict[str, Any]:  # fmt: skip
    return {
        "configurations": [
            {"name": one.name, "settings": dict(one.settings), **figures}
            for one, figures in zip(configurations, summary["configurations"], strict=True)
        ],
        "differences": summary["differences"],
        "results": [
            {"id": case.key, "question": case.question, "configuration": one.name, **_result(outcome)}
            for place, case in enumerate(cases)
            for one, outcome in zip(configurations, (each[place] for each in outcomes), strict=True)
        ],
    }


def _result(outcome: Outcome) -> dict[str, Any]:
    return {
        "metrics": outcome.values,
        "found": outcome.found,
        "answered": outcome.answered,
        "answer": outcome.answer or None,
        "latency_ms": outcome.latency_ms,
        "error": outcome.error or None,
    }
