"""What became of the files of a bulk ingestion."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal
from uuid import UUID

from embeddings.reports import ItemReport, JobReport

Outcome = Literal["taken", "duplicate", "failed"]


@dataclass(frozen=True, slots=True)
class FileResult:
    """document_id: of the document that holds the bytes, None for a failure. reason: of a failure."""

    path: str
    outcome: Outcome
    document_id: UUID | None = None
    reason: str = ""
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Numbers:
    """ended: files, failures and duplicates included."""

    ended: int = 0
    pages: int = 0
    chunks: int = 0
    embedded: int = 0

    def plus(self, report: JobReport) -> "Numbers":
        return Numbers(
            self.ended + report.processed,
            self.pages + report.pages_done,
            self.chunks + report.chunks_made,
            self.embedded + report.chunks_embedded,
        )


def file_result(path: Path, item: ItemReport) -> FileResult:
    if item.status == "completed":
        return FileResult(shown(path), "taken", item.id, warnings=tuple(item.warnings))
    if item.error_code == "DUPLICATE":
        return FileResult(shown(path), "duplicate", item.duplicate_of)
    return FileResult(shown(path), "failed", reason=item.error)


def shown(path: Path) -> str:
    """As it can be printed: a name may hold any bytes, those that steer a terminal too."""
    text = str(path).encode(errors="surrogateescape").decode(errors="replace")
    return "".join(char if char.isprintable() else "\ufffd" for char in text)
