"""What holds for every context, whatever was found."""

import re
from random import Random

import pytest

from rag.context.fitting import assemble
from rag.context.tokens import BLOCK_TOKENS, Ruler
from rag.types.context import Context
from rag.types.retrieval import Passage
from tests.context.text import chunks_of, sentences


def words(text: str) -> int:
    return len(text.split())


RULER = Ruler(words)


def found(seed: int) -> tuple[list[Passage], int]:
    """Some chunks of some documents in any order, and a budget that may be too small."""
    random = Random(seed)
    passages: list[Passage] = []
    for document in range(1, random.randint(2, 5)):
        said = sentences(random.randint(1, 30), document=document, random=random)
        size = random.randint(1, 6)
        glue = random.choice([" ", "\n", "\n\n", "  "])
        passages += chunks_of(
            said, document=document, size=size, overlap=random.randint(0, size - 1), glue=glue
        )
    random.shuffle(passages)
    return passages[: random.randint(1, 15)], random.choice([20, 60, 150, 300, 1000, 4000])


@pytest.mark.parametrize("seed", range(20))
def test_every_context_is_sound(seed: int) -> None:
    for more in range(25):
        passages, budget = found(seed * 1000 + more)
        check(assemble(passages, budget, RULER), passages, budget)


def check(context: Context, passages: list[Passage], budget: int) -> None:
    taken = sum(RULER.tokens(block.content) + BLOCK_TOKENS for block in context.blocks)
    assert taken <= budget or (len(context.blocks) == 1 and taken <= budget + BLOCK_TOKENS)
    places = [passages.index(passage) for passage in context.passages]
    assert places == sorted(places), "the passages keep their order"
    shown = set()
    for block in context.blocks:
        covered = 0
        for part in sorted(block.parts):
            passage = context.passages[part.passage]
            here = block.content[part.start : part.start + part.length]
            assert here == passage.content[part.begin : part.begin + part.length] != ""
            assert not block.content[covered : part.start].strip(), "what no part covers is white space"
            covered = max(covered, part.start + part.length)
            shown.add(part.passage)
        assert covered == len(block.content)
    assert shown == set(range(len(context.passages))), "every passage stands in a block"
    said = [name for block in context.blocks for name in re.findall(r"Sentence \d+\.\d+", block.content)]
    assert len(said) == len(set(said)), "no sentence twice"
    if passages and budget >= 300:
        assert context.passages[0] == passages[0]
        assert min(part.passage for part in context.blocks[0].parts) == 0, "the best comes first"
