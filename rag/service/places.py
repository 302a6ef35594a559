"""How a passage's place is written: in the prompt, and as the marker of a citation. Plain Python."""

import re
from typing import NamedTuple

from rag.types.retrieval import Passage

NAMELESS = "document"
LONGEST = 200  # characters of a name or a title
_UNFIT = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+|\s+")
_TO_ROUND = str.maketrans("[]【】［］〔〕{}<>;", "()()()()()(),")


class Place(NamedTuple):
    """document, section: fit to stand in brackets; section "" where there is none. page: from 1, or None."""

    document: str
    page: int | None
    section: str

    @classmethod
    def of(cls, passage: Passage) -> "Place":
        section = tidy(passage.section or passage.chapter)
        return cls(tidy(passage.document_name) or NAMELESS, passage.page_number, section)

    @property
    def label(self) -> str:
        """As a source stands in the prompt: `[safety_manual.pdf, p.5]`."""
        return self._written("p.")

    @property
    def marker(self) -> str:
        """As it is cited: `[safety_manual.pdf, page 5]`, or `[policy.md, section Annual Leave]`."""
        return self._written("page ")

    def _written(self, page: str) -> str:
        if self.page is not None:
            return f"[{self.document}, {page}{self.page}]"
        return f"[{self.document}, section {self.section}]" if self.section else f"[{self.document}]"


def tidy(text: str) -> str:
    """One line without brackets: nothing in a name can end a marker, or look like another one."""
    return _UNFIT.sub(" ", text).translate(_TO_ROUND).strip()[:LONGEST].strip()
