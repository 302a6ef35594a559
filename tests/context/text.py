"""Documents made of numbered sentences, and chunks of them with exact places."""

from collections.abc import Sequence
from random import Random
from uuid import UUID

from rag.types.retrieval import Passage
from tests.rag.factory import passage

WORDS = ("river", "bridge", "stone", "tower", "market", "guild", "water", "mill", "harbour", "ship", "bell")


def sentences(number: int, *, document: int, random: Random) -> list[str]:
    """Each of them unlike all others."""
    return [
        f"Sentence {document}.{n} " + " ".join(random.choices(WORDS, k=random.randint(3, 25))) + "."
        for n in range(number)
    ]


def chunk(text: str, start: int, end: int, *, index: int, document: int = 1, **fields: object) -> Passage:
    """`text[start:end]`; document 1 has ids 1001..."""
    made = passage(document * 1000 + index + 1, text[start:end])
    placed = made._replace(
        document_id=UUID(int=document),
        chunk_index=index,
        start_char=start,
        token_count=len(text[start:end].split()) + 2,
    )
    return placed._replace(**fields)


def chunks_of(
    said: Sequence[str], *, document: int, size: int, overlap: int, glue: str = " "
) -> list[Passage]:
    """Chunks of `size` sentences, the last `overlap` of which begin the next."""
    text = glue.join(said)
    starts = [sum(len(s) + len(glue) for s in said[:n]) for n in range(len(said))]
    made: list[Passage] = []
    for first in range(0, len(said), size - overlap):
        last = min(first + size, len(said)) - 1
        end = starts[last] + len(said[last])
        made.append(chunk(text, starts[first], end, index=len(made), document=document))
        if last == len(said) - 1:
            break
    return made
