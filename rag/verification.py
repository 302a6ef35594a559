"""Check every stored citation again, by what the public API alone says of it."""

import asyncio
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from itertools import islice
from typing import Any, NamedTuple

from knowlex_client import Knowlex, NotFound, operations
from knowlex_client.models import PlatformChunk
from rag.citations import without_markers
from rag.evaluation.text_matching import squash
from rag.protocols import ClaimJudge
from rag.types.answer import Source
from rag.types.claims import Claim, Judgement
from rag.types.context import Block

PAGE_SIZE = 100
CACHED_DOCUMENTS = 2  # answers in a row often cite the same ones
CONTEXT_CHARS = 2000  # of the document around a chunk: the answer's context may have held them, too
_MARKERS = re.compile(r"[ \t]*[.,;:!?…。！？\"'”’»)\]*_]*(?:[ \t]*\[\d{1,4}\])+")
_TRAILING = re.compile(r"(?:[ \t]*\[\d{1,4}\])+")


class ChunkLocation(NamedTuple):
    """A chunk as the API shows it. pages: of its first and last page, None where there are none."""

    content: str
    start_char: int
    pages: tuple[int | None, int | None]


class StoredDocument(NamedTuple):
    """text: None if the API does not show it. page_ends: offsets into it, [] where they are not known."""

    language: str
    text: str | None
    page_ends: Sequence[int]
    chunks: Mapping[str, ChunkLocation]


class AnswerLibrary:
    """Reads past answers and the documents that they cite from a server. Each method raises KnowlexError."""

    def __init__(self, client: Knowlex) -> None:
        self._client = client
        self._documents: dict[str, StoredDocument | None] = {}

    def answers(self, since: datetime | None, limit: int | None) -> Iterator[dict[str, Any]]:
        """Yield each answered query in full, as JSON has it, newest first, at most `limit`."""
        summaries = self._client.each(
            operations.list_queries,
            lambda page: page.queries,
            answered=True,
            limit=min(PAGE_SIZE, limit or PAGE_SIZE),
            since=since,
        )
        for summary in islice(summaries, limit):
            with suppress(NotFound):  # it may have been deleted meanwhile
                yield self._client.call(operations.get_query, query_id=summary.query_id).model_dump(
                    mode="json"
                )

    def document(self, document_id: str) -> StoredDocument | None:
        """Return a document with its chunks; None if it is not there any more."""
        if document_id not in self._documents:
            if len(self._documents) >= CACHED_DOCUMENTS:
                del self._documents[next(iter(self._documents))]
            try:
                self._documents[document_id] = self._load_document(document_id)
            except NotFound:
                self._documents[document_id] = None
        return self._documents[document_id]

    def _load_document(self, document_id: str) -> StoredDocument:
        document = self._client.document(document_id)
        text = document.content
        ends = (
            compute_page_ends(text, [page.characters for page in self._client.pages(document_id)])
            if text
            else []
        )
        chunks = self._client.each(
            operations.list_platform_chunks,
            lambda page: page.chunks,
            document_id=document_id,
            limit=PAGE_SIZE,
        )
        locations = {str(chunk.id): _locate_chunk(chunk) for chunk in chunks}
        return StoredDocument(document.language or "", text, ends, locations)


def _locate_chunk(chunk: PlatformChunk) -> ChunkLocation:
    position = chunk.position
    return ChunkLocation(chunk.content, position.start_char, (position.page_number, position.last_page))


def compute_page_ends(text: str, characters: Sequence[int]) -> list[int]:
    """Return where each page ends in the document's text; [] where the pages do not add up to it."""
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


def check_citations(
    library: AnswerLibrary,
    judge: ClaimJudge,
    counts: Counter[str],
    *,
    since: datetime | None,
    limit: int | None,
) -> Iterator[str]:
    """Yield a line for each fault, as it is found. Raises KnowlexError.

    counts: is updated along the way: `answers`, `citations`, `faults`, `contradicted`, the states of support,
    `gone` documents, and `replaced` ones, whose former versions the API does not show any more.
    """
    for answer in library.answers(since, limit):
        counts["answers"] += 1
        for citation in answer["citations"]:
            counts["citations"] += 1
            for fault in _check_citation(library, judge, counts, answer, citation):
                counts["faults"] += 1
                yield f"{answer['query_id']} [{citation['citation_index']}]: {fault}"
        for claim in answer["contradicted"]:
            counts["contradicted"] += 1
            if extract_claim(claim, answer["answer"]) != claim["text"]:
                counts["faults"] += 1
                yield f"{answer['query_id']}: a contradicted claim does not stand where it is said to"


def _check_citation(
    library: AnswerLibrary,
    judge: ClaimJudge,
    counts: Counter[str],
    answer: Mapping[str, Any],
    citation: Mapping[str, Any],
) -> list[str]:
    if citation["status"] == "gone":
        counts["gone"] += 1
        shown = [name for name in ("title", "quoted_text") if citation[name] is not None]
        return [f"its document is gone, but {name} is shown" for name in shown]
    if citation["status"] == "replaced":
        counts["replaced"] += 1
        return []
    document = library.document(citation["document_id"])
    chunk = document.chunks.get(citation["chunk_id"]) if document else None
    if document is None or chunk is None:
        return ["its chunk is not there, though its document is not said to be gone"]
    if answer["answer"] is None:  # emptied, since another document that it cites is gone
        counts["gone"] += 1
        return []
    counts[citation["support"]] += 1
    judgement = None
    if citation["support"] == "supported":
        judgement = asyncio.run(_judge_claim(judge, citation, answer["answer"], document, chunk))
    return [
        *_check_quote(citation, document, chunk),
        *_check_page(citation, document, chunk),
        *_check_claim(citation, answer["answer"], judgement),
    ]


async def _judge_claim(
    judge: ClaimJudge,
    citation: Mapping[str, Any],
    answer: str,
    document: StoredDocument,
    chunk: ChunkLocation,
) -> Judgement:
    """Judge a claim by its chunk and the text around it; the stored quote counts as the model's own."""
    text = chunk.content
    if document.text is not None:
        end = chunk.start_char + len(chunk.content)
        text = document.text[max(0, chunk.start_char - CONTEXT_CHARS) : end + CONTEXT_CHARS]
    claim = Claim(extract_claim(citation, answer), (1,), (Source(1, citation["quoted_text"] or ""),))
    return await judge.judge(claim, [Block(text, (), document.language)])


def extract_claim(span: Mapping[str, Any], answer: str) -> str:
    """Return the words of a claim. span: a citation, or a claim that is contradicted."""
    return without_markers(answer[span["answer_start"] : span["answer_end"]]).strip()


def _check_quote(
    citation: Mapping[str, Any], document: StoredDocument, chunk: ChunkLocation
) -> Iterator[str]:
    quote, start, end = citation["quoted_text"], citation["start_char"], citation["end_char"]
    if not quote or quote not in chunk.content:
        yield "the quote does not stand in the chunk"
    elif chunk.content[start - chunk.start_char : end - chunk.start_char] != quote:
        yield "start_char and end_char do not lead to the quote in the chunk"
    elif document.text is not None and document.text[start:end] != quote:
        yield "start_char and end_char do not lead to the quote in the document's text"


def _check_page(citation: Mapping[str, Any], document: StoredDocument, chunk: ChunkLocation) -> Iterator[str]:
    page, (first, last) = citation["page_number"], chunk.pages
    last = last or first
    if first is None or last is None or page is None:
        if page != first:
            yield f"page_number is {page}, and that of the chunk {first}"
    elif not first <= page <= last:
        yield f"page_number is {page}, and the chunk stands on {first} to {last}"
    elif document.page_ends and not _lies_on(page, citation, document.page_ends):
        yield f"page_number is {page}, where the quote does not stand"


def _lies_on(page: int, citation: Mapping[str, Any], page_ends: Sequence[int]) -> bool:
    begin = 0 if page == 1 else page_ends[page - 2]
    return (
        page <= len(page_ends)
        and citation["start_char"] < page_ends[page - 1]
        and begin < citation["end_char"]
    )


def _check_claim(citation: Mapping[str, Any], answer: str, judgement: Judgement | None) -> Iterator[str]:
    start, end = citation["answer_start"], citation["answer_end"]
    claim = extract_claim(citation, answer)
    if not 0 <= start < end <= len(answer) or not claim:
        yield "answer_start and answer_end hold no claim"
        return
    marker = f"[{citation['citation_index']}]"
    after = _MARKERS.match(answer, end) or _TRAILING.match(answer, end)
    if marker not in answer[start:end] and marker not in (after[0] if after else ""):
        yield f"the claim does not carry its marker {marker}"
    if citation["support"] == "exact" and squash(claim) not in squash(citation["quoted_text"]):
        yield "the quote does not hold the claim word for word"
    if judgement is not None and not judgement.is_verified:
        yield "the chunk does not support the claim"
