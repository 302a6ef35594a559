"""What /api/schema says of how far an answer was checked: the same for every route that tells it."""

from typing import Any

Schema = dict[str, Any]
_COUNT: Schema = {"type": "integer", "minimum": 0}
SUPPORT: Schema = {
    "type": "string",
    "enum": ["exact", "supported", "unverified"],
    "description": (
        "exact: the claim stands in the passage word for word. supported: its facts (numbers, dates, names,"
        " negation) stand in the quote, and the check found that the quote says it. unverified: the model"
        " cites this passage, which does not contradict the claim, but the check could not confirm it: show"
        ' it as "from this passage; check it". exact and supported are verified.'
    ),
}
CONTRADICTED = (
    "Claims that lost their marker: a number, date, name or quotation in them does not stand where the"
    " passages speak of the same, or a negation is turned around."
)
MISSING: Schema = {
    "type": "array",
    "items": {"type": "string"},
    "description": "What of it the passages do not say, as the claim writes it.",
}
VERIFICATION: Schema = {
    "type": "object",
    "required": ["exact", "supported", "unverified", "contradicted", "uncited"],
    "description": "How many claims of the answer were found to be what, each counted once, as its best.",
    "properties": {
        "exact": _COUNT,
        "supported": _COUNT,
        "unverified": _COUNT,
        "contradicted": _COUNT,
        "uncited": {**_COUNT, "description": "Sentences that claim something and carry no marker."},
    },
}
