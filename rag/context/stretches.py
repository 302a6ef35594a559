"""A passage, or as much of it as is shown. Plain Python."""

from typing import NamedTuple

from rag.types.retrieval import Passage


class Stretch(NamedTuple):
    """`passage.content[begin:end]`."""

    passage: Passage
    begin: int
    end: int

    @classmethod
    def whole(cls, passage: Passage) -> "Stretch":
        return cls(passage, 0, len(passage.content))

    @property
    def text(self) -> str:
        return self.passage.content[self.begin : self.end]

    @property
    def start(self) -> int:
        """In the document's text."""
        return self.passage.start_char + self.begin

    @property
    def stop(self) -> int:
        """In the document's text."""
        return self.passage.start_char + self.end

    def goes_on_in(self, other: "Stretch") -> bool:
        """Whether the other is the next chunk, neither of them cut where they meet."""
        one, two = self.passage, other.passage
        return (
            one.document_id == two.document_id
            and one.chunk_index + 1 == two.chunk_index
            and self.end == len(one.content)
            and other.begin == 0
        )
