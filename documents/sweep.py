"""Files that a crash between file and row left behind."""

from collections.abc import Iterable
from pathlib import Path
from uuid import UUID

from documents import storage
from documents.models import Document
from knowlex.common.database import with_retries
from knowlex.common.errors import InvalidInput
from knowlex.common.ids import parse_id

IDS_PER_QUERY = 500


def sweep_orphan_files() -> int:
    """Remove old files that no upload holds and no row names. Returns how many. Safe to run at any time."""
    removed = sum(_remove_if_orphan(path) for path in storage.stale_files(storage.INCOMING))
    suspects = [(path, found) for path in storage.stale_files(storage.KEPT) if (found := _id_of(path))]
    for start in range(0, len(suspects), IDS_PER_QUERY):
        some = suspects[start : start + IDS_PER_QUERY]
        known = _existing([found for _, found in some])
        removed += sum(_remove_if_orphan(path) for path, found in some if found not in known)
    return removed


def _remove_if_orphan(path: Path) -> bool:
    """Looks again under the file's lock: its upload may have committed and let go since the first look."""
    with storage.unlocked(path) as free:
        found = _id_of(path)
        if not free or (found and _existing([found])):
            return False
        path.unlink(missing_ok=True)
    return True


def _existing(ids: Iterable[UUID]) -> set[UUID]:
    return with_retries(lambda: Document.objects.existing_ids(list(ids)))


def _id_of(path: Path) -> UUID | None:
    """The document id that a stored file's name is; None for a file that is not a document's."""
    try:
        return parse_id(path.stem, field="file")
    except InvalidInput:
        return None
