"""Which languages documents are in, without looking at each: one probe of an index for each language."""

from knowlex.common.database import execute, with_retries

_HELD_BY = """
    WITH RECURSIVE held (language) AS (
        (SELECT d.language FROM documents_document d WHERE d.collection_id = read.id
            ORDER BY d.language LIMIT 1)
        UNION ALL
        SELECT (SELECT d.language FROM documents_document d
            WHERE d.collection_id = read.id AND d.language > held.language ORDER BY d.language LIMIT 1)
        FROM held WHERE held.language IS NOT NULL
    )
    SELECT language FROM held WHERE language IS NOT NULL
"""
# Rows of `language`, "" for unknown; parameter: collections (uuid[]).
LANGUAGES = f"""
    SELECT DISTINCT found.language FROM unnest((SELECT %(collections)s::uuid[])) AS read (id),
        LATERAL ({_HELD_BY}) AS found
"""  # noqa: S608 - no value is in it
_STORED = f"""
    SELECT DISTINCT found.language FROM documents_collection AS read, LATERAL ({_HELD_BY}) AS found ORDER BY 1
"""  # noqa: S608


def stored_languages() -> list[str]:
    """Of all documents, "" for unknown; new versions in the making count too."""
    return [code for (code,) in with_retries(lambda: execute(_STORED))]
