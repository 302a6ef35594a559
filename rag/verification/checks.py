"""Every stored citation checked again, through the public API alone."""

import asyncio
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from rag.protocols import ClaimJudge
from rag.types.answer import Source
from rag.types.claims import Claim, Judgement
from rag.types.context import Block
from rag.verification.faults import ChunkLocation, extract_claim, find_faults
from rag.verification.library import AnswerLibrary

AROUND = 2000  # characters of the document on each side of a chunk: its context may have had them, too


@dataclass(slots=True)
class CheckCounts:
    """replaced: of former versions of a document, which the API does not show any more."""

    answers: int = 0
    citations: int = 0
    exact: int = 0
    supported: int = 0
    unverified: int = 0
    contradicted: int = 0
    gone: int = 0
    replaced: int = 0
    faults: int = 0


def check_citations(
    library: AnswerLibrary,
    judge: ClaimJudge,
    tally: CheckCounts,
    *,
    since: datetime | None,
    limit: int | None,
) -> Iterator[str]:
    """A line for each fault, as it is found; `tally` counts along. Raises ServerFailed."""
    for answer in library.answers(since, limit):
        tally.answers += 1
        for citation in answer["citations"]:
            tally.citations += 1
            for fault in _check_citation(library, judge, tally, answer, citation):
                tally.faults += 1
                yield f"{answer['query_id']} [{citation['citation_index']}]: {fault}"
        for claim in answer["contradicted"]:
            tally.contradicted += 1
            if extract_claim(claim, answer["answer"]) != claim["text"]:
                tally.faults += 1
                yield f"{answer['query_id']}: a contradicted claim does not stand where it is said to"


def _check_citation(
    library: AnswerLibrary,
    judge: ClaimJudge,
    tally: CheckCounts,
    answer: Mapping[str, Any],
    citation: Mapping[str, Any],
) -> list[str]:
    if citation["status"] == "gone":
        tally.gone += 1
        shown = [name for name in ("title", "quoted_text") if citation[name] is not None]
        return [f"its document is gone, but {name} is shown" for name in shown]
    if citation["status"] == "replaced":
        tally.replaced += 1
        return []
    place = library.place(citation["chunk_id"], citation["document_id"])
    if place is None:
        return ["its chunk is not there, though its document is not said to be gone"]
    if answer["answer"] is None:  # emptied, since another document that it cites is gone
        tally.gone += 1
        return []
    support = citation["support"]
    setattr(tally, support, getattr(tally, support) + 1)
    judgement = None
    if support == "supported":
        language = library.language(citation["document_id"])
        judgement = asyncio.run(_judge_claim(judge, citation, answer["answer"], place, language))
    return find_faults(citation, answer["answer"], place, judgement)


async def _judge_claim(
    judge: ClaimJudge, citation: Mapping[str, Any], answer: str, place: ChunkLocation, language: str
) -> Judgement:
    """Of the chunk with what stands around it, where its stored quote is taken for the model's own."""
    text = place.content
    if place.text is not None:
        end = place.start_char + len(place.content)
        text = place.text[max(0, place.start_char - AROUND) : end + AROUND]
    claim = Claim(extract_claim(citation, answer), (1,), (Source(1, citation["quoted_text"] or ""),))
    return await judge.judge(claim, [Block(text, (), language)])
