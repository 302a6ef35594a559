"""What can be done with questions besides asking them (see `ask`): make, search and explain them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from uuid import UUID

from django.conf import settings

from documents.access import Access, condition_on_readers
from documents.models import DEFAULT_COLLECTION
from knowlex.base.errors import NotFound
from knowlex.db.pool import Row, fetch_all, fetch_one, fetch_shared
from knowlex.runtime.admission import came
from knowlex.runtime.components import component
from rag.answering.explanation import explain_loss
from rag.answering.parts import build_pipeline
from rag.deadlines import search_timeout, within_deadline
from rag.history.query_counts import query_counts
from rag.protocols import Correcting, Examiner
from rag.read_state import HAS_RESTRICTED, STATES, digest_states
from rag.types.question import NO_FILTERS, Filters, Mode, Question
from rag.types.retrieval import Explanation, SearchResult

# The inner SELECTs hide the values from the planner: it would make a new plan for each question, which takes
# three times as long as what is planned.
_NAMED = f"""
    SELECT c.id, c.name, {STATES}, {HAS_RESTRICTED} FROM documents_collection c
    WHERE c.name = ANY((SELECT %(names)s::text[])::text[])
        OR c.id::text = ANY((SELECT %(ids)s::text[])::text[])
"""  # noqa: S608 - constants only
_READABLE = f"""
    SELECT c.id, {STATES}, {HAS_RESTRICTED} FROM documents_collection c
    WHERE %(allowed)s::uuid[] IS NULL OR c.id = ANY(%(allowed)s)
"""  # noqa: S608 - constants only


@dataclass(frozen=True, slots=True)
class ReadScope:
    """collection_ids: in the order in which they were named. state, principals: as in
    `rag.types.question.Question`.

    The state is as old as the ids: what a search finds afterwards is of this state, or of a newer one.
    """

    collection_ids: tuple[UUID, ...]
    state: str
    principals: tuple[str, ...] | None


def _read(rows: Iterable[Row], access: Access, collection_ids: Iterable[UUID]) -> ReadScope:
    rows = list(rows)
    principals: tuple[str, ...] | None = ()
    if any(row["has_restricted"] for row in rows):
        principals = None if access.reads_as is None else tuple(access.reads_as)
    return ReadScope(tuple(collection_ids), digest_states(rows), principals)


async def read_named(names_or_ids: Sequence[str], *, access: Access, field: str = "collection") -> ReadScope:
    """Read the state of these collections; a name goes before an id. Raises NotFound, Forbidden.

    `default` always exists: before it is made again, it is empty and has no id.
    """
    ids = [name.lower() for name in names_or_ids]
    asked = {"names": list(names_or_ids), "ids": ids}
    rows = await fetch_shared(_NAMED, asked, same=(_NAMED, *names_or_ids))
    found = {str(row["id"]): row for row in rows} | {row["name"]: row for row in rows}
    chosen = {name: found.get(name) or found.get(name.lower()) for name in names_or_ids}
    if any(row is None and name != DEFAULT_COLLECTION for name, row in chosen.items()):
        raise NotFound("Collection not found.", details={"field": field})
    read = {row["id"]: row for row in chosen.values() if row is not None}
    for collection_id in read:
        access.require_collection(collection_id, field=field)
    return _read(read.values(), access, read)


async def read_all(access: Access) -> ReadScope:
    """Read the state of all that the caller may read."""
    rows = await fetch_shared(_READABLE, {"allowed": access.allowed}, same=(_READABLE, access.collection_ids))
    return _read(rows, access, (row["id"] for row in rows))


async def principals_for(collection_ids: Sequence[UUID], access: Access) -> tuple[str, ...] | None:
    """Return `principals` of a question to these collections, whatever became of them."""
    rows = await fetch_all(_OF_COLLECTIONS, {"ids": list(collection_ids)})
    return _read(rows, access, collection_ids).principals


_OF_COLLECTIONS = f"""
    SELECT c.id, {STATES}, {HAS_RESTRICTED} FROM documents_collection c WHERE c.id = ANY(%(ids)s)
"""  # noqa: S608 - constants only
_SEEN_CHUNK = f"""
    SELECT c.id FROM documents_chunk c JOIN documents_document d ON d.id = c.document_id
    WHERE c.id = %(id)s AND (%(allowed)s::uuid[] IS NULL OR d.collection_id = ANY(%(allowed)s))
        AND {condition_on_readers("d.readers")}
"""  # noqa: S608 - constants only
_SEEN_DOCUMENTS = f"""
    SELECT id FROM documents_entry WHERE id = ANY(%(ids)s)
        AND (%(allowed)s::uuid[] IS NULL OR collection_id = ANY(%(allowed)s))
        AND {condition_on_readers("readers")}
"""  # noqa: S608 - constants only


async def search(question: Question) -> SearchResult:
    """Return the passages that `ask` would choose from. Raises RetrievalFailed, DatabaseUnavailable."""
    query_counts.get().add(question.collection_ids)
    return await build_pipeline().search(question)


async def suggest(question: Question) -> str | None:
    """Return the question with words put right that no document has; None if there are none.

    Raises RetrievalFailed, DatabaseUnavailable.
    """
    return await component("RETRIEVER", Correcting).suggest(question)


async def explain(question: Question, chunk_id: UUID, *, access: Access) -> tuple[SearchResult, Explanation]:
    """Return what `search` finds, and where it lost the chunk. Raises as `search`, and NotFound: the
    chunk.
    """
    asked = {"id": chunk_id, "allowed": access.allowed, "principals": access.reads_as}
    if await fetch_one(_SEEN_CHUNK, asked, reader=access.reads_as) is None:
        raise NotFound(f"Chunk not found: {chunk_id}", details={"field": "explain"})
    query_counts.get().add(question.collection_ids)
    pipeline = build_pipeline()
    result, trail = await pipeline.traced_search(question)
    searched = replace(question, text=trail.asked or question.text)
    facts = await component("RETRIEVER", Examiner).examine(searched, chunk_id)
    judged = replace(question, min_relevance=pipeline.least_relevance(question))
    return result, explain_loss(judged, chunk_id, facts, trail)


async def make_question(
    text: str,
    *,
    access: Access,
    collections: Sequence[str] = (),
    top_k: int,
    max_tokens: int | None = None,
    strict_context: bool = False,
) -> Question:
    """Make a question to these collections (names or ids; none means `default`), with the configured
    threshold.

    Its deadline runs from when the request came. Raises NotFound, Forbidden (one of them is not the caller's
    to use), RetrievalFailed (it took too long), DatabaseUnavailable.
    """
    deadline = _deadline()
    async with within_deadline(deadline, search_timeout):
        read = await read_named(collections or (DEFAULT_COLLECTION,), access=access)
    return Question(
        text=text,
        collection_ids=read.collection_ids,
        state=read.state,
        principals=read.principals,
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
    """Make a question to these collections, or to all that the caller may read where none is named.

    Raises as `make_question`, and NotFound for a document of the filters that the caller cannot see.
    """
    deadline = _deadline()
    async with within_deadline(deadline, search_timeout):
        if collections:
            read = await read_named(collections, access=access, field="collections")
        else:
            read = await read_all(access)
        await _check_documents(filters.document_ids or (), access=access)
    return Question(
        text=text,
        collection_ids=read.collection_ids,
        state=read.state,
        principals=read.principals,
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
    return came() + float(settings.ANSWER_TIMEOUT_S)


async def resolve_collections(
    names_or_ids: Sequence[str], *, access: Access, field: str = "collection"
) -> tuple[UUID, ...]:
    """Return the ids of these collections, in their order. Raises NotFound, Forbidden."""
    return (await read_named(names_or_ids, access=access, field=field)).collection_ids


async def _check_documents(ids: Sequence[UUID], *, access: Access) -> None:
    """Raises NotFound for the first that is not there, or lies in a collection that is not the caller's."""
    if not ids:
        return
    asked = {"ids": list(ids), "allowed": access.allowed, "principals": access.reads_as}
    rows = await fetch_all(_SEEN_DOCUMENTS, asked, reader=access.reads_as)
    seen = {row["id"] for row in rows}
    for id_ in ids:
        if id_ not in seen:
            raise NotFound(f"Document not found: {id_}", details={"field": "filters.documents"})
