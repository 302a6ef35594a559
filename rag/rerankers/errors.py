"""What a reranker's model can do wrong."""

from knowlex.common.errors import KnowlexError


class RerankFailed(KnowlexError):
    """No scores this time. It never reaches a client: the passages keep the order that they had."""
