"""`manage.py build_index`: the vector index now, instead of when the workers see that it is due."""

from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from embeddings import indexes


class Command(BaseCommand):
    help = (
        "Builds the active model's vector index if there are rows enough for one; search goes on meanwhile."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--min-rows", type=int, default=indexes.MIN_ROWS, help="fewer rows need no index")

    def handle(self, *args: Any, min_rows: int, **options: Any) -> None:
        name = indexes.ensure_index(min_rows=max(1, min_rows))
        self.stdout.write(f"Built {name}." if name else "Nothing to build.")
