"""The request of POST /v1/query and POST /v1/search, whether it is to be answered or only searched for."""

from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, model_validator

from documents.access import Access
from knowlex.web.fields import is_blank
from knowlex.web.shapes import Id, InputShape, Omittable, QuestionText, Rule, choice, integer, text
from rag.answering import services
from rag.api.v1.filters import SearchFilters
from rag.types.question import Mode, Question

MAX_COLLECTIONS = 100
MAX_NAME_CHARS = 255


def _collections(value: Any) -> list[str]:
    if not isinstance(value, list) or len(value) > MAX_COLLECTIONS:
        raise ValueError(f"must be a list of at most {MAX_COLLECTIONS}")
    for name in value:
        if not isinstance(name, str) or len(name) > MAX_NAME_CHARS or is_blank(name):
            raise ValueError("must hold names or ids of collections")
    return value


_NAMES = {
    "type": "array",
    "maxItems": MAX_COLLECTIONS,
    "items": {"type": "string", "maxLength": MAX_NAME_CHARS},
}
CollectionNames = Annotated[
    list[str],
    Rule(_collections, _NAMES),
    Field(description="Names or ids; all that may be read unless some are given."),
]
_MODE = choice("hybrid", "dense", "sparse", "exact")


class QuestionSettings(InputShape):
    """How to search, and how to write the answer. What is of the answer alone is checked in a search, too."""

    response_format: Annotated[
        Literal["text", "json"], choice("text", "json"), Field(description="json: `claims` besides.")
    ] = "text"
    include_sources: bool = True
    streaming: Annotated[bool, Field(description="Like `Accept: text/event-stream`.")] = False
    passages_first: Annotated[
        bool,
        Field(description="Of a stream: an event `passages` tells what was found, before the first token."),
    ] = False
    top_k: Annotated[int, integer(1, 50)] = 10
    max_tokens: Annotated[int, integer(1, 4096)] = 1024
    mode: Annotated[Mode, _MODE] = "hybrid"
    rerank: Annotated[
        Omittable[bool], Field(description="true unless given in `hybrid`, false in the other modes.")
    ] = None
    rewrite: Annotated[
        Omittable[bool],
        Field(description="Search with what a chat model makes of it, too (`hybrid`, `dense`)."),
    ] = None


class QuestionShape(InputShape):
    query: QuestionText
    conversation_id: Annotated[
        Omittable[Annotated[str, text(MAX_NAME_CHARS)]],
        Field(description="A follow-up question is understood in its conversation; without one, a new one."),
    ] = None
    settings: QuestionSettings = QuestionSettings()
    collections: CollectionNames = []
    filters: SearchFilters = SearchFilters()

    @model_validator(mode="before")
    @classmethod
    def _named_as_elsewhere(cls, body: Any) -> Any:
        """`collection` of /query and `collection_id` of /v1/ingest name one here, too: passed over, all the
        others would answer.
        """
        if not isinstance(body, dict) or "collections" in body:
            return body
        named = [body[name] for name in ("collection", "collection_id") if isinstance(body.get(name), str)]
        return {**body, "collections": named[:1]} if named else body

    async def question(self, *, access: Access) -> Question:
        """Raises NotFound, Forbidden, RetrievalFailed, DatabaseUnavailable."""
        settings = self.settings
        return await services.make_platform_question(
            self.query,
            access=access,
            collections=self.collections,
            filters=self.filters.filters(),
            top_k=settings.top_k,
            max_tokens=settings.max_tokens,
            mode=settings.mode,
            rerank=settings.rerank,
            rewrite=settings.rewrite,
        )


class QueryAsked(QuestionShape):
    """A question to the collections that the caller may read."""

    model_config = ConfigDict(
        json_schema_extra={
            "example": {
                "query": "What do the documents say about how answers are cited?",
                "settings": {"top_k": 10, "mode": "hybrid", "response_format": "json"},
            }
        }
    )


class SearchRequest(QuestionShape):
    model_config = ConfigDict(
        json_schema_extra={
            "example": {"query": "how answers are cited", "settings": {"top_k": 10, "mode": "hybrid"}}
        }
    )

    explain: Annotated[Omittable[Id], Field(description="Of a chunk: say where it was lost.")] = None
