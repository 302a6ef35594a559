"""`manage.py restore FOLDER`: what backup wrote, here."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from knowlex.runtime.commands import ProjectCommand


class Command(ProjectCommand):
    help = (
        "Reads a folder of backup into a new data folder (or an empty database), upgrades the database to "
        "this version and builds the vector index. One that was interrupted can be run again."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("folder", help="what backup wrote")
        parser.add_argument("--replace", action="store_true", help="delete what is here")

    def handle(self, *args: Any, folder: str, replace: bool, **options: Any) -> None:
        from documents.library.storage import sweep_orphan_files
        from embeddings import indexing
        from embeddings.external.configuration import configured_store
        from embeddings.transfer.backup import restore
        from embeddings.work.document_status import settle_all
        from knowlex.base.errors import KnowlexError
        from knowlex.embedded.bootstrap import migrate_database
        from knowlex.embedded.data_folder import StackError

        try:
            restore(Path(folder).absolute(), replace=replace, say=self.stdout.write)
            migrate_database()
            sweep_orphan_files()
            settle_all()  # a document may have been on its way when the backup was made
            self.stdout.write("and the vector index, if there are rows enough for one.")
            indexing.maintain_indexes()
        except StackError as exc:
            raise CommandError(str(exc)) from exc
        except KnowlexError as exc:
            raise CommandError(exc.message) from exc
        except OSError as exc:
            raise CommandError(f"The backup cannot be restored: {exc}.") from exc
        if store := configured_store():
            self.stdout.write(
                f"What {store} holds is of another time: `manage.py vector_store repair` mends it."
            )
        self.stdout.write("Restored. `manage.py sanity` checks it, with --deep each file, too.")
