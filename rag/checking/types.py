"""What checking an answer finds out. Plain Python."""

from typing import NamedTuple

from rag.types import Support


class Verdict(NamedTuple):
    """Whether a text supports a claim. support: None if it does not.

    start, end: of the sentence or sentences of the text that come nearest to the claim, offsets into its
    content. share: [0, 1], of the claim's words that stand there; for choosing between texts.
    """

    support: Support | None
    start: int
    end: int
    share: float
