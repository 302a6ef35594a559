"""What can be done with questions. No HTTP in here."""

from collections.abc import Sequence
from uuid import UUID

from django.conf import settings

from documents.access import Access
from documents.models import DEFAULT_COLLECTION
from knowlex.common.async_db import fetch_all
from knowlex.common.components import all_built, component
from knowlex.common.errors import NotFound
from rag.pipeline import Pipeline
from rag.protocols import Reranker, Retriever, Synthesizer
from rag.query_counts import query_counts
from rag.relevance import assess
from rag.types import Answer, Question

_NAMED = "SELECT id, name FROM documents_collection WHERE name = ANY(%(names)s) OR id::text = ANY(%(ids)s)"


async def ask(question: Question) -> Answer:
    """Raises RetrievalFailed, SynthesisFailed, DatabaseUnavailable."""
    query_counts.get().add(question.collection_ids)
    return await _pipeline().answer(question)


async def make_question(
    text: str,
    *,
    access: Access,
    collections: Sequence[str] = (),
    top_k: int,
    max_tokens: int | None = None,
) -> Question:
    """A question to these collections (names or ids; none means `default`), with the configured threshold.

    Raises NotFound, Forbidden (one of them is not the caller's to use), DatabaseUnavailable.
    """
    return Question(
        text=text,
        collection_ids=await resolve_collections(collections or (DEFAULT_COLLECTION,), access=access),
        top_k=top_k,
        max_tokens=max_tokens,
        min_relevance=settings.RELEVANCE_THRESHOLD,
    )


async def resolve_collections(names_or_ids: Sequence[str], *, access: Access) -> tuple[UUID, ...]:
    """The ids of these collections, in their order; a name goes before an id. Raises NotFound, Forbidden.

    `default` always exists: before it is made again, it is empty and has no id.
    """
    ids = [name.lower() for name in names_or_ids]
    rows = await fetch_all(_NAMED, {"names": list(names_or_ids), "ids": ids})
    found = {str(row["id"]): row["id"] for row in rows} | {row["name"]: row["id"] for row in rows}
    chosen = {name: found.get(name) or found.get(name.lower()) for name in names_or_ids}
    if any(id_ is None and name != DEFAULT_COLLECTION for name, id_ in chosen.items()):
        raise NotFound("Collection not found.", details={"field": "collection"})
    collection_ids = tuple(dict.fromkeys(id_ for id_ in chosen.values() if id_ is not None))
    for collection_id in collection_ids:
        access.require_collection(collection_id)
    return collection_ids


async def close() -> None:
    """Close this event loop's connections to models, and write what is not yet written."""
    counts = query_counts.take()
    if counts is not None:
        await counts.close()
    for part in all_built():  # the embedders of other models than the configured one among them
        aclose = getattr(part, "aclose", None)
        if aclose is not None:
            await aclose()


def _pipeline() -> Pipeline:
    return Pipeline(
        component("RETRIEVER", Retriever),
        component("RERANKER", Reranker),
        assess,
        component("SYNTHESIZER", Synthesizer),
    )
