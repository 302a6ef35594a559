"""What a reranker's model can do wrong."""

from rag.local_models.errors import ModelFailed


class RerankFailed(ModelFailed):
    """The passages keep the order that they had."""
