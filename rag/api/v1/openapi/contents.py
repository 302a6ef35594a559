"""How the chunks and pages of /v1/documents are described."""

from rag.api.v1.openapi.shared import (
    COUNT,
    CURSOR,
    ID,
    MAYBE_TEXT,
    TEXT,
    TIME,
    Schema,
    answer,
    listed,
    obj,
    operation,
    paging,
    path,
)

_DOCUMENT_ID = path("document_id")

PATHS: dict[str, Schema] = {
    "/v1/documents/{document_id}/chunks": {
        "get": operation(
            "listPlatformChunks",
            "A document's chunks in reading order",
            answer("200", "One page.", "ChunkList"),
            "400 404",
            parameters=[_DOCUMENT_ID, *paging()],
        )
    },
    "/v1/documents/{document_id}/pages": {
        "get": operation(
            "getPages",
            "How each page was read",
            answer("200", "All pages.", "PageReport"),
            "400 404",
            parameters=[_DOCUMENT_ID],
        )
    },
}
SCHEMAS: dict[str, Schema] = {
    "PlatformChunk": obj(
        id=ID,
        document_id=ID,
        chunk_index=COUNT,
        content=TEXT,
        position=obj(
            start_char=COUNT,
            end_char=COUNT,
            page_number={"type": "integer", "nullable": True},
            last_page={"type": "integer", "nullable": True},
        ),
        token_count=COUNT,
        metadata=obj(
            section_title=MAYBE_TEXT,
            chapter=MAYBE_TEXT,
            headers={"type": "array", "items": TEXT},
            chunk_type={"type": "string", "enum": ["paragraph", "list", "table", "code"]},
        ),
        embedding_model=MAYBE_TEXT,
        created_at=TIME,
    ),
    "ChunkList": obj(chunks=listed("PlatformChunk"), next_cursor=CURSOR),
    "PageReport": obj(
        document_id=ID,
        pages={
            "type": "array",
            "items": obj(
                page_number=COUNT,
                characters=COUNT,
                read_by={"type": "string", "enum": ["pdfium", "pypdf", "ocr", "text", "none"]},
                warnings={"type": "array", "items": TEXT},
            ),
        },
    ),
}
