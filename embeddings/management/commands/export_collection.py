"""`manage.py export_collection NAME FILE`: a collection as one file."""

import gzip
import os
import sys
from argparse import ArgumentParser
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from django.core.management.base import CommandError

from documents.access import FULL
from knowlex.base.errors import KnowlexError
from knowlex.runtime.commands import ProjectCommand


class Command(ProjectCommand):
    help = (
        "Writes a collection with its documents, chunks, vectors and settings to one file, for "
        "import_collection here or on another server. May run while others write."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", help="the collection's name or id")
        parser.add_argument(
            "file", help="a tar archive, compressed if it ends in .gz or .tgz; - for the output"
        )
        parser.add_argument("--force", action="store_true", help="replace the file if there is one")

    def handle(self, *args: Any, name: str, file: str, force: bool, **options: Any) -> None:
        from documents.library.collections import find_collection
        from embeddings.transfer import export_collection

        try:
            collection = find_collection(name, access=FULL)
            with _target(file, force=force) as target:
                done = export_collection(collection, target)
        except KnowlexError as exc:
            raise CommandError(exc.message) from exc
        except OSError as exc:
            raise CommandError(f"{file} cannot be written: {exc.strerror or exc}.") from exc
        counts = f"{done.documents} documents, {done.chunks} chunks and {done.vectors} vectors"
        self.stderr.write(f"Exported {counts} of {collection.name}.", self.style.SUCCESS)


@contextmanager
def _target(name: str, *, force: bool) -> Iterator[IO[bytes]]:
    """The file appears under its name when it is whole; only its owner can read it."""
    if name == "-":
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        _end_output()
        return
    path = Path(name)
    if path.exists() and not force:
        raise CommandError(f"{name} is there already; --force replaces it.")
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        with open(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as raw:
            if path.suffix in {".gz", ".tgz"}:
                with gzip.GzipFile("", "wb", 6, raw) as packed:
                    yield packed  # type: ignore[misc]
            else:
                yield raw
            raw.flush()
            os.fsync(raw.fileno())
        part.replace(path)
    finally:
        with suppress(FileNotFoundError):
            part.unlink()


def _end_output() -> None:
    """Whoever reads the pipe sees its end now: an import there may use the database that this process runs,
    which waits for it before it stops.
    """
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
