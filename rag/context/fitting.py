"""Passages cut to fit a budget of tokens, and put together as blocks. Plain Python."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple
from uuid import UUID

from documents.text.sentences import sentence_spans
from rag.context.selection import overlapping, uncontained
from rag.context.tokens import BLOCK_TOKENS, CONTEXT_TOKENS, Ruler
from rag.ranking.sentences import worth
from rag.types.context import Block, Context, Part
from rag.types.retrieval import Passage
from rag.types.sentences import SentenceScore

_RULER = Ruler()


def assemble(
    passages: Iterable[Passage], budget_tokens: int = CONTEXT_TOKENS, ruler: Ruler = _RULER
) -> Context:
    """Make a context of as much of the passages, best first, as the budget has room for; no text twice.

    What repeats another is left out, chunks that overlap or follow each other become one block, and one that
    fits in part is cut at a sentence's end.
    """
    return context_from(fit_passages(uncontained(passages), budget_tokens, ruler))


def context_of(passages: Sequence[Passage]) -> Context:
    """Make a context in which every passage is a block of its own."""
    blocks = (
        Block(p.content, (Part(0, len(p.content), place, 0),), p.language, p.analysis, p.table_head)
        for place, p in enumerate(passages)
    )
    return Context(tuple(blocks), tuple(passages))


class Stretch(NamedTuple):
    """`passage.content[begin:end]`."""

    passage: Passage
    begin: int
    end: int

    @classmethod
    def whole(cls, passage: Passage) -> "Stretch":
        return cls(passage, 0, len(passage.content))

    @property
    def text(self) -> str:
        return self.passage.content[self.begin : self.end]

    @property
    def start(self) -> int:
        """Return where it starts in the document's text."""
        return self.passage.start_char + self.begin

    @property
    def stop(self) -> int:
        """Return where it stops in the document's text."""
        return self.passage.start_char + self.end

    def goes_on_in(self, other: "Stretch") -> bool:
        """Return whether the other is the next chunk, neither of them cut where they meet."""
        one, two = self.passage, other.passage
        return (
            one.document_id == two.document_id
            and one.chunk_index + 1 == two.chunk_index
            and self.end == len(one.content)
            and other.begin == 0
        )


LEAST_CUT = 100  # tokens that must be left for a part of a chunk to be worth reading


def fit_passages(passages: Iterable[Passage], limit: int, ruler: Ruler) -> list[Stretch]:
    """Fit them in order; of one that does not fit, keep its best sentences if there is room, or nothing.

    What a chunk repeats of one before it is counted once.
    """
    chosen: list[Stretch] = []
    left = limit
    for passage in passages:
        fresh = _fresh(passage, chosen)
        price = _price(fresh, ruler, _frame(passage, chosen, ruler))
        if price > left:
            cut = None
            if left > LEAST_CUT or not chosen:
                cut = _cut(fresh, left - ruler.of_frame(passage), ruler, hard=not chosen)
            if cut is None:
                continue
            chosen.append(cut)
            left -= _price(cut, ruler, ruler.of_frame(passage))
        else:
            chosen.append(Stretch.whole(passage))
            left -= price
    return chosen


def _fresh(passage: Passage, chosen: Sequence[Stretch]) -> Stretch:
    """Return what no chosen stretch holds yet, at its beginning or its end."""
    begin, end = 0, len(passage.content)
    for other in chosen:
        if not overlapping(passage, other.passage):
            continue
        if other.start <= passage.start_char + begin < other.stop:
            begin = min(end, other.stop - passage.start_char)
        if other.start < passage.start_char + end <= other.stop:
            end = max(begin, other.start - passage.start_char)
    return Stretch(passage, begin, end)


def _frame(passage: Passage, chosen: Sequence[Stretch], ruler: Ruler) -> int:
    """Tokens around its text; chunks that follow each other become one block, which names its place once."""
    beside = {
        (other.passage.document_id, other.passage.chunk_index)
        for other in chosen
        if other.passage.table_head == passage.table_head
    }
    places = ((passage.document_id, passage.chunk_index + step) for step in (-1, 1))
    return BLOCK_TOKENS if beside.intersection(places) else ruler.of_frame(passage)


def _price(stretch: Stretch, ruler: Ruler, frame: int) -> int:
    """Return the tokens that it takes. frame: tokens around its text."""
    if stretch.begin == stretch.end:
        return 0  # it stands in another block already
    if stretch == Stretch.whole(stretch.passage):
        return ruler.of_passage(stretch.passage) + frame
    return ruler.tokens(stretch.text) + frame


def _cut(stretch: Stretch, room: int, ruler: Ruler, *, hard: bool) -> Stretch | None:
    """Return the best sentence and those around it, as many as fit; None if that one alone is too long.

    They grow forwards before backwards: what explains a sentence mostly follows it. hard: one that is too
    long, such as a table, is cut itself.
    """
    spans, content = _sentences(stretch), stretch.passage.content
    if not spans:
        return None
    first = last = _best(spans, stretch.passage.sentences)
    left = room - ruler.tokens(content[slice(*spans[first])])
    if left < 0:
        return _hard_cut(stretch, spans[first], room, ruler) if hard else None
    # With the white space before each, so that the prices add up to at least that of the whole.
    prices = [
        ruler.tokens(content[start:end])
        for start, end in zip([spans[0][0], *(s[1] for s in spans)], (s[1] for s in spans), strict=False)
    ]
    growing = True
    while growing:
        growing = False
        for place in (last + 1, first - 1):
            if 0 <= place < len(spans) and prices[place] <= left:
                first, last = min(first, place), max(last, place)
                left, growing = left - prices[place], True
    return Stretch(stretch.passage, spans[first][0], spans[last][1])


def _sentences(stretch: Stretch) -> list[tuple[int, int]]:
    """Return those that lie in the stretch as a whole; offsets into the passage's content.

    The first begins where the stretch does if only white space is before it: then both can be joined.
    """
    scored, content = stretch.passage.sentences, stretch.passage.content
    spans = [(s.start, s.end) for s in scored] if scored else sentence_spans(content)
    inside = [(start, end) for start, end in spans if stretch.begin <= start and end <= stretch.end]
    if inside and content[stretch.begin : inside[0][0]].isspace():
        inside[0] = stretch.begin, inside[0][1]
    return inside


def _best(spans: Sequence[tuple[int, int]], scores: Sequence[SentenceScore]) -> int:
    values = {score.end: worth(score) + max(0.0, score.similarity or 0.0) for score in scores}
    return max(range(len(spans)), key=lambda place: (values.get(spans[place][1], 0.0), -place))


def _hard_cut(stretch: Stretch, span: tuple[int, int], room: int, ruler: Ruler) -> Stretch | None:
    """Return the beginning of a sentence that is longer than all the room there is, such as a table."""
    start, end = span
    text = stretch.passage.content
    while end > start and ruler.tokens(text[start:end]) > room:
        shorter = start + int((end - start) * 0.9)
        space = text.rfind(" ", start, shorter)
        end = space if space > start + (shorter - start) // 2 else shorter
    return Stretch(stretch.passage, start, end) if end > start else None


WIDEST_GAP = 100  # characters of white space between two chunks that follow each other
ENDS = (".", "!", "?", ":", "…", "。", "！", "？")


def context_from(stretches: Sequence[Stretch]) -> Context:
    """Show each text once: what overlaps or follows directly becomes one block.

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
    """Merge the stretches of one document, in reading order."""
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
        part = Part(0, len(stretch.text), place, stretch.begin)
        return cls(stretch.text, (0, stretch.start), stretch, [part])

    @property
    def stop(self) -> int:
        """Return where it stops in the document's text."""
        return self.run[1] + len(self.text) - self.run[0]

    def block(self) -> Block:
        passage = self.last.passage
        whole = len(self.parts) == 1 and len(self.text) == len(passage.content)
        analysis = passage.analysis if whole else ""
        return Block(self.text, tuple(self.parts), passage.language, analysis, passage.table_head)

    def takes(self, stretch: Stretch, place: int) -> bool:
        """Adds it if it belongs here: its text overlaps, or begins where the last one ends.

        A table stays apart from what follows, so that its head is known to be of all rows.
        """
        if stretch.start < self.stop:
            return self._overlaps(stretch, place)
        if stretch.passage.table_head != self.last.passage.table_head:
            return False
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
