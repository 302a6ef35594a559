"""The context of a question: its hits, and the chunk beside a hit that is cut off. Plain Python, async."""

import re
from collections.abc import Iterator, Mapping, Sequence

from rag.context.fitting import assemble
from rag.context.selection import by_halves, together
from rag.context.tokens import CONTEXT_TOKENS, Ruler, room_for_blocks
from rag.protocols import Completing, Sampling
from rag.question_forms import Overview, overview_of
from rag.ranking.sentences import worth
from rag.types.context import Context, Place, Room
from rag.types.question import Question
from rag.types.retrieval import Passage, Retrieval

MOST = 4  # chunks fetched for one question
SHOWN_BELOW_FLOOR = 3  # passages that are shown to a chat model of which none reaches the floor
LOOK = 160  # characters of a line
# Words that a first sentence begins with only because of what stands before it.
_LEANS = re.compile(
    r"[\"'“‘«„(]*(?:"
    r"this|that|these|those|it|its|they|their|them|he|she|his|her|such|both|so|thus|hence|therefore|however|"
    r"moreover|furthermore|instead|otherwise|consequently|nevertheless|nonetheless|then|similarly|likewise|"
    r"er|sie|es|dies|diese|dieser|dieses|jedoch|daher|deshalb|außerdem|dabei|damit|"
    r"ce|cet|cette|ces|il|elle|ils|elles|cela|ainsi|cependant|"
    r"este|esta|estos|estas|eso|esto|ello|además|"
    r"questo|questa|questi|queste|esso|essa|inoltre|tuttavia|perciò"
    r")\b",
    re.IGNORECASE,
)
_ITEM = re.compile(r"(?:[-*+•‣▪●◦○■□►–—]\s|\(?(?:\d{1,3}|[a-zA-Z]|[ivx]{1,4})[.)]\s)")
_ROW = re.compile(r"\A\||\S(?: {2,}|\t| \| )\S")
_ENDED = re.compile(r"[.!?…:;。！？।؟۔][\"'”’»)\]」』）*_]*$")


def wanted(hits: Sequence[Passage]) -> dict[Place, Passage]:
    """Return the places of chunks that may complete a hit, each with the best such hit; at most MOST."""
    held = {Place(hit.document_id, hit.chunk_index) for hit in hits}
    found: dict[Place, Passage] = {}
    for hit in hits:
        for step in _steps(hit):
            place = Place(hit.document_id, hit.chunk_index + step)
            if place.chunk_index >= 0 and place not in held and len(found) < MOST:
                found.setdefault(place, hit)
    return found


def find_completing(neighbours: Sequence[Passage], asked: Mapping[Place, Passage]) -> Iterator[Passage]:
    """Yield those that do, in the order that they were asked for, as relevant as the hits that they complete.

    They are shown for their hits' sake, so that is what can be said of them.
    """
    there = {Place(one.document_id, one.chunk_index): one for one in neighbours}
    for place, hit in asked.items():
        neighbour = there.get(place)
        if neighbour is not None and _completes(hit, neighbour):
            yield neighbour._replace(relevance=hit.relevance)


def _steps(hit: Passage) -> Iterator[int]:
    """Yield -1 or 1 for a neighbour to fetch. Its best sentence is looked for only where it matters."""
    text = hit.content.strip()
    if text[:1].islower() or (_LEANS.match(text) and _best(hit) == 0):
        yield -1
    goes_on = _goes_on(_last_line(text)) or text.endswith((":", "："))
    if goes_on or (not _ENDED.search(text[-LOOK:]) and _best(hit) == len(hit.sentences) - 1):
        yield 1


def _best(hit: Passage) -> int | None:
    """Return which of its sentences answers best; None where none was scored."""
    values = [worth(one) + max(0.0, one.similarity or 0.0) for one in hit.sentences]
    return values.index(max(values)) if values else None


def _goes_on(line: str) -> bool:
    """Return whether a list or a table may go on after this line."""
    return bool(_kind(line))


def _completes(hit: Passage, neighbour: Passage) -> bool:
    """Return whether the neighbour belongs to the hit: more of its list, or anything after a colon."""
    if neighbour.chunk_index < hit.chunk_index:
        return True
    last_line = _last_line(hit.content.rstrip())
    if not _goes_on(last_line):
        return True
    fresh = max(0, hit.start_char + len(hit.content) - neighbour.start_char)
    first_line = neighbour.content[fresh:].strip().partition("\n")[0][:LOOK]
    return _kind(first_line) == _kind(last_line) or first_line[:1].islower()


def _kind(line: str) -> str:
    if _ITEM.match(line):
        return "item"
    return "row" if _ROW.search(line) else ""


def _last_line(text: str) -> str:
    return text[text.rfind("\n") + 1 :].lstrip()[:LOOK]


class ContextMaker:
    """budget: tokens of prompt and reply. window: of the chat model, None where it is large enough.

    floor: the least relevance of a passage that a chat model is shown when there is enough to ask it; None
    holds each passage to the question's threshold, as without a chat model. beside: who fetches the chunks
    beside a hit; sampling: those spread over a document; None for nobody.
    """

    def __init__(
        self,
        *,
        ruler: Ruler | None = None,
        budget: int = CONTEXT_TOKENS,
        window: int | None = None,
        floor: float | None = None,
        beside: Completing | None = None,
        sampling: Sampling | None = None,
    ) -> None:
        self._ruler = ruler or Ruler()
        self._budget, self._window, self._floor = budget, window, floor
        self._beside, self._sampling = beside, sampling

    def looks_further(self, question: Question, room: Room | None) -> bool:
        """Return whether passages may be shown that do not reach the threshold by themselves: who writes
        from them can tell what they are worth.
        """
        return room is not None and self._floor is not None and not question.strict_context

    async def context(
        self,
        question: Question,
        found: Retrieval,
        best: Sequence[Passage],
        room: Room | None,
        *,
        enough: bool,
    ) -> Context:
        """Make the context of the best passages, in their order, with what completes them; at most
        `top_k` passages, and none where there is not enough to answer.

        found: the candidates that they were chosen from. room: what a chat model needs besides; None where
        none is asked. enough: whether they are worth asking it.
        """
        limit = room_for_blocks(room, self._ruler, self._budget, self._window)
        if self._floor is None or not self.looks_further(question, room):
            shown = [passage for passage in best if passage.relevance >= question.min_relevance]
            if not question.strict_context:  # what completes a hit need not reach the threshold by itself
                shown = await self._completed(question, found, shown)
            return assemble(shown, limit, self._ruler)
        floor = min(self._floor, question.min_relevance)
        shown = [passage for passage in best if passage.relevance >= floor]
        if enough and not shown:
            shown = list(best[:SHOWN_BELOW_FLOOR])
        overview = overview_of(question.text, found.passages) if self._sampling else None
        if overview and (enough or _can_be_given(overview, question, shown)):
            passages = await self._over_the_document(question, found, shown, overview)
        else:
            passages = await self._completed(question, found, shown) if enough else []
        return assemble(passages, limit, self._ruler)

    async def _completed(
        self, question: Question, found: Retrieval, shown: Sequence[Passage]
    ) -> list[Passage]:
        """Return those that reach the threshold, the chunks that complete them, then the others: a budget
        that is small is theirs last.
        """
        hits = [passage for passage in shown if passage.relevance >= question.min_relevance]
        others = [passage for passage in shown if passage.relevance < question.min_relevance]
        neighbours = await self._neighbours(question, found, hits)
        return [*hits, *neighbours, *others][: question.top_k]

    async def _over_the_document(
        self, question: Question, found: Retrieval, shown: Sequence[Passage], overview: Overview
    ) -> list[Passage]:
        """Hits in the document, then chunks from its beginning to its end.

        Where nothing but an overview is asked for at most half are hits, and these reach the threshold;
        else a quarter is left for the other chunks.
        """
        top_k = question.top_k
        least, most = (question.min_relevance, top_k // 2) if overview.whole else (0.0, top_k - top_k // 4)
        hits = [one for one in shown if one.document_id == overview.document_id and one.relevance >= least]
        hits = hits[:most]
        relevance = max((one.relevance for one in hits or shown), default=0.0)
        sample: tuple[Passage, ...] = ()
        if self._sampling is not None:
            count = top_k - len(hits)
            sample = await self._sampling.sample(question, found, overview.document_id, count)
        return [*hits, *(one._replace(relevance=relevance) for one in by_halves(sample))]

    async def _neighbours(
        self, question: Question, found: Retrieval, hits: Sequence[Passage]
    ) -> list[Passage]:
        """Return the neighbours. Those that were candidates are known already; the others are one more
        statement.
        """
        spare = question.top_k - len(hits)
        asked = wanted(hits) if spare > 0 and self._beside is not None else {}
        if not asked:
            return []
        known = {Place(p.document_id, p.chunk_index): p for p in found.passages}
        there = [known[place] for place in asked if place in known]
        missing = [place for place in asked if place not in known]
        if missing and self._beside is not None:
            there += await self._beside.neighbours(question, found, missing)
        return list(find_completing(there, asked))[:spare]


def _can_be_given(overview: Overview, question: Question, shown: Sequence[Passage]) -> bool:
    """Return whether no passage has to reach the threshold by itself: where nothing else is asked for, or
    where the best passages of the document reach it together.
    """
    own = [passage for passage in shown if passage.document_id == overview.document_id]
    return overview.whole or together(own) >= question.min_relevance
