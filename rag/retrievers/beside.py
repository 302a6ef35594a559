"""The chunks beside a hit, under the same conditions as the search that found it."""

from collections.abc import Sequence

from embeddings.vector_parameter import parameter
from knowlex.common.async_db import Row
from knowlex.common.replica import fetch_all
from rag.retrievers import statements
from rag.retrievers.filtering import condition_of
from rag.states import told
from rag.types import Place, Question, Retrieval


async def rows(question: Question, found: Retrieval, places: Sequence[Place]) -> Sequence[Row]:
    """Of passages. Only what the question may read: its collections, its filters."""
    condition = condition_of(question.filters)
    parameters = {
        "documents": [place.document_id for place in places],
        "indexes": [place.chunk_index for place in places],
        "collections": list(question.collection_ids),
        **({} if found.vector is None else {"vector": parameter(found.vector)}),
        **condition.parameters,
    }
    model_id = None if found.vector is None else found.model_id
    return await fetch_all(statements.beside(model_id, condition.conditions), parameters, told=told(question))
