"""The life of the vector indexes: built as the data ask for it, measured, used by what is measured."""

from embeddings.indexing.building import (
    drop_index,
    ensure_index,
    explain_refusal,
    is_being_built,
    maintain_indexes,
    measure_now,
    rebuild,
)

__all__ = [
    "drop_index",
    "ensure_index",
    "explain_refusal",
    "is_being_built",
    "maintain_indexes",
    "measure_now",
    "rebuild",
]
