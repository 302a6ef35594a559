"""Does a passage say what a claim says? Judged by words alone: deterministic, no model, no network."""

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from rag.checking import agreement
from rag.checking.asides import parted
from rag.checking.foreign import holding, other_language
from rag.checking.normal import bare, occurrences
from rag.checking.phrasings import without_opening
from rag.checking.references import without_references
from rag.checking.statements import has_content, quotes_in, statement_of
from rag.checking.types import Verdict
from rag.checking.windows import AT_MOST, Passage, supporting
from rag.sentences import analysis_of, words_of
from rag.types import Block

LOOKED_AT = 4  # sentences of a passage that are compared in full
OCCURRENCES = 5
WORTH_A_LOOK = 0.3  # of the claim's words, in a passage or a sentence
NEARLY_ALL = 0.7  # where it may stand word for word: a word may be hyphenated in one of the two


class WordJudge:
    """Role CLAIM_JUDGE, and what every other judge rests on. Raises nothing, whatever the texts are."""

    async def judge(self, claim: str, texts: Sequence[Block]) -> list[Verdict]:
        return [judged(claim, block.content, block.language) for block in texts]


def judged(claim: str, content: str, language: str = "") -> Verdict:
    """See `Verdict`; a claim without names, numbers and content words is supported by nothing."""
    claim = without_references(claim, content)
    passage = Passage(content, language, analysis_of(content, language))
    if not passage.analysis.sentences or not has_content(claim, language):
        return Verdict(None, 0, 0, 0.0)
    words = words_of(claim, language)
    held = len(words & passage.analysis.words)
    literal = _literal(claim, passage) if held >= NEARLY_ALL * len(words) else None
    verdict = literal or _closest(without_opening(claim), words, passage)
    if not verdict.support:
        verdict = _both(claim, passage, verdict)
    return verdict if verdict.support else _foreign(claim, passage, verdict)


def _both(claim: str, passage: Passage, verdict: Verdict) -> Verdict:
    """For a claim with another one inside: supported where sentences close by say the two."""
    found = [judged(part, passage.content, passage.language) for part in parted(claim) or ()]
    if not found or not all(one.support for one in found):
        return verdict
    start, end = min(one.start for one in found), max(one.end for one in found)
    between = [s for s in passage.analysis.sentences if start <= s.start < end]
    share = min(one.share for one in found)
    return Verdict("supported", start, end, share) if len(between) <= AT_MOST else verdict


def _foreign(claim: str, passage: Passage, verdict: Verdict) -> Verdict:
    """For a claim in another language: supported where all its names and numbers stand."""
    language = other_language(claim, passage)
    if not language or not _quotes_stand(claim, passage.content):
        return verdict
    found = holding(claim, language, passage)
    return Verdict("supported", *passage.span(*found), 0.5) if found else verdict


def _literal(claim: str, passage: Passage) -> Verdict | None:
    """Where it stands word for word, unless what stands around turns it into something else.

    Most claims are whole sentences, which need not be taken apart.
    """
    sought = bare(claim)
    for start, end in islice(occurrences(sought, passage.content), OCCURRENCES):
        first, last = _whole(passage, start, end)
        text = passage.content[first:last]
        if bare(text) == sought or _agrees(claim, text, passage.language):
            return Verdict("exact", first, last, 1.0)
    return None


def _agrees(claim: str, said: str, language: str) -> bool:
    return agreement.agrees(statement_of(claim, language), statement_of(said, language))


def _whole(passage: Passage, start: int, end: int) -> tuple[int, int]:
    """Of the sentences that the span touches."""
    touched = [s for s in passage.analysis.sentences if s.start < end and start < s.end]
    return (touched[0].start, touched[-1].end) if touched else (start, end)


def _closest(claim: str, words: frozenset[str], passage: Passage) -> Verdict:
    statement = statement_of(claim, passage.language)
    best = Verdict(None, *passage.span(0, 0), 0.0)
    places = list(_candidates(words, passage))
    quoted = bool(places) and _quotes_stand(claim, passage.content)
    for place in places:
        share = agreement.share(statement, passage.said(place))
        found = supporting(statement, passage, place) if quoted else None
        if found:
            return Verdict("supported", *passage.span(*found), share)
        if share > best.share:
            best = Verdict(None, *passage.span(place, place), share)
    return best


def _quotes_stand(claim: str, content: str) -> bool:
    return all(any(True for _ in occurrences(bare(quote), content)) for quote in quotes_in(claim))


def _candidates(words: frozenset[str], passage: Passage) -> Iterator[int]:
    """Places of the sentences that share most words with the claim, the most first."""
    least = WORTH_A_LOOK * len(words)
    if len(words & passage.analysis.words) < least:
        return
    shared = [(-len(words & sentence.words), n) for n, sentence in enumerate(passage.analysis.sentences)]
    yield from islice((n for count, n in sorted(shared) if -count >= least), LOOKED_AT)


class Nearest(NamedTuple):
    """The sentences that come nearest to a claim, for a model to read. facts_agree: all that words decide."""

    start: int
    end: int
    text: str
    facts_agree: bool


def nearest(claim: str, content: str, language: str = "") -> Nearest | None:
    """None where nothing of the claim stands there."""
    claim = without_references(claim, content)
    statement = statement_of(claim, language)
    passage = Passage(content, language, analysis_of(content, language))
    places = list(_candidates(words_of(claim, language), passage))
    if not places or not statement.content:
        return None
    quoted = _quotes_stand(claim, content)
    place = max(places, key=lambda n: agreement.share(statement, passage.said(n)))
    for first in (place, max(0, place - 1)):
        start, end = passage.span(first, place)
        text = content[start:end]
        facts_agree = quoted and agreement.facts_agree(statement, statement_of(text, language))
        if facts_agree:
            break
    return Nearest(start, end, text, facts_agree)
