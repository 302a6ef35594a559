"""Does a passage say what a claim says? Judged by words alone: deterministic, no model, no network."""

from collections.abc import Iterator, Sequence
from itertools import islice

from rag.checking import agreement
from rag.checking.normal import bare, occurrences
from rag.checking.statements import Statement, statement_of
from rag.checking.types import Verdict
from rag.sentences import Analysis, analysis_of, words_of
from rag.types import Block

LOOKED_AT = 4  # sentences of a block that are compared in full
OCCURRENCES = 5
WORDS = "words"


class WordJudge:
    """Role CLAIM_JUDGE, and what every other judge rests on. Raises nothing, whatever the texts are."""

    name = WORDS

    async def judge(self, claim: str, texts: Sequence[Block]) -> list[Verdict]:
        return [judged(claim, block.content, block.language) for block in texts]


def judged(claim: str, content: str, language: str = "") -> Verdict:
    """See `Verdict`; a claim without names, numbers and content words is supported by nothing."""
    statement = statement_of(claim, language)
    sentences = analysis_of(content, language)
    if not statement.content or not sentences.sentences:
        return Verdict(None, 0, 0, 0.0)
    found = _literal(claim, statement, content, language, sentences)
    return found or _closest(claim, statement, content, language, sentences)


def _literal(
    claim: str, statement: Statement, content: str, language: str, analysis: Analysis
) -> Verdict | None:
    """Where it stands word for word, unless what stands around turns it into something else."""
    for start, end in islice(occurrences(bare(claim), content), OCCURRENCES):
        first, last = _whole(analysis, start, end)
        said = statement_of(content[first:last], language)
        whole = bare(content[first:last]) == bare(claim)
        if whole or agreement.agrees(statement, said):
            return Verdict("exact", first, last, 1.0)
    return None


def _whole(analysis: Analysis, start: int, end: int) -> tuple[int, int]:
    """Of the sentences that the span touches."""
    touched = [s for s in analysis.sentences if s.start < end and start < s.end]
    return (touched[0].start, touched[-1].end) if touched else (start, end)


def _closest(claim: str, statement: Statement, content: str, language: str, analysis: Analysis) -> Verdict:
    best = Verdict(None, analysis.sentences[0].start, analysis.sentences[0].end, 0.0)
    quoted = all(any(occurrences(bare(quote), content)) for quote in statement.quotes)
    for place in _candidates(claim, language, analysis):
        sentence = analysis.sentences[place]
        said = statement_of(content[sentence.start : sentence.end], language)
        share = agreement.share(statement, said)
        if quoted and agreement.agrees(statement, said):
            return Verdict("supported", sentence.start, sentence.end, share)
        if share > best.share:
            best = Verdict(None, sentence.start, sentence.end, share)
    return best


def _candidates(claim: str, language: str, analysis: Analysis) -> Iterator[int]:
    """Places of the sentences that share most words with the claim, the most first."""
    words = words_of(claim, language)
    shared = [(-len(words & sentence.words), n) for n, sentence in enumerate(analysis.sentences)]
    return islice((n for _, n in sorted(shared)), LOOKED_AT)
