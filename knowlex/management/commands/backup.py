"""`manage.py backup FOLDER`: database, files and secret key, while people work."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from knowlex.runtime.commands import ProjectCommand


class Command(ProjectCommand):
    help = (
        "Writes the database, the uploaded files and the secret key to a new folder, as they are at one "
        "moment; people go on meanwhile. Keep it as safe as the data folder: it holds the same secrets."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("folder", help="a folder that is not there yet")

    def handle(self, *args: Any, folder: str, **options: Any) -> None:
        from embeddings.transfer.backup import back_up
        from knowlex.base.errors import KnowlexError
        from knowlex.embedded.data_folder import StackError

        try:
            done = back_up(Path(folder).absolute())
        except StackError as exc:
            raise CommandError(str(exc)) from exc
        except KnowlexError as exc:
            raise CommandError(exc.message) from exc
        except OSError as exc:
            raise CommandError(f"The backup cannot be written: {exc}.") from exc
        if done.missing:
            names = ", ".join(done.sample)
            self.stderr.write(
                f"{done.missing} files of documents are not here (see manage.py sanity): {names}"
            )
        self.stdout.write(
            f"Backed up to {folder}: the database and {done.files} files ({done.bytes / 1e6:.1f} MB)."
        )
