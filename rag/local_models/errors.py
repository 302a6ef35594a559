"""What a model that reads pairs of texts can do wrong."""

from knowlex.base.errors import KnowlexError


class ModelFailed(KnowlexError):
    """No scores this time. It never reaches a client: what was there without the model stays."""
