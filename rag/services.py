"""What can be done with questions besides asking them (rag.answering.ask). No HTTP in here."""

import time
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any
from uuid import UUID

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.utils.module_loading import import_string

from documents.access.scopes import Access
from documents.models import DEFAULT_COLLECTION
from documents.protocols import TokenCounter
from knowlex.base.errors import NotFound
from knowlex.db import replica
from knowlex.db.pool import fetch_all, fetch_one
from knowlex.runtime.cache import shared
from knowlex.runtime.components import all_built, component
from rag.answering import collections_read
from rag.answering.explanation import explained
from rag.answering.pipeline import Pipeline
from rag.answering.timing import before, searching_too_long
from rag.context.assembly import ContextMaker
from rag.context.tokens import Ruler
from rag.history.query_counts import query_counts
from rag.history.recorder import recorder
from rag.protocols import (
    ClaimJudge,
    Completing,
    Examiner,
    ModelBacked,
    Reranker,
    Retriever,
    Sampling,
    Synthesizer,
    can,
)
from rag.relevance import assess
from rag.types.question import NO_FILTERS, Filters, Mode, Question
from rag.types.retrieval import Explanation, SearchResult

_SEEN_CHUNK = """
    SELECT c.id FROM documents_chunk c JOIN documents_document d ON d.id = c.document_id
    WHERE c.id = %(id)s AND (%(allowed)s::uuid[] IS NULL OR d.collection_id = ANY(%(allowed)s))
"""
_SEEN_DOCUMENTS = """
    SELECT id FROM documents_entry WHERE id = ANY(%(ids)s)
        AND (%(allowed)s::uuid[] IS NULL OR collection_id = ANY(%(allowed)s))
"""


async def search(question: Question) -> SearchResult:
    """The passages that `ask` would choose from. Raises RetrievalFailed, DatabaseUnavailable."""
    query_counts.get().add(question.collection_ids)
    return await pipeline().search(question)


async def explain(question: Question, chunk_id: UUID, *, access: Access) -> tuple[SearchResult, Explanation]:
    """What `search` finds, and where it lost the chunk. Raises as `search`, and NotFound: the chunk."""
    if await fetch_one(_SEEN_CHUNK, {"id": chunk_id, "allowed": access.allowed}) is None:
        raise NotFound(f"Chunk not found: {chunk_id}", details={"field": "explain"})
    query_counts.get().add(question.collection_ids)
    result, trail = await pipeline().traced_search(question)
    facts = await component("RETRIEVER", Examiner).examine(question, chunk_id)
    return result, explained(question, chunk_id, facts, trail)


async def make_question(
    text: str,
    *,
    access: Access,
    collections: Sequence[str] = (),
    top_k: int,
    max_tokens: int | None = None,
    strict_context: bool = False,
) -> Question:
    """A question to these collections (names or ids; none means `default`), with the configured threshold.

    Its deadline runs from now on. Raises NotFound, Forbidden (one of them is not the caller's to use),
    RetrievalFailed (it took too long), DatabaseUnavailable.
    """
    deadline = _deadline()
    async with before(deadline, searching_too_long):
        read = await collections_read.named(collections or (DEFAULT_COLLECTION,), access=access)
    return Question(
        text=text,
        collection_ids=read.collection_ids,
        state=read.state,
        top_k=top_k,
        max_tokens=max_tokens,
        min_relevance=settings.RELEVANCE_THRESHOLD,
        strict_context=strict_context,
        deadline=deadline,
    )


async def make_platform_question(
    text: str,
    *,
    access: Access,
    collections: Sequence[str],
    top_k: int,
    max_tokens: int | None = None,
    mode: Mode = "hybrid",
    filters: Filters = NO_FILTERS,
    rerank: bool | None = None,
    rewrite: bool | None = None,
) -> Question:
    """A question to these collections, or to all that the caller may read where none is named.

    Raises as `make_question`, and NotFound for a document of the filters that the caller cannot see.
    """
    deadline = _deadline()
    async with before(deadline, searching_too_long):
        if collections:
            read = await collections_read.named(collections, access=access, field="collections")
        else:
            read = await collections_read.readable(access)
        await _check_documents(filters.document_ids or (), access=access)
    return Question(
        text=text,
        collection_ids=read.collection_ids,
        state=read.state,
        top_k=top_k,
        max_tokens=max_tokens,
        min_relevance=settings.RELEVANCE_THRESHOLD,
        mode=mode,
        filters=filters,
        rerank=rerank,
        rewrite=rewrite,
        deadline=deadline,
    )


def _deadline() -> float:
    return time.monotonic() + float(settings.ANSWER_TIMEOUT_S)


async def resolve_collections(
    names_or_ids: Sequence[str], *, access: Access, field: str = "collection"
) -> tuple[UUID, ...]:
    """The ids of these collections, in their order. Raises NotFound, Forbidden."""
    return (await collections_read.named(names_or_ids, access=access, field=field)).collection_ids


async def _check_documents(ids: Sequence[UUID], *, access: Access) -> None:
    """Raises NotFound for the first that is not there, or lies in a collection that is not the caller's."""
    if not ids:
        return
    rows = await fetch_all(_SEEN_DOCUMENTS, {"ids": list(ids), "allowed": access.allowed})
    seen = {row["id"] for row in rows}
    for id_ in ids:
        if id_ not in seen:
            raise NotFound(f"Document not found: {id_}", details={"field": "filters.documents"})


def ensure_reranker_works() -> None:
    """For the start. Raises ImproperlyConfigured if its model cannot be used."""
    _ensure_works(component("RERANKER", Reranker), "KNOWLEX_RERANKER_MODEL")


def ensure_claim_judge_works() -> None:
    """For the start. Raises ImproperlyConfigured if its model cannot be used."""
    _ensure_works(component("CLAIM_JUDGE", ClaimJudge), "KNOWLEX_CLAIM_JUDGE_MODEL")


def _ensure_works(part: object, variable: str) -> None:
    try:
        if isinstance(part, ModelBacked):
            part.check()
    except ValueError as exc:
        raise ImproperlyConfigured(f"{variable}: {exc}") from exc


async def close() -> None:
    """Close this event loop's connections to models, and write what is not yet written."""
    await replica.close()
    for unwritten in (query_counts.take(), recorder.take()):
        if unwritten is not None:
            await unwritten.close()
    await shared.close()
    for part in all_built():  # the embedders of other models than the configured one among them
        aclose = getattr(part, "aclose", None)
        if aclose is not None:
            await aclose()


def pipeline(**retriever: Any) -> Pipeline:
    """retriever: options of its plain search instead of the configured ones, for example `rrf_k`."""
    finding = retriever_with(**retriever) if retriever else component("RETRIEVER", Retriever)
    return Pipeline(
        finding,
        component("RERANKER", Reranker),
        assess,
        component("SYNTHESIZER", Synthesizer),
        component("CLAIM_JUDGE", ClaimJudge),
        contexts=contexts(finding),
        verified_only=settings.STRICT_VERIFICATION,
    )


def contexts(retriever: Retriever) -> ContextMaker:
    """As configured; other chunks of a hit's document are fetched by this retriever."""
    return ContextMaker(
        ruler=Ruler(tokens),
        budget=settings.CONTEXT_TOKENS,
        window=settings.CHAT_CONTEXT_TOKENS,
        floor=settings.CONTEXT_FLOOR,
        beside=retriever if can(retriever, Completing) else None,
        sampling=retriever if can(retriever, Sampling) else None,
    )


@lru_cache(maxsize=1024)
def tokens(text: str) -> int:
    """Of the embedding model."""
    return len(component("TOKENIZER", TokenCounter).spans(text))


def retriever_with(**options: Any) -> Retriever:
    """The configured one with other options of its plain search; the one that faces use stays as it is."""
    built: Retriever = _built("RETRIEVER", {"plain": _built("PLAIN_RETRIEVER", options)})
    return built


def _built(role: str, options: Mapping[str, Any]) -> Any:
    spec = settings.KNOWLEX[role]
    return import_string(spec["class"])(**{**spec.get("options", {}), **options})
