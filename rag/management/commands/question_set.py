"""`manage.py question_set load|list|export|remove`: the sets that `evaluate` and the API measure with."""

import json
import sys
from argparse import ArgumentParser
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from django.core.management.base import CommandError

from documents.access import FULL
from knowlex.base.errors import KnowlexError
from knowlex.runtime.commands import ProjectCommand

COLUMNS = "{:36}  {:>9}  {:20}  {}"


class Command(ProjectCommand):
    help = "Question sets: load one from a file of JSON lines, list them, write one to a file, remove one."

    def add_arguments(self, parser: ArgumentParser) -> None:
        actions = parser.add_subparsers(dest="action", required=True)
        load = actions.add_parser("load", help="store a file of JSON lines, one question each")
        load.add_argument("file", help="- for the input")
        load.add_argument("--name", help="the file's name without its ending, unless given")
        load.add_argument("--description", default="")
        load.add_argument("--collection", help="name or id of the one that the questions are about")
        load.add_argument("--replace", action="store_true", help="in place of the set of this name")
        actions.add_parser("list", help="all sets by name")
        export = actions.add_parser("export", help="write a set as JSON lines")
        export.add_argument("set", help="name or id")
        export.add_argument("file", nargs="?", default="-", help="- for the output, which is the default")
        remove = actions.add_parser("remove", help="delete a set with its evaluations")
        remove.add_argument("set", help="name or id")

    def handle(self, *args: Any, action: str, **options: Any) -> None:
        try:
            getattr(self, f"_{action}")(options)
        except KnowlexError as exc:
            raise CommandError(exc.message) from exc
        except OSError as exc:
            raise CommandError(f"{options['file']}: {exc.strerror or exc}.") from exc

    def _load(self, options: dict[str, Any]) -> None:
        from rag.evaluation import question_sets
        from rag.evaluation.question_files import parse_lines

        name = options["name"] or Path(options["file"]).stem
        with sys.stdin.buffer if options["file"] == "-" else open(options["file"], "rb") as file:
            made = question_sets.create_set(
                access=FULL,
                name=name,
                description=options["description"],
                collection=options["collection"],
                replace=options["replace"],
                cases=parse_lines(bounded_lines(file)),
            )
        self.stdout.write(f"{made.question_count} questions stored as {made.name} ({made.id}).")

    def _list(self, options: dict[str, Any]) -> None:
        from knowlex.web.pagination import MAX_LIMIT, Page
        from rag.evaluation import question_sets

        self.stdout.write(COLUMNS.format("ID", "QUESTIONS", "COLLECTION", "NAME"))
        after = None
        while True:
            page = Page(MAX_LIMIT, sort="name", descending=False, after=after)
            found, after = question_sets.list_sets(access=FULL, page=page)
            for one in found:
                collection = one.collection.name if one.collection else "any"
                self.stdout.write(COLUMNS.format(str(one.id), one.question_count, collection, one.name))
            if after is None:
                return

    def _export(self, options: dict[str, Any]) -> None:
        from rag.evaluation import question_sets
        from rag.evaluation.question_files import case_to_json

        found = question_sets.get_set(options["set"], access=FULL)
        lines = (
            f"{json.dumps(case_to_json(c), ensure_ascii=False)}\n" for c in question_sets.iterate_cases(found)
        )
        if options["file"] == "-":
            for line in lines:
                self.stdout.write(line, ending="")
            return
        with open(options["file"], "x", encoding="utf-8") as file:
            file.writelines(lines)
        self.stdout.write(f"{found.question_count} questions written to {options['file']}.")

    def _remove(self, options: dict[str, Any]) -> None:
        from rag.evaluation import question_sets

        found = question_sets.get_set(options["set"], access=FULL)
        removed = question_sets.delete_set(found.id, access=FULL)
        self.stdout.write(f"{found.name} is gone, with {removed} questions and its evaluations.")


def bounded_lines(file: IO[bytes]) -> Iterator[bytes]:
    """Yield the lines of a file; of one that is too long, no more than shows it."""
    from rag.evaluation.question_files import MAX_LINE_BYTES

    while line := file.readline(MAX_LINE_BYTES + 1):
        yield line
