"""Which hits are cut off, and whether the chunk beside one completes it. Plain Python."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from rag.ranking.sentences import worth
from rag.types.context import Place
from rag.types.retrieval import Passage

MOST = 4  # chunks fetched for one question
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
    """The places of chunks that may complete a hit, each with the best such hit; at most MOST."""
    held = {Place(hit.document_id, hit.chunk_index) for hit in hits}
    found: dict[Place, Passage] = {}
    for hit in hits:
        for step in _steps(hit):
            place = Place(hit.document_id, hit.chunk_index + step)
            if place.chunk_index >= 0 and place not in held and len(found) < MOST:
                found.setdefault(place, hit)
    return found


def completing(neighbours: Sequence[Passage], asked: Mapping[Place, Passage]) -> Iterator[Passage]:
    """Those that do, in the order that they were asked for, as relevant as the hits that they complete.

    They are shown for their hits' sake, so that is what can be said of them.
    """
    there = {Place(one.document_id, one.chunk_index): one for one in neighbours}
    for place, hit in asked.items():
        neighbour = there.get(place)
        if neighbour is not None and _completes(hit, neighbour):
            yield replace(neighbour, relevance=hit.relevance)


def _steps(hit: Passage) -> Iterator[int]:
    """Which of its sentences is the best is asked only where it matters."""
    text = hit.content.strip()
    if text[:1].islower() or (_LEANS.match(text) and _best(hit) == 0):
        yield -1
    goes_on = _goes_on(_last_line(text)) or text.endswith((":", "："))
    if goes_on or (not _ENDED.search(text[-LOOK:]) and _best(hit) == len(hit.sentences) - 1):
        yield 1


def _best(hit: Passage) -> int | None:
    """Which of its sentences answers best; None where none was scored."""
    values = [worth(one) + max(0.0, one.similarity or 0.0) for one in hit.sentences]
    return values.index(max(values)) if values else None


def _goes_on(line: str) -> bool:
    """Whether a list or a table may go on after this line."""
    return bool(_kind(line))


def _completes(hit: Passage, neighbour: Passage) -> bool:
    """After a list comes more of the list; anything after a colon or half a sentence belongs to it."""
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
