import pytest

from tests.answers.asking import Library, make_library
from tests.provider import Provider
from tests.rag.conftest import add_document, embedder, pool
from tests.support.stack import Stack

__all__ = ["add_document", "embedder", "pool"]


@pytest.fixture
def library(provider_server: Stack, provider: Provider) -> Library:
    return make_library(provider_server, provider)
