"""A check of the stored data, and what it found."""

from collections.abc import Iterable
from dataclasses import dataclass

SAMPLE = 10


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
    """sql: one column of text, a row for each thing that is broken; its parameter is `model`, the active one.

    settles: workers put it right within seconds, so only what stays is broken.
    """

    name: str
    says: str
    sql: str
    hint: str
    invariant: str = ""
    settles: bool = False

    @property
    def counting_sql(self) -> str:
        """The statement that returns one row: how many there are, and the first of them."""
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
