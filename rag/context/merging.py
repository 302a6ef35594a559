"""Stretches of passages -> the blocks that a synthesizer is shown. Plain Python."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from rag.context.stretches import Stretch
from rag.types.context import Block, Context, Part

WIDEST_GAP = 100  # characters of white space between two chunks that follow each other
ENDS = (".", "!", "?", ":", "…", "。", "！", "？")


def context_from(stretches: Sequence[Stretch]) -> Context:
    """Each text once: what overlaps or follows directly becomes one block.

    The first block holds the best passage. Blocks of one document stand together, the documents in the order
    of their best passages; in each the best block comes first, as small models read the beginning best,
    and the others follow as they stand in the document. `passages` keep the order that they came in.
    """
    passages = tuple(stretch.passage for stretch in stretches)
    places = {passage.chunk_id: place for place, passage in enumerate(passages)}
    by_document: dict[UUID, list[Stretch]] = {}
    for stretch in stretches:
        by_document.setdefault(stretch.passage.document_id, []).append(stretch)
    blocks = [block for held in by_document.values() for block in _best_first(_merged(held, places))]
    return Context(tuple(blocks), passages)


def _best_first(blocks: list[Block]) -> Iterator[Block]:
    best = min(blocks, key=lambda block: min(part.passage for part in block.parts))
    yield best
    yield from (block for block in blocks if block is not best)


def _merged(stretches: Iterable[Stretch], places: dict[UUID, int]) -> list[Block]:
    """Of one document, in reading order."""
    drafts: list[_Draft] = []
    for stretch in sorted(stretches, key=lambda one: (one.start, -one.stop, one.passage.chunk_index)):
        place = places[stretch.passage.chunk_id]
        if not (drafts and drafts[-1].takes(stretch, place)):
            drafts.append(_Draft.of(stretch, place))
    return [draft.block() for draft in drafts]


@dataclass(slots=True)
class _Draft:
    """A block in the making. run: where in its text the last piece without glue begins, and where that
    stands in the document.
    """

    text: str
    run: tuple[int, int]
    last: Stretch
    parts: list[Part] = field(default_factory=list)

    @classmethod
    def of(cls, stretch: Stretch, place: int) -> "_Draft":
        return cls(
            stretch.text, (0, stretch.start), stretch, [Part(0, len(stretch.text), place, stretch.begin)]
        )

    @property
    def stop(self) -> int:
        """In the document's text."""
        return self.run[1] + len(self.text) - self.run[0]

    def block(self) -> Block:
        return Block(self.text, tuple(self.parts), self.last.passage.language)

    def takes(self, stretch: Stretch, place: int) -> bool:
        """Adds it if it belongs here: its text overlaps, or begins where the last one ends."""
        if stretch.start < self.stop:
            return self._overlaps(stretch, place)
        if not (self.last.goes_on_in(stretch) and stretch.start - self.stop <= WIDEST_GAP):
            return stretch.start == self.stop and self._overlaps(stretch, place)
        self.text += _glue(self.text, stretch, stretch.start - self.stop)
        self.run = len(self.text), stretch.start
        return self._overlaps(stretch, place)

    def _overlaps(self, stretch: Stretch, place: int) -> bool:
        """False where the texts differ: then their places in the document are not what they say."""
        start = self.run[0] + stretch.start - self.run[1]
        shared = self.text[start : start + len(stretch.text)]
        if shared != stretch.text[: len(shared)]:
            return False
        self.text += stretch.text[len(shared) :]
        self.parts.append(Part(start, len(stretch.text), place, stretch.begin))
        if stretch.stop >= self.last.stop:
            self.last = stretch
        return True


def _glue(before: str, stretch: Stretch, gap: int) -> str:
    """White space such as may stand there; what it is is not known, being in no chunk.

    A sentence that goes on, goes on; lines and paragraphs stay apart.
    """
    if gap == 0:
        return ""
    if gap > 1:
        return "\n\n"
    goes_on = stretch.text[:1].islower() and not before.endswith(ENDS)
    return " " if goes_on else "\n"
