"""The PdfReader over pypdf: slower than PDFium, but it opens some files that PDFium does not."""

from collections.abc import Mapping
from io import BytesIO
from typing import Any

import pypdf

from documents.extractors.failures import MAX_OUTLINE_ENTRIES, PasswordNeeded
from documents.extractors.pdf.pages import MAX_OUTLINE_DEPTH, OutlineEntry, RawPage


class PypdfReader:
    def __init__(self, data: bytes) -> None:
        """Open with the empty password. Raises PasswordNeeded, or anything at all for a broken file."""
        self._reader = pypdf.PdfReader(BytesIO(data))
        encrypted = self._reader.is_encrypted
        if encrypted and self._reader.decrypt("") == pypdf.PasswordType.NOT_DECRYPTED:
            raise PasswordNeeded
        self.page_count = len(self._reader.pages)

    @property
    def claimed_pages(self) -> int:
        tree: Any = self._reader.root_object["/Pages"]
        return int(tree["/Count"])

    def page(self, page_index: int) -> RawPage:
        return RawPage(self._reader.pages[page_index].extract_text())

    def outline(self) -> list[OutlineEntry]:
        entries: list[OutlineEntry] = []
        self._collect(self._reader.outline, 1, entries)
        return entries

    def _collect(self, nodes: Any, level: int, entries: list[OutlineEntry]) -> None:
        """Collect entries. nodes: destinations, each followed by the list of its children if it has any."""
        for node in nodes:
            if len(entries) >= MAX_OUTLINE_ENTRIES:
                return
            if isinstance(node, list):
                if level < MAX_OUTLINE_DEPTH:
                    self._collect(node, level + 1, entries)
                continue
            page_index = self._reader.get_destination_page_number(node)
            if page_index is not None and page_index >= 0:
                entries.append(OutlineEntry(level, str(node.title), page_index))

    def metadata(self) -> dict[str, str]:
        info: Mapping[str, Any] = self._reader.metadata or {}
        return {str(name).lstrip("/"): str(value) for name, value in info.items()}
