"""`manage.py import_collection FILE`: what export_collection wrote, here."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.core.management.base import CommandError

from knowlex.base.errors import KnowlexError
from knowlex.runtime.commands import ProjectCommand

if TYPE_CHECKING:
    from embeddings.transfer import Imported


class Command(ProjectCommand):
    help = (
        "Reads a file of export_collection. Documents that the collection has already are skipped, so an "
        "import that failed half-way can be run again."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", help="- for the input")
        parser.add_argument(
            "--collection", help="into this one, made if it is not there; else as in the file"
        )

    def handle(self, *args: Any, file: str, collection: str | None, **options: Any) -> None:
        from embeddings.tasks import request_and_enqueue
        from embeddings.transfer import import_collection

        try:
            if file == "-":
                done = import_collection(sys.stdin.buffer, name=collection)
            else:
                with Path(file).open("rb", buffering=0) as source:
                    done = import_collection(source, name=collection)
            for document_id in done.to_embed:
                request_and_enqueue(document_id)
        except KnowlexError as exc:
            raise CommandError(f"{exc.message} What came before it stays; run it again to go on.") from exc
        except OSError as exc:
            raise CommandError(f"{file} cannot be read: {exc.strerror or exc}.") from exc
        self._tell(done)

    def _tell(self, done: Imported) -> None:
        counts = f"{done.documents} documents, {done.chunks} chunks and {done.vectors} vectors"
        self.stdout.write(f"Imported {counts} into {done.collection.name}; {done.known} were there already.")
        for note in done.notes:
            self.stdout.write(note)
        if done.to_embed:
            self.stdout.write(f"{len(done.to_embed)} documents wait for vectors; workers embed them.")
