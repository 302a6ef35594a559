"""`manage.py explain "question" CHUNK_ID`: at which stage the chunk is lost, and with which score."""

from __future__ import annotations

import asyncio
from argparse import ArgumentParser
from typing import TYPE_CHECKING, Any, get_args

from django.core.management.base import CommandError

from documents.access import FULL
from knowlex.base.errors import KnowlexError
from knowlex.base.ids import parse_id
from knowlex.runtime.commands import ProjectCommand

if TYPE_CHECKING:
    from rag.types.retrieval import Explanation, Stage


class Command(ProjectCommand):
    help = "Says for a question and a chunk at which stage the chunk is lost to it, and with which score."

    def add_arguments(self, parser: ArgumentParser) -> None:
        from rag.types.question import Mode

        parser.add_argument("question")
        parser.add_argument("chunk_id")
        parser.add_argument("--collection", action="append", default=[], help="name or id; all unless given")
        parser.add_argument("--mode", choices=get_args(Mode), default="hybrid")
        parser.add_argument("--top-k", type=int, default=10, choices=range(1, 51), metavar="1..50")

    def handle(self, *args: Any, **options: Any) -> None:
        from rag.management.event_loop import close_after

        try:
            explanation = asyncio.run(close_after(_explanation(options)))
        except KnowlexError as exc:
            raise CommandError(exc.message) from exc
        for line in _lines(explanation):
            self.stdout.write(line)


async def _explanation(options: dict[str, Any]) -> Explanation:
    from knowlex.web.fields import check_question
    from rag.answering import services

    question = await services.make_platform_question(
        check_question(options["question"], "question"),
        access=FULL,
        collections=options["collection"],
        top_k=options["top_k"],
        mode=options["mode"],
    )
    chunk_id = parse_id(options["chunk_id"], field="chunk_id")
    return (await services.explain(question, chunk_id, access=FULL))[1]


def _lines(explanation: Explanation) -> list[str]:
    outcome = "found" if explanation.found else f"lost at {explanation.lost_at}"
    header = f"{'stage':<11}{'kept':<6}{'rank':>6}{'score':>10}{'limit':>7}  reason"
    return [f"{explanation.chunk_id}: {outcome}", header, *map(_line, explanation.stages)]


def _line(stage: Stage) -> str:
    kept = {True: "yes", False: "no", None: "-"}[stage.kept]
    rank = "-" if stage.rank is None else str(stage.rank)
    score = "-" if stage.score is None else f"{stage.score:.4f}"
    limit = "-" if stage.limit is None else f"{stage.limit:g}"
    return f"{stage.stage:<11}{kept:<6}{rank:>6}{score:>10}{limit:>7}  {stage.reason}".rstrip()
