"""How faithful an answer is to its passages, as one number. Plain Python, pure."""

from collections.abc import Mapping, Sequence

from rag.citations.types import Verdict

HOW = (
    "Mean over the answer's claims: 1 for a claim that is exact or supported, or that a model found "
    "supported afterwards; 0.5 for one that is unverified and that no model has read; 0 for one that is "
    "contradicted, that a model did not find in its passage, or that has no marker. Null for an extractive "
    "answer, which quotes its passages word for word, and as long as no worker has found out."
)
UNREAD = 0.5  # what an unverified claim counts as long as no model has read it: nobody knows


def faithfulness(counts: Mapping[str, int], verdicts: Sequence[Verdict] = ()) -> float | None:
    """The mean over all claims of an answer, [0, 1]; None for an answer that claims nothing.

    An exact or supported claim counts 1. An unverified one counts 1 if a model that read it afterwards found
    it supported, 0 if that model found it contradicted or not told by its passage, and `UNREAD` as long as no
    model has read it. A contradicted claim counts 0, and so does a sentence that claims something without a
    marker.

    counts: by the names of rag.types.answer.Verification; {} of an answer whose claims were never counted.
    verdicts: one for each unverified claim that a model has read.
    """
    claims = sum(counts.values())
    if not claims:
        return None
    verified = counts.get("exact", 0) + counts.get("supported", 0) + verdicts.count("supported")
    unread = max(0, counts.get("unverified", 0) - len(verdicts))
    return (verified + UNREAD * unread) / claims
