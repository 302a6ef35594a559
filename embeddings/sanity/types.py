"""A check of the stored data, and what it found."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

SAMPLE = 10
EMBED = "POST /api/v1/embeddings/generate embeds what has no vector."
# Of the chunk c: its vector of the active model, its place in the queue, and in the outbox.
VECTOR = "FROM embeddings_embedding e WHERE e.chunk_id = c.id AND e.model_id = %(model)s"
WAITING = (
    "FROM embeddings_embeddingrequest q WHERE q.chunk_id = c.id AND q.model_id = %(model)s AND q.failed_at"
)
UNSHIPPED = "FROM embeddings_outboxentry o WHERE o.chunk_id = c.id AND o.model_id = %(model)s"


@dataclass(frozen=True, slots=True)
class SanityFinding:
    """broken: how many rows or files are. sample: up to 10 of them, by their ids or names.

    invariant: the rule's number ("I1"), or "". hint: what can be done.
    """

    name: str
    says: str
    invariant: str
    broken: int
    sample: tuple[str, ...]
    hint: str


@dataclass(frozen=True, slots=True)
class SanityCheck:
    """sql: one column of text, a row for each thing that is broken.

    settles: workers put it right within seconds, so only what stays is broken.
    """

    name: str
    says: str
    sql: str
    hint: str
    invariant: str = ""
    params: dict[str, Any] = field(default_factory=dict)
    settles: bool = False

    def bounded(self) -> str:
        """One row: how many there are, and the first of them."""
        return (
            f"WITH broken (what) AS MATERIALIZED ({self.sql}) SELECT (SELECT count(*) FROM broken), "  # noqa: S608
            f"ARRAY(SELECT what::text FROM broken LIMIT {SAMPLE})"
        )

    def finding(self, broken: int, sample: Iterable[str] = ()) -> SanityFinding:
        return SanityFinding(self.name, self.says, self.invariant, broken, tuple(sample), self.hint)


class FindingTally:
    """Counts what is broken of one check, and remembers the first few."""

    def __init__(self, check: SanityCheck) -> None:
        self._check, self._broken, self._sample = check, 0, list[str]()

    def add(self, what: object) -> None:
        self._broken += 1
        if len(self._sample) < SAMPLE:
            self._sample.append(str(what))

    def finding(self) -> SanityFinding:
        return self._check.finding(self._broken, self._sample)
