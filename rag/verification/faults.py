"""What is wrong with a stored citation, judged by what the public API says of its chunk. Plain Python."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from rag.citations import without_markers
from rag.evaluation.text_matching import squash
from rag.types.claims import Judgement

_MARKERS = re.compile(r"[ \t]*[.,;:!?…。！？\"'”’»)\]*_]*(?:[ \t]*\[\d{1,4}\])+")
_TRAILING = re.compile(r"(?:[ \t]*\[\d{1,4}\])+")


class ChunkLocation(NamedTuple):
    """Where a chunk lies. text: of its document, None if the API does not show it. ends: of its pages."""

    content: str
    start_char: int
    page_number: int | None
    last_page: int | None
    text: str | None = None
    ends: Sequence[int] = ()


def extract_claim(told: Mapping[str, Any], answer: str) -> str:
    """told: a citation, or a claim that is contradicted."""
    return without_markers(answer[told["answer_start"] : told["answer_end"]]).strip()


def find_faults(
    citation: Mapping[str, Any], answer: str, place: ChunkLocation, judgement: Judgement | None = None
) -> list[str]:
    """In words; [] where all is right. judgement: of the claim and the chunk, if that is `supported`."""
    return [
        *_check_quote(citation, place),
        *_check_page(citation, place),
        *_check_claim(citation, answer, judgement),
    ]


def compute_page_ends(text: str, characters: Sequence[int]) -> list[int]:
    """Where each page ends in the document's text; [] where the pages do not add up to it."""
    gaps, left = len(characters) - 1, len(text) - sum(characters)
    if left < 0 or (gaps <= 0 and left) or (gaps > 0 and left % gaps):
        return []
    gap = left // gaps if gaps > 0 else 0
    ends: list[int] = []
    end = 0
    for count in characters:
        end += count + (gap if ends else 0)
        ends.append(end)
    return ends


def _check_quote(citation: Mapping[str, Any], place: ChunkLocation) -> Iterator[str]:
    quote, start, end = citation["quoted_text"], citation["start_char"], citation["end_char"]
    if not quote or quote not in place.content:
        yield "the quote does not stand in the chunk"
    elif place.content[start - place.start_char : end - place.start_char] != quote:
        yield "start_char and end_char do not lead to the quote in the chunk"
    elif place.text is not None and place.text[start:end] != quote:
        yield "start_char and end_char do not lead to the quote in the document's text"


def _check_page(citation: Mapping[str, Any], place: ChunkLocation) -> Iterator[str]:
    page = citation["page_number"]
    first, last = place.page_number, place.last_page or place.page_number
    if first is None or last is None or page is None:
        if page != first:
            yield f"page_number is {page}, and that of the chunk {first}"
    elif not first <= page <= last:
        yield f"page_number is {page}, and the chunk stands on {first} to {last}"
    elif place.ends and not _lies_on(page, citation["start_char"], citation["end_char"], place.ends):
        yield f"page_number is {page}, where the quote does not stand"


def _lies_on(page: int, start: int, end: int, ends: Sequence[int]) -> bool:
    begins = 0 if page == 1 else ends[page - 2]
    return page <= len(ends) and start < ends[page - 1] and begins < end


def _check_claim(citation: Mapping[str, Any], answer: str, judgement: Judgement | None) -> Iterator[str]:
    start, end = citation["answer_start"], citation["answer_end"]
    if not 0 <= start < end <= len(answer) or not extract_claim(citation, answer):
        yield "answer_start and answer_end hold no claim"
        return
    marker = f"[{citation['citation_index']}]"
    after = _MARKERS.match(answer, end) or _TRAILING.match(answer, end)
    if marker not in answer[start:end] and marker not in (after[0] if after else ""):
        yield f"the claim does not carry its marker {marker}"
    if citation["support"] == "exact" and not _contains_claim(
        extract_claim(citation, answer), citation["quoted_text"]
    ):
        yield "the quote does not hold the claim word for word"
    if judgement is not None and not judgement.is_verified:
        yield "the chunk does not support the claim"


def _contains_claim(claim: str, quote: str) -> bool:
    """Whatever the line breaks, hyphens and punctuation."""
    return squash(claim) in squash(quote)
