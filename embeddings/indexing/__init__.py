"""The life of the vector indexes: built as the data ask for it, measured, used by what is measured."""

from embeddings.indexing.building import drop_index, ensure_index, rebuild, refused
from embeddings.indexing.upkeep import keep, measure_now

__all__ = ["drop_index", "ensure_index", "keep", "measure_now", "rebuild", "refused"]
