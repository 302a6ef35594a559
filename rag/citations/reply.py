"""A reply, sentence by sentence, with the markers that are true. Plain Python."""

from collections.abc import Sequence

from rag.citations.breaths import Breaths
from rag.citations.claims import Claim, Reading, claims_of, has_letters, read, whole_of
from rag.citations.flow import Vocabulary
from rag.citations.listing import Listing, is_label
from rag.citations.refusals import declines, refuses
from rag.citations.rendering import Rendered, joined, rendered
from rag.citations.repeats import Repeats
from rag.citations.segments import Sentence
from rag.citations.support import Proof, Prover
from rag.protocols import ClaimJudge
from rag.types import Citation, Context, Reason


class Reply:
    """said: there is a sentence that says something. declined: the first one is a refusal.

    parts: what is shown of each sentence; length: of all. citations: in their order.
    """

    def __init__(self, context: Context, judge: ClaimJudge, words: Vocabulary) -> None:
        self._blocks, self._words = len(context.blocks), words
        self._breaths = Breaths()
        self._prover = Prover(context, judge)
        self._listing = Listing(self._blocks)
        self.length = 0
        self._before: Claim | None = None  # what a marker that stands alone would support, in the whole text
        self.repeats = Repeats()
        self._said_last = ""
        self._again = False  # the last sentence is left out, for it stands there already
        self._leading: tuple[int, ...] = ()  # blocks that were named before anything was said
        self._refused = False
        self.said = self.declined = False
        self.parts: list[str] = []
        self.citations: list[Citation] = []

    @property
    def listing(self) -> bool:
        """Whether what comes next may be left out, as an entry of a list of references."""
        return self._listing.inside

    @property
    def reason(self) -> Reason | None:
        if self.declined or (self._refused and not self.citations):
            return "model_declined"
        return None if self.citations else "not_supported"

    async def add(self, sentence: Sentence) -> str:
        """What is shown of the next sentence, its markers naming passages."""
        await self._breaths.take()
        if self.declined or self._listing.takes(sentence.text):
            return ""
        text = sentence.text if self.length else sentence.text.lstrip()
        reading = read(text, self._blocks, self._words.written, leads=not sentence.continued)
        if is_label(reading.text) and reading.marks:
            return self._added(await self._alone(reading))
        if not reading.says:
            return self._added(reading.text)
        self._again = self.repeats.has(reading.text, sentence.text)
        if self._again:
            self._leading = ()
            return self._added("")
        self._said_last = reading.text
        return self._added(await self._stated(reading))

    async def last(self) -> str:
        """What is still to be added: the marker of an answer that has a list of references and no other."""
        if self.citations or self.declined or not (self._before and self._listing.numbers):
            return ""
        proofs = await self._prover.proofs([self._before], tuple(self._listing.numbers))
        return self._added(self._cited(proofs))

    async def _stated(self, reading: Reading) -> str:
        refused = refuses(reading.text)
        if refused and not self.said and declines(reading.text):
            self.declined = True
            return ""
        bare_number = self.said and not reading.has_letters  # "1" behind "Fig.": in its sentence it is one
        self.said, self._refused = True, self._refused or refused
        if self._leading:
            reading, self._leading = reading.led_by(self._leading), ()
        unprovable = refused or bare_number
        proofs = {} if unprovable else {n: await self._proofs(reading, n) for n in range(len(reading.marks))}
        shown = rendered(reading, proofs)
        for found in proofs.values():
            self._cite(found, shown)
        whole = whole_of(reading)
        if whole and not unprovable:
            self._before = self._absolute(whole, shown)
        return shown.text

    async def _proofs(self, reading: Reading, place: int) -> list[Proof]:
        numbers = reading.marks[place].numbers
        claims = [
            one for one in claims_of(reading, place) if has_letters(one.text) or not reading.has_letters
        ]
        return await self._prover.proofs(claims, numbers) if numbers else []

    async def _alone(self, reading: Reading) -> str:
        """Markers behind the full stop, or on a line of their own, stand for the sentence before them."""
        if self._again:
            return ""
        numbers = tuple(dict.fromkeys(n for mark in reading.marks for n in mark.numbers))
        if not self._before:
            self._leading += numbers
            return ""
        proofs = await self._prover.proofs([self._before], numbers) if numbers else []
        unsure = "" if any(mark.sure for mark in reading.marks) else reading.written
        return self._cited(proofs) or unsure

    def _cited(self, proofs: Sequence[Proof]) -> str:
        self._cite(proofs, None)
        return f" {joined(proofs)}" if proofs else ""

    def _cite(self, proofs: Sequence[Proof], shown: Rendered | None) -> None:
        if proofs:
            self.repeats.learn(self._said_last)
        for proof in proofs:
            claim = self._absolute(proof.claim, shown) if shown else proof.claim
            self.citations.append(
                Citation(proof.passage, proof.start, proof.end, claim.start, claim.end, proof.support)
            )

    def _absolute(self, claim: Claim, shown: Rendered) -> Claim:
        start, end = shown.span(claim)
        return Claim(claim.text, self.length + start, self.length + end)

    def _added(self, text: str) -> str:
        self.parts.append(text)
        self.length += len(text)
        return text
