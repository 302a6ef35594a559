"""Passages -> as much of them as fits, the best first. Plain Python."""

from collections.abc import Iterable, Sequence

from documents.text.sentences import sentence_spans
from rag.context.duplicates import overlapping
from rag.context.stretches import Stretch
from rag.context.tokens import BLOCK_TOKENS, Ruler
from rag.ranking.sentence_scores import SentenceScore
from rag.ranking.sentences import worth
from rag.types.retrieval import Passage

LEAST_CUT = 100  # tokens that must be left for a part of a chunk to be worth reading


def fitted(passages: Iterable[Passage], limit: int, ruler: Ruler) -> list[Stretch]:
    """In their order; of one that does not fit, its best sentences if there is room for some, or nothing.

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
    """What no chosen stretch holds yet, at its beginning or its end."""
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
    beside = {(other.passage.document_id, other.passage.chunk_index) for other in chosen}
    places = ((passage.document_id, passage.chunk_index + step) for step in (-1, 1))
    return BLOCK_TOKENS if beside.intersection(places) else ruler.of_frame(passage)


def _price(stretch: Stretch, ruler: Ruler, frame: int) -> int:
    """frame: tokens around its text."""
    if stretch.begin == stretch.end:
        return 0  # it stands in another block already
    if stretch == Stretch.whole(stretch.passage):
        return ruler.of_passage(stretch.passage) + frame
    return ruler.tokens(stretch.text) + frame


def _cut(stretch: Stretch, room: int, ruler: Ruler, *, hard: bool) -> Stretch | None:
    """The best sentence and those around it, as many as fit; None if that one alone is too long.

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
    """Those that lie in the stretch as a whole; offsets into the passage's content.

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
    """The beginning of a sentence that is longer than all the room there is, such as a table."""
    start, end = span
    text = stretch.passage.content
    while end > start and ruler.tokens(text[start:end]) > room:
        shorter = start + int((end - start) * 0.9)
        space = text.rfind(" ", start, shorter)
        end = space if space > start + (shorter - start) // 2 else shorter
    return Stretch(stretch.passage, start, end) if end > start else None
