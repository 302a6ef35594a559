"""`manage.py reindex_words`: the languages of stored documents, and their words by those languages."""

from collections import Counter
from typing import Any

from django.core.management.base import CommandError, CommandParser

from documents.access import FULL
from knowlex.base.errors import KnowlexError
from knowlex.runtime.commands import ProjectCommand


class Command(ProjectCommand):
    help = (
        "Tells the language of every stored document and analyses the words of those anew whose language was "
        "not known, or another. Search and ingestion go on meanwhile; if it is broken off, start it again."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--collection", help="name or id; all unless given")
        parser.add_argument(
            "--all",
            action="store_true",
            dest="everything",
            help="analyse all words anew, even if nothing changed",
        )

    def handle(self, *args: Any, collection: str | None, everything: bool, **options: Any) -> None:
        from documents.library.collections import find_collection
        from embeddings.lexical.index import reindex

        documents, chunks = Counter[str](), 0
        try:
            id_ = find_collection(collection, access=FULL).id if collection else None
            for done in reindex(collection=id_, everything=everything):
                documents[done.language or "unknown"] += 1
                chunks += done.chunks
                if documents.total() % 100 == 0:
                    self.stdout.write(
                        f"{documents.total()} documents looked at, {chunks} chunks analysed anew"
                    )
        except KnowlexError as exc:
            raise CommandError(exc.message) from exc
        held = ", ".join(f"{code} {count}" for code, count in documents.most_common())
        self.stdout.write(f"{documents.total()} documents ({held or 'none'}); {chunks} chunks analysed anew.")
