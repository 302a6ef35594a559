"""What a question is searched for with, besides itself. Plain Python."""

from typing import NamedTuple


class Variant(NamedTuple):
    """hypothetical: an answer as a document might word it, compared by its meaning alone; otherwise another
    phrasing of the question, searched for as the question is.
    """

    text: str
    hypothetical: bool
