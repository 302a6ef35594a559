"""What a client sees of each claim of a reply: whether it is shown, with which markers, and how judged."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.reply_set import LIST_SIGN, MARKER, Claim, numbers_in, share_of, squeezed

WORST_FIRST = ("contradicted", "unverified", "supported", "exact")
STATES = ("exact", "supported", "unverified", "contradicted", "uncited", "moved", "not shown")
VERIFIED = ("exact", "supported")


@dataclass(frozen=True, slots=True)
class Shown:
    """Of one claim. state: one of STATES, the worst of what its citations say.

    `uncited`: it has none. `moved`: a claim that names a wrong block has citations of others only.
    `not shown`: its text is gone.
    kept: markers at the claim that name a block that the claim named. moved: those that name another.
    """

    state: str
    kept: int
    moved: int


@dataclass(frozen=True, slots=True)
class Flat:
    """An answer without white space and markers. places: of each character, in the answer.

    marks: (how many characters stand before it, number).
    """

    text: str
    places: tuple[int, ...]
    marks: tuple[tuple[int, int], ...]

    @classmethod
    def of(cls, answer: str) -> "Flat":
        places: list[int] = []
        marks: list[tuple[int, int]] = []
        at = 0
        for marker in [*MARKER.finditer(answer), None]:
            end = marker.start() if marker else len(answer)
            places += [place for place in range(at, end) if not answer[place].isspace()]
            if marker:
                marks += [(len(places), number) for number in numbers_in(marker[0])]
                at = marker.end()
        return cls("".join(answer[place] for place in places), tuple(places), tuple(marks))


class Seen:
    """One response, and the blocks of the prompt that its citations come from.

    chunks: text by id. blocks: of the prompt, text by number.
    """

    def __init__(
        self, response: Mapping[str, Any], chunks: Mapping[str, str], blocks: Mapping[int, str]
    ) -> None:
        self._answer = str(response.get("answer") or "")
        self.flat = Flat.of(self._answer)
        self.withheld = bool(response.get("reason"))
        self.citations: Sequence[Mapping[str, Any]] = response.get("citations") or []
        self._contradicted: Sequence[Mapping[str, Any]] = response.get("contradicted") or []
        self._chunks = chunks
        ids = {one.get("citation_index"): one.get("chunk_id") for one in self.citations}
        ids |= {one.get("citation_index"): one.get("chunk_id") for one in response.get("sources") or []}
        self._block_of = {index: _block(chunks.get(str(id_), ""), blocks) for index, id_ in ids.items()}

    def nameless(self) -> int:
        """Markers that name no source."""
        return sum(number not in self._block_of for _, number in self.flat.marks)

    def inexact(self) -> int:
        """Quotes that do not stand in their chunk as they are."""
        quoted = [
            (str(one["quoted_text"]), str(one.get("chunk_id")))
            for one in self.citations
            if one.get("quoted_text")
        ]
        return sum(quote not in self._chunks.get(chunk_id, "") for quote, chunk_id in quoted)

    def quotes(self) -> int:
        return sum(bool(one.get("quoted_text")) for one in self.citations)

    def claim(self, claim: Claim, mapping: Mapping[int, int]) -> Shown:
        named = {mapping[number] for number in claim.markers if number in mapping}
        span = None if self.withheld else self._span(claim)
        if self._is_contradicted(claim, span):
            return Shown("contradicted", 0, 0)
        if span is None:
            return Shown("not shown", 0, 0)
        numbers = self._marks_at(span)
        kept = sum(self._block_of.get(number) in named for number in numbers)
        states = self._states(span, named if claim.kind == "wrong_block" else None)
        if not states:
            moved = claim.kind == "wrong_block" and len(numbers) > kept
            return Shown("moved" if moved else "uncited", kept, len(numbers) - kept)
        worst = next((state for state in WORST_FIRST if state in states), "uncited")
        return Shown(worst, kept, len(numbers) - kept)

    def _span(self, claim: Claim) -> tuple[int, int] | None:
        """Where the claim's words stand in the flat text, without the list sign and the last mark."""
        words = Flat.of(LIST_SIGN.sub("", claim.text)).text.rstrip(".;:,")
        start = self.flat.text.find(words)
        return (start, start + len(words)) if start >= 0 else None

    def _marks_at(self, span: tuple[int, int]) -> list[int]:
        start, end = span
        after = end
        while after < len(self.flat.text) and self.flat.text[after] in ".;:,":
            after += 1
        return [number for at, number in self.flat.marks if start < at <= after]

    def _states(self, span: tuple[int, int], only: set[int] | None) -> set[str]:
        start, end = self.flat.places[span[0]], self.flat.places[span[1] - 1] + 1
        return {
            str(one.get("support") or "?")
            for one in self.citations
            if _overlap(one, start, end)
            and (only is None or self._block_of.get(one.get("citation_index")) in only)
        }

    def _is_contradicted(self, claim: Claim, span: tuple[int, int] | None) -> bool:
        said = squeezed(MARKER.sub("", LIST_SIGN.sub("", claim.text)))
        for one in self._contradicted:
            if span is not None and one.get("answer_start") is not None:
                if _overlap(one, self.flat.places[span[0]], self.flat.places[span[1] - 1] + 1):
                    return True
                continue
            text = squeezed(MARKER.sub("", str(one.get("text") or "")))
            if text and (text in said or said in text):
                return True
        return False


def _overlap(one: Mapping[str, Any], start: int, end: int) -> bool:
    """Whether the two stretches of the answer share most of the shorter."""
    own_start, own_end = one.get("answer_start"), one.get("answer_end")
    if own_start is None or own_end is None:
        return False
    shared = min(end, own_end) - max(start, own_start)
    return bool(shared * 2 > min(end - start, own_end - own_start))


def _block(chunk: str, blocks: Mapping[int, str]) -> int | None:
    """The block that shows the chunk."""
    if not chunk:
        return None
    flat = squeezed(chunk)
    for number, text in blocks.items():
        if flat in squeezed(text):
            return number
    return max(((share_of(chunk, text), number) for number, text in blocks.items()), default=(0.0, None))[1]
