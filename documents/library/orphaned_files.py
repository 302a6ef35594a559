"""Files that a crash between file and row left behind."""

from collections.abc import Collection
from pathlib import Path

from documents.library import storage
from documents.models import Document, IngestItem
from knowlex.base.errors import InvalidInput
from knowlex.base.ids import parse_id
from knowlex.db.threads import with_retries

NAMES_PER_QUERY = 500


def sweep_orphan_files() -> int:
    """Remove old files that no upload holds and no row names. Returns how many. Safe to run at any time."""
    removed = sum(_remove_if_orphan(path, "") for path in storage.stale_files(storage.INCOMING))
    suspects = [(path, name) for path in storage.stale_files(storage.KEPT) if (name := _stored_name(path))]
    for start in range(0, len(suspects), NAMES_PER_QUERY):
        some = suspects[start : start + NAMES_PER_QUERY]
        owned = _owned([name for _, name in some])
        removed += sum(_remove_if_orphan(path, name) for path, name in some if name not in owned)
    return removed


def _remove_if_orphan(path: Path, name: str) -> bool:
    """Looks again under the file's lock: its upload may have committed and let go since the first look."""
    with storage.unlocked(path) as free:
        if not free or (name and _owned([name])):
            return False
        path.unlink(missing_ok=True)
    return True


def _owned(names: Collection[str]) -> set[str]:
    """Those that a document, or a document of a job, has. Both are asked at once: files change hands."""

    def ask() -> set[str]:
        documents = Document.objects.filter(file__in=names).values_list("file")
        return {
            row[0] for row in documents.union(IngestItem.objects.filter(file__in=names).values_list("file"))
        }

    return with_retries(ask)


def _stored_name(path: Path) -> str:
    """The name by which rows know the file; "" for a file that is not named after an id, so not ours."""
    try:
        parse_id(path.name[:36], field="file")
    except InvalidInput:
        return ""
    return f"{storage.KEPT}/{path.name}"
