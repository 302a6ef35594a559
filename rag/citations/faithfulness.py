"""How much of an answer its passages support. Plain Python, pure."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from documents.sentences import sentence_spans
from rag.citations.agreement import stems_of, words_in
from rag.citations.facts import table
from rag.citations.markers import without_markers
from rag.citations.types import Claim
from rag.protocols import ClaimJudge
from rag.types import Block

MOST_CHARS = 20_000  # of an answer that are read
_MARKER_AFTER = re.compile(r"([.!?。！？])((?:[ \t]*\[\d{1,4}\])+)")
_SAYS_NOTHING = frozenset(table("sentence_openers"))  # by themselves: "Yes."
_LABEL = re.compile(r"[^:]{0,60}:\s*")  # "The reasons are:" claims nothing by itself


class Faithfulness(NamedTuple):
    """share: [0, 1], of the claims that a block supports; None for an answer that claims nothing."""

    share: float | None
    claims: int
    unsupported: tuple[str, ...] = ()


async def faithfulness(answer: str, blocks: Sequence[Block], judge: ClaimJudge) -> Faithfulness:
    """answer: with or without markers. A claim is a sentence that names, counts or says something.

    Whatever its marker names, a claim counts as supported if one of the blocks supports it. Raises what the
    judge does.
    """
    claims = list(claims_in(answer, blocks[0].language if blocks else ""))
    unsupported = [claim for claim in claims if not (await judge.judge(Claim(claim), blocks)).is_verified]
    share = 1 - len(unsupported) / len(claims) if claims else None
    return Faithfulness(share, len(claims), tuple(unsupported))


def claims_in(answer: str, language: str = "") -> Iterator[str]:
    """Sentences and list items with content, without markers."""
    text = _MARKER_AFTER.sub(r"\2\1", answer[:MOST_CHARS])  # "so it is. [1]" is one sentence
    for start, end in sentence_spans(text):
        claim = without_markers(text[start:end]).strip()
        says = stems_of(claim, language) and not words_in(claim) <= _SAYS_NOTHING
        if says and not _LABEL.fullmatch(claim):
            yield claim
