"""Running servers of which everything is written down."""

import pytest

from tests.conftest import MakeStack, stacks
from tests.golden import asks_documents, asks_questions
from tests.golden.exchanges import Recorder
from tests.support.stack import Stack

PARTS = {
    "v1-collections": asks_documents.COLLECTIONS,
    "v1-ingest": asks_documents.JOBS,
    "v1-documents": asks_documents.DOCUMENTS,
    "api-v1-documents": asks_documents.UPLOADS,
    "api-v1-embeddings": asks_documents.EMBEDDINGS,
    "v1-sources": asks_documents.SOURCES,
    "v1-search": asks_questions.SEARCHES,
    "v1-query": asks_questions.ANSWERS,
    "api-v1-rag-ask": asks_questions.RAG_ASK,
    "query": asks_questions.QUERY,
    "api-v1-rag-query": asks_questions.RAG_QUERY,
    "v1-question_sets": asks_questions.QUESTION_SETS,
    "v1-evaluations": asks_questions.EVALUATIONS,
    "v1-queries-and-feedback": asks_questions.MEMORY,
    "edges": asks_questions.EDGES,
    "openai": asks_questions.OPENAI,
    "v1-webhooks": asks_documents.WEBHOOKS,
    "dify": asks_questions.DIFY,
}


make_folder_stack = pytest.fixture(stacks, scope="package")


@pytest.fixture(scope="package")
def golden_stack(make_folder_stack: MakeStack) -> Stack:
    """With the defaults, but that files may have 1 MB, and that nothing is answered from a cache."""
    return make_folder_stack(
        workers=1, KNOWLEX_MAX_UPLOAD_MB="1", KNOWLEX_CACHE="off", KNOWLEX_SOURCE_FOLDERS="/srv/knowlex"
    )


@pytest.fixture(scope="package")
def recorder(golden_stack: Stack) -> Recorder:
    return Recorder(golden_stack.client)


@pytest.fixture(scope="package")
def recorded(recorder: Recorder) -> dict[str, str]:
    """All exchanges by the name of their file; made in one go, since later ones rest on earlier ones."""
    return {name: recorder.record(asks) for name, asks in PARTS.items()}
