"""The dense half of any search, on the event loop: the nearest chunks of a text."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

import psycopg
from psycopg.sql import SQL, Composable, Composed

from documents.access import Access, condition_on_readers
from documents.library import collection_states
from documents.models import DEFAULT_COLLECTION
from embeddings.external.configuration import is_external, space_of
from embeddings.indexing.kinds import Index, exact_search
from embeddings.protocols import PassageAware
from embeddings.registry import configured_model, embedder_for
from embeddings.search import vector_store
from embeddings.search.question_vectors import question_vector
from embeddings.types import ModelSpec, SearchHit, Space, Vector
from embeddings.vectors.binary import vector_parameter
from knowlex.base.errors import EmbedderError, InvalidInput, NotFound, RetrievalFailed
from knowlex.db import pool
from knowlex.web.fields import check_storable

log = logging.getLogger(__name__)

ZERO_DISTANCE = 1e-6  # what float32 makes of the distance between equal vectors

# One row, or none; parameters: collections, and model: the id of one that is to be searched with though it is
# not the active one, else None. Retrieval reads it in one statement with more. index: how to search through
# it. The inner SELECTs hide the collections from the planner: it would plan anew for each question.
MODEL = SQL("""
    SELECT m.id, m.name, m.provider, m.dimensions, m.options, m.calibration, (
        SELECT jsonb_build_object(
            'number', i.number, 'kind', i.kind, 'storage', i.storage, 'lists', i.lists, 'effort', i.effort,
            'few', i.exact_below::float8 / i.rows, 'share', (
                SELECT sum(chunks)::float8 / i.rows FROM embeddings_lexemecount
                WHERE collection_id = ANY((SELECT %(collections)s::uuid[])::uuid[]) AND lexeme = ''
            )
        )
        FROM embeddings_vectorindex i WHERE i.model_id = m.id AND i.serves AND i.exact_below <= (
            SELECT count(*) FROM (
                SELECT FROM embeddings_embedding e
                WHERE e.model_id = m.id AND e.collection_id = ANY((SELECT %(collections)s::uuid[])::uuid[])
                LIMIT i.exact_below
            ) counted
        )
    ) AS index
    FROM embeddings_embeddingmodel m
    WHERE CASE WHEN %(model)s::int IS NULL THEN m.active ELSE m.id = %(model)s END
""")
_MODEL = MODEL.as_bytes(None)
_ACTIVE = "SELECT provider, name, dimensions, options FROM embeddings_embeddingmodel WHERE active"
_IN_COLLECTIONS = SQL(" AND e.collection_id = ANY(%(collections)s)")
_NO_FILTER = SQL("")
_READABLE = SQL(f"""
    AND (
        SELECT true FROM documents_chunk c JOIN documents_document d ON d.id = c.document_id
        WHERE c.id = e.chunk_id AND {condition_on_readers("d.readers")}
    )
""")  # noqa: S608 - constants only
NARROW = 10_000  # chunks; fewer are read one by one, more are looked for through the indexes
_COUNT_READABLE = f"""
    SELECT count(*) AS chunks FROM (
        SELECT FROM documents_document d JOIN documents_chunk c ON c.document_id = d.id
        WHERE d.collection_id = ANY(%(collections)s) AND d.replaces_id IS NULL
            AND {condition_on_readers("d.readers")}
        LIMIT {NARROW}
    ) counted
"""  # noqa: S608 - constants only
_HITS = SQL("""
    SELECT c.id AS chunk_id, c.document_id, d.original_filename AS document_name, d.title, c.chunk_index,
        c.content, c.page_number, near.distance
    FROM ({dense}) near JOIN documents_chunk c ON c.id = near.chunk_id
    JOIN documents_document d ON d.id = c.document_id WHERE {readable} ORDER BY near.distance, c.id
""")
_COLLECTION = f"""
    SELECT c.id, {collection_states.STATE} AS state, EXISTS (
        SELECT FROM documents_document d WHERE d.collection_id = c.id AND d.readers IS NOT NULL
    ) AS has_restricted FROM documents_collection c
    WHERE c.name = %s OR c.id::text = %s ORDER BY c.name = %s DESC
"""  # noqa: S608 - constants only


@dataclass(frozen=True, slots=True)
class SearchModel:
    """The model whose vectors one search reads, and that its question is embedded with, whichever is active
    by then. outside: a store outside PostgreSQL says which vectors are near. index: the one that serves this
    search, at that effort; without either the search is exact. few: the share of the rows that an exact
    search reads as fast as the index.
    """

    id: int
    spec: ModelSpec
    index: Index | None = None
    effort: int = 0
    few: float = 0.0
    outside: bool = False

    @property
    def name(self) -> str:
        return self.spec.name

    @property
    def dimensions(self) -> int:
        return self.spec.dimensions

    @property
    def space(self) -> Space:
        """Return where a store outside PostgreSQL keeps its vectors."""
        return space_of(self.id, self.dimensions)

    @property
    def setup(self) -> tuple[SQL, ...]:
        """Return what is to hold for a statement with this model's `dense_statement` in it."""
        return self.index.setup(self.effort) if self.index else ()

    def filtered(self, *, narrow: bool, share: float | None = None) -> "SearchModel":
        """Return the model for a search with a further condition. narrow: few chunks pass it.

        Then looking at all of them is as fast, and index or store would miss some; else it takes more effort.
        share: of the chunks that pass it, if it is known.
        """
        if narrow or not (self.index or self.outside):
            return self.exactly()
        if self.index is None:
            return self
        return replace(self, effort=self.index.effort_among(self.effort, max(share or 0.0, self.few)))

    def exactly(self) -> "SearchModel":
        return replace(self, index=None, effort=0, outside=False)


async def fetch_active_spec() -> ModelSpec:
    """Return the active model; the configured one before anything was ever embedded."""
    row = await pool.fetch_one(_ACTIVE, {})
    return configured_model() if row is None else ModelSpec.of(row)


async def fetch_search_model(collection_ids: Sequence[UUID]) -> SearchModel | None:
    """Return the active model; None before anything was ever embedded."""
    row = await pool.fetch_one(_MODEL, {"collections": list(collection_ids), "model": None})
    return None if row is None else search_model_of(row)


def search_model_of(row: dict[str, Any]) -> SearchModel:
    """Build it from a row of `MODEL`."""
    model = SearchModel(row["id"], ModelSpec.of(row), outside=is_external())
    if row["index"] is None or model.outside:
        return model
    how = dict(row["index"])
    effort, few, share = how.pop("effort"), how.pop("few"), how.pop("share")
    index = Index(model.id, model.dimensions, **how)
    return replace(model, index=index, effort=index.effort_among(effort, share or 1.0), few=few)


def dense_statement(model: SearchModel, where: Composable = _NO_FILTER) -> Composed:
    """SELECT of (chunk_id, distance), closest first, for the parameters vector, collections and limit, and of
    a model that is searched outside, near: the ids that `vector_store.fetch_nearest` has found.

    where: a further condition on e.chunk_id, with its AND and parameters of its own; ask the model to be
    `filtered` then. To be run with the model's `setup`. Never fewer rows than there are, up to limit.
    """
    where = _IN_COLLECTIONS + where
    if model.outside:
        return vector_store.candidate_search(model.id, where, _IN_COLLECTIONS)
    return model.index.search(where) if model.index else exact_search(model.id, where)


async def embed_question(text: str, model: SearchModel, *, state: str = "") -> Vector:
    """Embed by that very model, or recall it for this state of things. Raises RetrievalFailed."""
    return await question_vector(text, model.spec, state, lambda: _embed(text, model, as_passage=False))


async def embed_passage(text: str, model: SearchModel) -> Vector:
    """Return the vector that a document's text of these words would have. Raises RetrievalFailed."""
    return await _embed(text, model, as_passage=True)


async def _embed(text: str, model: SearchModel, *, as_passage: bool) -> Vector:
    try:
        embedder = embedder_for(model.spec)
        if as_passage and isinstance(embedder, PassageAware):
            vector = await embedder.aembed_passage(text)
        else:
            vector = await embedder.aembed_query(text)
    except EmbedderError as exc:
        log.error("question not embedded", extra={"error": type(exc).__name__, "reason": exc.message})
        raise RetrievalFailed(f"The question could not be embedded. {exc.message}") from exc
    if len(vector) != model.dimensions:
        raise RetrievalFailed("The question's vector has another size than the stored ones.")
    return vector


async def search_chunks(text: str, *, access: Access, collection: str | None, limit: int) -> list[SearchHit]:
    """Return the nearest chunks of the collection (name or id; None is `default`), closest first.

    Raises NotFound (collection), Forbidden (not the caller's to use), RetrievalFailed, VectorStoreFailed,
    DatabaseUnavailable.
    """
    collections, state, has_restricted = await _collection(collection, access)
    model = await fetch_search_model(collections)
    if model is None or not model.dimensions or not collections:
        return []
    vector = await embed_question(text, model, state=state)
    parameters: dict[str, Any] = {
        "vector": vector_parameter(vector),
        "collections": collections,
        "limit": limit,
        "principals": access.reads_as if has_restricted else [],
    }
    where = _NO_FILTER
    if parameters["principals"]:
        model, where = await _search_model_among_readable(model, parameters), _READABLE
    if model.outside:
        asked = limit + vector_store.MORE
        near = await vector_store.fetch_nearest(model.space, vector, collections=collections, limit=asked)
        model, parameters["near"] = (model if near is not None else model.exactly()), near
    try:
        rows = await pool.fetch_all(
            _HITS.format(
                dense=dense_statement(model, where), readable=SQL(condition_on_readers("d.readers"))
            ),
            parameters,
            setup=model.setup,
            reader=parameters["principals"],
        )
    except psycopg.Error as exc:
        log.error("search failed", extra={"error": type(exc).__name__})
        raise RetrievalFailed("The search failed.") from exc
    return [_hit(row) for row in rows]


async def _search_model_among_readable(model: SearchModel, parameters: Mapping[str, Any]) -> SearchModel:
    """Return the model for a search that some documents are hidden from; a store outside knows no readers."""
    if model.outside:
        return model.exactly()
    row = await pool.fetch_one(_COUNT_READABLE, parameters, reader=parameters["principals"])
    return model.filtered(narrow=row is None or row["chunks"] < NARROW)


def _hit(row: dict[str, Any]) -> SearchHit:
    distance = row.pop("distance")
    return SearchHit(**row, distance=0.0 if distance < ZERO_DISTANCE else distance)


async def _collection(name_or_id: str | None, access: Access) -> tuple[list[UUID], str, bool]:
    """Return one id, the collection's state and whether some documents of it are not public.

    No id only for a `default` that was deleted.
    """
    name = DEFAULT_COLLECTION if name_or_id is None else check_storable(name_or_id, "collection")
    if not name:
        raise InvalidInput("collection must not be empty.", field="collection")
    row = await pool.fetch_one(_COLLECTION, [name, name.lower(), name])
    if row is None and name != DEFAULT_COLLECTION:
        raise NotFound("Collection not found.", details={"field": "collection"})
    if row is None:
        return [], "", False
    access.require_collection(row["id"])
    return [row["id"]], str(row["state"]), row["has_restricted"]
