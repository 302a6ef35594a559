"""Documents put straight into a stack's database: as many chunks as a test wants, with texts it knows."""

from collections.abc import Sequence
from uuid import UUID

from knowlex.common.ids import new_id
from tests.support.stack import Stack

_DOCUMENT = """
    INSERT INTO documents_document (id, collection_id, source, original_filename, title, checksum, size_bytes,
        file, page_count, chunk_count, metadata, warnings, created_at)
    SELECT %s, c.id, 'PDF', 'stored.pdf', '', %s, 1, 'none', 1, %s, '{}', '[]', now()
    FROM documents_collection c WHERE c.name = %s
"""
_CHUNKS = """
    INSERT INTO documents_chunk (id, document_id, chunk_index, content, start_char, end_char, token_count,
        page_number, last_page, chapter, section, created_at)
    SELECT id, %s, n - 1, content, 0, length(content), 1, 1, 1, '', '', now()
    FROM unnest(%s::uuid[], %s::text[]) WITH ORDINALITY AS given (id, content, n)
"""


def store_document(stack: Stack, texts: Sequence[str], *, collection: str = "default") -> UUID:
    """A document with one chunk for each text; its id. It has no file."""
    document_id = new_id()
    stack.sql(_DOCUMENT, document_id, document_id.hex * 2, len(texts), collection)
    stack.sql(_CHUNKS, document_id, [new_id() for _ in texts], list(texts))
    return document_id
