"""A model's `[document_name, page X]` as the `[n]` that the checker reads, and back. Plain Python.

Models write them in many forms: "p.5", "pp. 5-6", "section Y", "§ 2", several in one bracket, in other
brackets, with the name in other case or without its extension. What names nothing that was retrieved is taken
out. All is linear in the reply.
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from rag.service.names import Known, Named
from rag.service.places import Place
from rag.types.context import Context
from rag.types.retrieval import Passage

_SPACE = r"(?P<space>[ \t]{0,4})"
_SQUARE = r"\\?[\[【［〔](?P<square>[^\[\]【】［］〔〕]{1,400})[\]】］〕]"
_ROUND = r"[(（](?P<round>[^()（）\[\]]{1,400})[)）]"
_BRACKETS = re.compile(rf"{_SPACE}(?:{_SQUARE}|{_ROUND})(?P<colon>[ \t]*[:：](?=\s))?")
_NUMBERS = re.compile(r"[\s\d,;&–—-]+|\^\d+")  # which the checker reads itself
_RUN = re.compile(r"\[\d{1,4}\](?:[ \t]?\[\d{1,4}\])*")
_NUMBER = re.compile(r"\d+")
_ATTRIBUTED = (  # "According to manual.pdf, page 5, ...", "Source: manual.pdf (p. 5)"
    r"(?P<by>\b(?:according to|as (?:stated|mentioned|described|noted|shown) in|as per|based on|from|see"
    r"|sources?:|references?:|citations?:)\s(?:the\s)?)(?P<name>%s)"
    r"(?:,\s|\s\(|\s)(?P<page>(?:pages?|pp?)\b\.?\s?\d{1,6}(?:\s?[-–]\s?\d{1,6})?)\)?"
)
_LINE_BEGINS = re.compile(r"(?:\A|\n)[ \t>*•-]*\Z")


class Spread(NamedTuple):
    """Where a block comes from: its places, and the last page of each, None without pages."""

    places: tuple[Place, ...]
    last_pages: tuple[int | None, ...]

    def lies_in(self, named: Named) -> bool:
        return any(named.fits(*where) for where in zip(self.places, self.last_pages, strict=True))


class Markers:
    """Of one question's context."""

    def __init__(self, context: Context) -> None:
        blocks = ([context.passages[part.passage] for part in block.parts] for block in context.blocks)
        self._blocks = [_spread(passages) for passages in blocks]
        self._known = Known(place for block in self._blocks for place in block.places)
        names = {place.document for block in self._blocks for place in block.places}
        longest_first = sorted(names, key=len, reverse=True)
        self._attributed = re.compile(_ATTRIBUTED % "|".join(map(re.escape, longest_first)), re.IGNORECASE)

    def numbered(self, reply: str) -> str:
        """The reply with `[n]`, n being the number of a block, for every marker that names blocks."""
        return self._attributed.sub(self._unbracketed, _BRACKETS.sub(self._replaced, reply))

    def _unbracketed(self, found: re.Match[str]) -> str:
        """For a document and a page that stand without brackets behind words that name a source."""
        named = self._known.named_in(f"{found['name']}, {found['page']}")
        numbers = dict.fromkeys(number for one in named for number in self._numbers(one))
        return found["by"] + "".join(f"[{n}]" for n in numbers) if numbers else found[0]

    def _replaced(self, found: re.Match[str]) -> str:
        inside, colon = found["square"] or found["round"], found["colon"] or ""
        if _NUMBERS.fullmatch(inside):
            return found[0]
        named = self._known.named_in(inside)
        if not named or (found["round"] and not all(one.document for one in named)):
            return found[0]
        numbers = dict.fromkeys(number for one in named for number in self._numbers(one))
        if colon and _LINE_BEGINS.search(found.string, max(0, found.start() - 20), found.start()):
            colon = ""  # "[manual.pdf, page 5]: All personnel ..." is how the prompt writes its sources
        return (found["space"] + "".join(f"[{n}]" for n in numbers) if numbers else "") + colon

    def _numbers(self, named: Named) -> Iterator[int]:
        return (n for n, block in enumerate(self._blocks, start=1) if block.lies_in(named))


def _spread(passages: Sequence[Passage]) -> Spread:
    return Spread(
        tuple(map(Place.of, passages)),
        tuple(passage.last_page or passage.page_number for passage in passages),
    )


def written_out(text: str, passages: Sequence[Passage]) -> str:
    """A checked answer with the marker of its passage (1-based) for each `[n]`, none twice in a row."""

    def markers(run: re.Match[str]) -> str:
        numbers = (int(number) for number in _NUMBER.findall(run[0]))
        return " ".join(dict.fromkeys(Place.of(passages[n - 1]).marker for n in numbers))

    return _RUN.sub(markers, text)
