"""How large chunks may be."""

from dataclasses import dataclass

from documents.types import ChunkingSettings
from knowlex.web.fields import MAX_QUESTION_CHARS

MAX_TOKENS = 500  # the embedder reads 512, its two special tokens included
MAX_CHARS = MAX_QUESTION_CHARS  # a chunk's own text must be fit to be searched for
MAX_SIZE = 512  # what may be asked for; more than MAX_TOKENS means MAX_TOKENS
MIN_SIZE = 20
TINY_TOKENS = 40  # a rest that is smaller goes back to the chunk before it


@dataclass(frozen=True, slots=True)
class Sizes:
    """In tokens. target: a chunk is full. most, most_chars: never passed. tiny: too small to stand alone."""

    target: int
    overlap: int
    most: int
    most_chars: int
    tiny: int


def sizes_of(settings: ChunkingSettings, *, overlapping: bool = True) -> Sizes:
    """Raises ValueError for sizes that cannot be met. overlapping: whether the strategy repeats anything."""
    if not MIN_SIZE <= settings.size <= MAX_SIZE:
        raise ValueError(f"size must be from {MIN_SIZE} to {MAX_SIZE}.")
    if overlapping and not 0 <= settings.overlap <= settings.size // 2:
        raise ValueError("overlap must be from 0 to half of size.")
    size = min(settings.size, MAX_TOKENS)
    overlap = settings.overlap if overlapping else 0
    return Sizes(size, overlap, size, MAX_CHARS, min(TINY_TOKENS, size // 4))
