"""The passages that past answers were made from, as they are stored now."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from knowlex.common.database import execute
from rag.context.merging import context_from
from rag.context.stretches import Stretch
from rag.types import Block, Passage

_PASSAGES = """
    SELECT r.query_id, r.chunk_id, d.id, c.chunk_index, c.content, c.start_char, coalesce(d.language, '')
    FROM rag_retrieval r
    LEFT JOIN documents_chunk c ON c.id = r.chunk_id
    LEFT JOIN documents_document d ON d.id = c.document_id
    WHERE r.query_id = ANY(%s) AND r.context_number IS NOT NULL
    ORDER BY r.query_id, r.context_number
"""


def contexts_of(query_ids: Sequence[UUID]) -> dict[UUID, tuple[Block, ...]]:
    """Blocks of each, put together as they were for the answer, each passage whole; one statement.

    A query of whose passages one is not there any more is left out: its document was deleted or replaced.
    """
    found: dict[UUID, list[Passage | None]] = {}
    for query_id, *columns in execute(_PASSAGES, [list(query_ids)]):
        found.setdefault(query_id, []).append(_passage(*columns))
    return {
        query_id: context_from([Stretch.whole(one) for one in passages if one is not None]).blocks
        for query_id, passages in found.items()
        if None not in passages
    }


def _passage(chunk_id: UUID, document_id: UUID | None, *columns: Any) -> Passage | None:
    """None of a chunk that is gone."""
    if document_id is None:
        return None
    chunk_index, content, start_char, language = columns
    return Passage(
        chunk_id=chunk_id,
        document_id=document_id,
        document_name="",
        title="",
        chunk_index=chunk_index,
        content=content,
        page_number=None,
        last_page=None,
        chapter="",
        section="",
        start_char=start_char,
        token_count=0,
        distance=None,
        language=language,
    )
