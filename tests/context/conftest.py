from tests.rag.conftest import add_document, embedder

__all__ = ["add_document", "embedder"]
