"""Reads a reply as the model writes it: its text with the markers that stay, and how each claim was checked.

Text is shown as it comes; only what may become a marker waits until its sentence is whole, and the beginning
of a reply that may be a refusal. Plain Python.
"""

import asyncio
import re
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from rag.citations.claims import ParsedSentence, ReferenceList, Span, is_label, parse_sentence
from rag.citations.folding import find_quote
from rag.citations.judge import WordJudge
from rag.citations.markers import shown_length
from rag.citations.refusals import could_refuse, declines, goes_on, refuses
from rag.citations.sentences import ReplySentence, Segmenter
from rag.prompts import NOT_FOUND
from rag.protocols import ClaimJudge
from rag.types.answer import Citation, Contradiction, Reason, Source, Sources, Synthesis, Verification
from rag.types.claims import BEST_FIRST, Claim, Finding, Judgement
from rag.types.context import Context

MAX_BLOCKING_S = 0.02  # of work on the event loop, until others have a turn
REFUSAL_CHARS = 80  # of a reply's beginning tell whether it may be a refusal
CLAIM_WORDS = 3  # a sentence with fewer, or without letters, claims nothing
_WORD = re.compile(r"\w+")


class CheckedReply(NamedTuple):
    """The result of reading a reply.

    rest: what `feed` has not let through yet. text: all of it, "" where there is a reason. cited: distinct
    passages in order of first citation. unmarked: it says something, and no marker of it names a block.
    """

    rest: str
    text: str
    cited: tuple[int, ...] = ()
    citations: tuple[Citation, ...] = ()
    reason: Reason | None = None
    contradicted: tuple[Contradiction, ...] = ()
    verification: Verification = Verification()
    unmarked: bool = False


@dataclass(slots=True)
class _Sentence:
    """A sentence of the answer. marked: it has a marker, or lost one since it is contradicted."""

    span: Span
    text: str
    claims: bool
    marked: bool


class Checker:
    """Reads and checks one reply. However the reply is cut into pieces, the text is the same.

    question: what the reply answers. strict: only claims that were verified keep their markers.
    """

    def __init__(
        self, context: Context, judge: ClaimJudge | None = None, *, question: str = "", strict: bool = False
    ) -> None:
        self._context, self._judge, self._strict = context, judge or WordJudge(), strict
        names = {name: None for p in context.passages for name in (p.document_name, p.title)}
        self._question, self._given = question, "\n".join(names)
        self._segments, self._listing = Segmenter(), ReferenceList(len(context.blocks))
        self._parts: list[str] = []
        self._beginning = ""  # of the answer, as far as it tells a refusal
        self._length = self._shown = self._claim_start = 0
        self._sentences: list[_Sentence] = []
        self._leading: tuple[int, ...] = ()  # blocks that were named before anything was said
        self._citations: dict[Citation, None] = {}  # in their order, each once
        self._contradicted: dict[Contradiction, None] = {}
        self._named = self._answers = False
        self._refused = self._refuses = self._declined = False
        self._turn = time.perf_counter()

    async def feed(self, piece: str) -> str:
        """Take a piece of the reply; return what can be shown now, with markers as `[n]` into
        `context.passages`.
        """
        for sentence in self._segments.feed(piece):
            await self._add(sentence)
        return self._take_showable(self._segments.rest)

    async def close(self, sources: Sources) -> str:
        """End a claim of a structured reply; return what can be shown now, its markers included."""
        for sentence in self._segments.flush():
            await self._add(sentence)
        text = self._text_since(self._claim_start)
        start = self._claim_start + len(text) - len(text.lstrip())
        text = text.strip()
        marked = any(
            sentence.marked for sentence in self._sentences if sentence.span.start >= start
        )  # by the model itself
        if _WORD.search(text) and not (marked or self._declined or self._only_refuses(text)):
            numbers = tuple(dict.fromkeys(source.block for source in sources.sources))
            span = Span(start, start + len(text))
            markers = await self._cite(text, span, self._valid_numbers(numbers), sources.sources)
            self._append(f" {markers}" if markers else "")
        self._append(sources.ending)
        self._claim_start = self._length
        return self._take_showable("")

    async def finish(self) -> CheckedReply:
        for sentence in self._segments.finish():
            await self._add(sentence)
        if self._sentences and self._listing.numbers and not (self._citations or self._contradicted):
            await self._cite_last(tuple(self._listing.numbers))
        return self._conclude()

    async def whole(self, synthesis: Synthesis) -> CheckedReply:
        """Read a whole reply, as `feed`, `close` and `finish` do."""
        for piece in synthesis.pieces or (synthesis.text,):
            await (self.close(piece) if isinstance(piece, Sources) else self.feed(piece))
        return await self.finish()

    def _conclude(self) -> CheckedReply:
        text = self._text_since(0).rstrip()
        refused = self._refused or (self._refuses and not self._sentences)  # and nothing else
        if self._declined or (refused and not self._citations and not self._contradicted):
            return CheckedReply("", "", reason="model_declined")
        if not self._citations:
            unmarked = not self._named and _WORD.search(text) is not None
            return CheckedReply("", "", reason="not_supported", unmarked=unmarked)
        cited = dict.fromkeys(citation.passage for citation in self._citations)
        return CheckedReply(
            text[self._shown :],
            text,
            tuple(cited),
            tuple(self._citations),
            contradicted=tuple(self._contradicted),
            verification=self._verification(),
        )

    def _verification(self) -> Verification:
        best: dict[Span, int] = {}
        for citation in self._citations:
            span = Span(citation.answer_start, citation.answer_end)
            best[span] = min(best.get(span, len(BEST_FIRST)), BEST_FIRST.index(citation.support))
        states = [BEST_FIRST[place] for place in best.values()]
        return Verification(
            exact=states.count("exact"),
            supported=states.count("supported"),
            unverified=states.count("unverified"),
            contradicted=len(self._contradicted),
            uncited=sum(citation.claims and not citation.marked for citation in self._sentences),
        )

    async def _add(self, sentence: ReplySentence) -> None:
        """Append the next whole sentence to the answer."""
        if time.perf_counter() - self._turn > MAX_BLOCKING_S:
            await asyncio.sleep(0)
            self._turn = time.perf_counter()
        if self._declined or self._listing.takes(sentence.text):
            return
        text = sentence.text if self._length else sentence.text.lstrip()
        reading = parse_sentence(
            text, len(self._context.blocks), self._stands_in_passages, leads=not sentence.continued
        )
        if is_label(reading.text) and reading.markers:
            await self._add_lone_markers(reading)
        elif reading.says:
            await self._say(reading)
        else:
            self._append(reading.text)

    async def _say(self, reading: ParsedSentence) -> None:
        if self._only_refuses(reading.text) if reading.markers else refuses(reading.text):
            self._declined = not self._sentences and reading.text.strip().startswith(NOT_FOUND)
            self._refused = self._refused or (not self._sentences and declines(reading.text))
            self._refuses = self._refuses or not goes_on(reading.text)
            self._append("" if self._declined else reading.with_markers([""] * len(reading.markers))[0])
            return
        if self._leading:
            reading, self._leading = reading.led_by(self._leading), ()
        spans = [reading.claim(index) for index in range(len(reading.markers))]
        judged = [
            await self._judgement(reading.text[slice(*span)], marker.numbers, ()) if span else Judgement()
            for marker, span in zip(reading.markers, spans, strict=True)
        ]
        written = [
            f"{marker.space if marker.at else ''}{markers}"
            if (markers := self._markers(judgement.findings))
            else ""
            for marker, judgement in zip(reading.markers, judged, strict=True)
        ]
        text, inserted = reading.with_markers(written)
        for span, judgement in zip(spans, judged, strict=True):
            if span:
                self._record(_shift_span(span, inserted, self._length), judgement)
        if reading.whole:
            span, marked = _shift_span(reading.whole, inserted, self._length), any(map(_is_decisive, judged))
            claimed = text[span.start - self._length : span.end - self._length]
            self._sentences.append(_Sentence(span, claimed, _is_claim(reading.text), marked))
            self._answers = True
        self._append(text)

    async def _add_lone_markers(self, reading: ParsedSentence) -> None:
        """Put markers that stand alone, or behind the full stop, behind the sentence before them."""
        numbers = tuple(dict.fromkeys(n for marker in reading.markers for n in marker.numbers))
        if not self._sentences:
            self._leading += numbers
        elif not await self._cite_last(numbers) and not any(marker.sure for marker in reading.markers):
            self._append(reading.written)

    async def _cite_last(self, numbers: tuple[int, ...]) -> bool:
        """Cite these blocks for the sentence before; tell whether they support or contradict it."""
        last = self._sentences[-1]
        markers = await self._cite(last.text, last.span, numbers, ())
        space = "\n" if self._text_since(0).endswith("```") else " "  # a fence ends with its line
        self._append(f"{space}{markers}" if markers else "")
        return last.marked

    async def _cite(self, text: str, span: Span, numbers: tuple[int, ...], quotes: Sequence[Source]) -> str:
        """Judge text that stands in the answer already; return its markers."""
        judgement = await self._judgement(text, numbers, quotes)
        new = [
            finding for finding in judgement.findings if self._citation(span, finding) not in self._citations
        ]
        self._record(span, judgement)
        for finding in self._sentences:
            if span.start <= finding.span.start and finding.span.end <= span.end:
                finding.marked = finding.marked or _is_decisive(judgement)
        return self._markers(new)

    async def _judgement(self, text: str, numbers: tuple[int, ...], quotes: Sequence[Source]) -> Judgement:
        if not numbers:
            return Judgement()
        self._named = True
        claim = Claim(text, numbers, tuple(quotes), self._question, self._given)
        judgement = await self._judge.judge(claim, self._context.blocks)
        if not self._strict:
            return judgement
        return judgement._replace(findings=tuple(f for f in judgement.findings if f.support != "unverified"))

    def _record(self, span: Span, judgement: Judgement) -> None:
        if judgement.missing:
            self._contradicted[Contradiction(span.start, span.end, judgement.missing)] = None
        for finding in judgement.findings:
            self._citations[self._citation(span, finding)] = None

    def _citation(self, span: Span, finding: Finding) -> Citation:
        passage, start, end = self._locate(finding)
        return Citation(passage, start, end, span.start, span.end, finding.support)

    def _markers(self, findings: Sequence[Finding]) -> str:
        return "".join(dict.fromkeys(f"[{passage}]" for passage, *_ in map(self._locate, findings)))

    def _locate(self, finding: Finding) -> tuple[int, int, int]:
        """Return the passage, from 1, that holds most of the quote, and the part of the quote in it."""
        parts = self._context.blocks[finding.block - 1].parts
        part = max(parts, key=lambda p: min(finding.end, p.start + p.length) - max(finding.start, p.start))
        start = min(max(finding.start, part.start), part.start + part.length - 1)
        end = max(min(finding.end, part.start + part.length), start + 1)
        shift = part.begin - part.start
        return part.passage + 1, start + shift, end + shift

    def _valid_numbers(self, numbers: Sequence[int]) -> tuple[int, ...]:
        return tuple(n for n in numbers if 0 < n <= len(self._context.blocks))

    @cached_property
    def _passages(self) -> str:
        return " ".join(" ".join(block.content.lower().split()) for block in self._context.blocks)

    def _stands_in_passages(self, words: str) -> bool:
        """Tell whether a passage has this very text, upper and lower case aside."""
        return " ".join(words.lower().split()) in self._passages

    def _only_refuses(self, cited: str) -> bool:
        """Tell whether text with sources refuses all the same; what a passage itself says is a claim."""
        return (
            refuses(cited)
            and not goes_on(cited)
            and not any(find_quote(cited, block.content) for block in self._context.blocks)
        )

    def _append(self, text: str) -> None:
        self._beginning = (self._beginning + text[:REFUSAL_CHARS])[:REFUSAL_CHARS]
        self._parts.append(text)
        self._length += len(text)

    def _text_since(self, offset: int) -> str:
        """Return the answer from this place on."""
        taken, length = [], self._length
        for part in reversed(self._parts):
            if length <= offset:
                break
            taken.append(part)
            length -= len(part)
        return "".join(reversed(taken))[max(0, offset - length) :]

    def _take_showable(self, unfinished: str) -> str:
        """Return what can be shown by now and was not yet. That is all whole sentences, and as much of the
        unfinished one as can be no marker; nothing while the reply may be a refusal.
        """
        begun = unfinished if self._length else unfinished.lstrip()
        refusing = not self._answers and (
            self._refused or could_refuse(self._beginning + begun[:REFUSAL_CHARS])
        )
        if self._declined or refusing:
            return ""
        waits = self._listing.inside or bool(self._leading) or self._listing.may_take(unfinished)
        shown = max(0, self._shown - self._length)
        text = self._text_since(self._shown) + begun[shown : 0 if waits else shown_length(begun, shown)]
        new = text.rstrip()
        self._shown += len(new)
        return new


def _shift_span(span: Span, inserted: Sequence[tuple[int, int]], before: int) -> Span:
    """Shift a span by the markers that were put in before and within it; one at its end is left out."""
    ahead = sum(length for at, length in inserted if at <= span.start)
    within = sum(length for at, length in inserted if span.start < at < span.end)
    return Span(before + span.start + ahead, before + span.end + ahead + within)


def _is_decisive(judgement: Judgement) -> bool:
    return bool(judgement.findings or judgement.missing)


def _is_claim(text: str) -> bool:
    """Tell whether a sentence can be true or false: no question, no heading, no lead-in."""
    statement = text.rstrip(" \n\"'”’»)*_")
    return (
        len(_WORD.findall(statement)) >= CLAIM_WORDS
        and not statement.endswith(("?", ":", "：", "？"))
        and "#" not in statement[:3]
    )
