"""What is known of a conversation. Plain Python."""

from typing import NamedTuple


class Turn(NamedTuple):
    """One question that was asked before, as it stood alone, and its answer without markers.

    answer: "" where there was none. quote: the sentence that supports the answer's first claim, "" if none.
    """

    question: str
    answer: str = ""
    quote: str = ""
