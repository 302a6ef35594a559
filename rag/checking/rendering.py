"""A reading with the markers that have been found true, written as the pipeline does. Plain Python."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from rag.checking.claims import Claim, Reading
from rag.checking.markers import squares
from rag.checking.support import Proof

_HARMLESS = str.maketrans("[]【】［］〔〕⟦⟧〚〛⁅⁆", "()()()()()()()")


class Rendered(NamedTuple):
    """text: with `[n]` naming passages. inserted: (place in the reading's text, length) of each."""

    text: str
    inserted: tuple[tuple[int, int], ...]

    def span(self, claim: Claim) -> tuple[int, int]:
        """Of a claim of the reading, in `text`; a marker at its end is left out."""
        before = sum(length for at, length in self.inserted if at <= claim.start)
        within = sum(length for at, length in self.inserted if claim.start < at < claim.end)
        return claim.start + before, claim.end + before + within


def rendered(reading: Reading, proofs: Mapping[int, Sequence[Proof]]) -> Rendered:
    """proofs: by the place of the mark among the reading's; a marker without any is left out.

    Taking one out of "[[1]2]" may make another: then all brackets become round ones.
    """
    text = reading.text
    if next(squares(text), None):
        text = text.translate(_HARMLESS)
    written, inserted, done = [], [], 0
    for place, mark in enumerate(reading.marks):
        if found := proofs.get(place):
            marker = f"{mark.space if mark.at else ''}{joined(found)}"
            written += [text[done : mark.at], marker]
            inserted.append((mark.at, len(marker)))
            done = mark.at
    return Rendered("".join((*written, text[done:])), tuple(inserted))


def joined(proofs: Sequence[Proof]) -> str:
    return "".join(f"[{passage}]" for passage in dict.fromkeys(proof.passage for proof in proofs))
