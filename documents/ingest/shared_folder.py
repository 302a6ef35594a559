"""Whether the files of waiting documents lie where this process looks: another host needs the same folder."""

from collections.abc import Collection

from django.core.files.storage import default_storage

from knowlex.db.threads import execute, with_retries

# The latest ones: of stored documents, and of those that wait to be read.
_LATEST = """
    (SELECT file FROM documents_document WHERE file <> '' ORDER BY id DESC LIMIT 20)
    UNION ALL
    (SELECT file FROM documents_ingestitem
     WHERE status IN ('pending', 'processing') AND file <> '' ORDER BY id DESC LIMIT 20)
"""
SHARE = (
    "the files on record are not here: KNOWLEX_DATA_DIR/files must be the same folder on every host that has "
    "a web server, or workers that read documents"
)


def is_here(file: str) -> bool:
    """file: the name that a row has for it."""
    return default_storage.exists(file)


def elsewhere(*, but: Collection[str] = ()) -> bool:
    """Whether this process looks into another folder than the others: several files are on record, and none
    of the latest is here. but: files that are known to be missing. Raises DatabaseUnavailable.
    """
    files = {row[0] for row in with_retries(lambda: execute(_LATEST))} - set(but)
    enough = 1 if but else 2  # a single one may just be lost
    return len(files) >= enough and not any(map(is_here, files))
