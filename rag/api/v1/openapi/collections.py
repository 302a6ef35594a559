"""How /v1/collections is described."""

from rag.api.v1.openapi.shared import (
    ANYTHING,
    CHUNKING,
    COUNT,
    CURSOR,
    FLAG,
    HOLDING,
    ID,
    TEXT,
    TIME,
    Schema,
    answer,
    json_body,
    listed,
    obj,
    operation,
    paging,
    path,
    ref,
)

_COLLECTION = path("collection_id")

PATHS: dict[str, Schema] = {
    "/v1/collections": {
        "get": operation(
            "listCollections",
            "List collections",
            answer("200", "One page.", "CollectionList"),
            "400",
            parameters=[*paging("name", "created_at"), HOLDING],
        ),
        "post": operation(
            "createCollection",
            "Make a collection",
            answer("201", "Made.", "Collection"),
            "400 409 413 415",
            body=json_body("NewCollection"),
        ),
    },
    "/v1/collections/{collection_id}": {
        "get": operation(
            "getCollection",
            "One collection",
            answer("200", "The collection.", "Collection"),
            "400 404",
            parameters=[_COLLECTION],
        ),
        "patch": operation(
            "changeCollection",
            "Change name, description or settings; documents stay as they are",
            answer("200", "Changed.", "Collection"),
            "400 404 409 413 415",
            parameters=[_COLLECTION],
            body=json_body("CollectionChanges"),
        ),
        "delete": operation(
            "deleteCollection",
            "Delete a collection and everything in it",
            answer("200", "What went.", "CollectionReceipt"),
            "400 404",
            parameters=[_COLLECTION],
        ),
    },
    "/v1/collections/{collection_id}/stats": {
        "get": operation(
            "getCollectionStats",
            "What a collection holds, and how much it is asked",
            answer("200", "The figures.", "CollectionStats"),
            "400 404",
            parameters=[_COLLECTION],
        )
    },
}
SCHEMAS: dict[str, Schema] = {
    "CollectionSettings": {
        "type": "object",
        "properties": {**CHUNKING, "embedding_model": TEXT, "default_permissions": ANYTHING},
        "additionalProperties": False,
    },
    "NewCollection": obj(
        "name",
        name={"type": "string", "minLength": 1, "maxLength": 255},
        description={"type": "string", "maxLength": 10000},
        settings=ref("CollectionSettings"),
    ),
    "CollectionChanges": {
        "type": "object",
        "minProperties": 1,
        "properties": {"name": TEXT, "description": TEXT, "settings": ref("CollectionSettings")},
    },
    "Collection": obj(
        id=ID,
        name=TEXT,
        description=TEXT,
        settings=ref("CollectionSettings"),
        document_count=COUNT,
        chunk_count=COUNT,
        created_at=TIME,
    ),
    "CollectionList": obj(collections=listed("Collection"), next_cursor=CURSOR),
    "CollectionStats": obj(
        collection_id=ID,
        document_count=COUNT,
        chunk_count=COUNT,
        total_tokens=COUNT,
        storage_bytes={**COUNT, "description": "Files, text and vectors."},
        query_count_30d=COUNT,
        documents_by_status={"type": "object", "additionalProperties": COUNT},
        documents_by_type={"type": "object", "additionalProperties": COUNT},
    ),
    "CollectionReceipt": obj(
        deleted=FLAG,
        documents_removed=COUNT,
        pages_removed=COUNT,
        chunks_removed=COUNT,
        vectors_removed=COUNT,
    ),
}
