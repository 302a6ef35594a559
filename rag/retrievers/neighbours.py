"""Neighbours and samples of a hit's document, under the same conditions as the search that found it."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any
from uuid import UUID

from embeddings.vectors.binary import vector_parameter
from knowlex.db.pool import Row
from knowlex.db.replica import fetch_all
from rag.read_state import expected_state
from rag.retrievers import statements
from rag.retrievers.filtering import condition_of, read_parameters
from rag.types.context import Place
from rag.types.question import Question
from rag.types.retrieval import Retrieval


async def fetch_neighbours(question: Question, found: Retrieval, places: Sequence[Place]) -> Sequence[Row]:
    """Fetch the passages in these places, restricted to what the question may read."""
    parameters = {
        "documents": [place.document_id for place in places],
        "indexes": [place.chunk_index for place in places],
    }
    return await _fetch_rows(statements.select_neighbours, question, found, parameters)


async def fetch_sample(question: Question, found: Retrieval, document_id: UUID, count: int) -> Sequence[Row]:
    """Fetch passages at even distances in a document, restricted to what the question may read."""
    rows = await _fetch_rows(
        statements.select_sample, question, found, {"document": document_id, "count": count}
    )
    return sorted(rows, key=lambda row: row["chunk_index"])


async def _fetch_rows(
    statement: Callable[[int | None, str], bytes],
    question: Question,
    found: Retrieval,
    which: Mapping[str, Any],
) -> Sequence[Row]:
    condition = condition_of(question)
    parameters = {
        **which,
        "collections": list(question.collection_ids),
        **({} if found.vector is None else {"vector": vector_parameter(found.vector)}),
        **condition.parameters,
        **read_parameters(question),
    }
    model_id = None if found.vector is None else found.model_id
    return await fetch_all(
        statement(model_id, condition.conditions),
        parameters,
        told=expected_state(question),
        reader=question.principals,
    )
