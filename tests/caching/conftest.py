"""A small library in the test database, embedded by the fake provider; see tests.rag.conftest."""

from tests.rag.conftest import add_document, embedder

__all__ = ["add_document", "embedder"]
