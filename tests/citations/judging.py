"""What a checked reply got wrong, seen by one who knows which of its claims are true."""

import re
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from rag.citations.checker import Checked
from rag.types import Passage
from tests.citations.hostile import Reply, plain

_MARKER = re.compile(r"[\[【［]\s*\d+\s*[\]】］]")


class Faults(NamedTuple):
    """false: (kind, claim, quote) of markers at a lie, or at the wrong passage's. inexact: quotes."""

    false: list[tuple[str, str, str]]
    inexact: int
    kept: Counter[str]
    made: Counter[str]


def no_faults() -> Faults:
    return Faults([], 0, Counter(), Counter())


def faults(reply: Reply, checked: Checked, passages: Sequence[Passage]) -> Faults:
    """A marker is false if its claim is a lie, or its passage is not one of those that say so."""
    found, inexact, kept = [], 0, Counter[str]()
    made = Counter(claim.kind for claim in reply.claims)
    for citation in checked.citations:
        passage = passages[citation.passage - 1]
        quote = passage.content[citation.quote_start : citation.quote_end]
        inexact += not quote or citation.quote_end > len(passage.content)
        said = plain(_MARKER.sub("", checked.text[citation.answer_start : citation.answer_end])).rstrip(" .")
        claims = [claim for claim in reply.claims if said and said.lower() in claim.text.lower()]
        true = [claim for claim in claims if citation.passage in claim.true_in]
        if true:
            kept.update({true[0].kind: 1})
        else:
            found.append((claims[0].kind if claims else "unknown", said, quote))
    return Faults(found, inexact, kept, made)


def added(one: Faults, other: Faults) -> Faults:
    return Faults(
        one.false + other.false, one.inexact + other.inexact, one.kept + other.kept, one.made + other.made
    )
