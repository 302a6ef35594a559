"""Lists of references, which models put below their answers. Plain Python."""

import re

from rag.citations.markers import NAMED, numbers_in, squares

LIST_NAMES = (
    *("references", "sources", "citations", "works cited", "bibliography", "quellen", "références"),
    *("fuentes", "referencias", "参考文献", "来源", "出典"),
)
NAMES = rf"(?:{'|'.join(LIST_NAMES)})"
_HEADING = re.compile(rf"[#*_\s]*{NAMES}(?: used| cited)?[*_\s]*[:：]?[*_\s]*", re.IGNORECASE)
_HEADINGS = tuple(f"{name}{more}:" for name in LIST_NAMES for more in ("", " used", " cited"))
_ENTRY = re.compile(rf"\s*(?:[-*•+]\s*)?(?:[\[【［(（^]|\*{{0,2}}(?:\d+[.):]|{NAMED}\b))", re.IGNORECASE)
_FOOTNOTE = re.compile(r"\s*\[\^\d{1,3}\]:")  # of Markdown, where it stands
_LABEL = re.compile(
    rf"\W*(?:{NAMES}|source|reference|citation|see|from|based on|quelle|fuente)?\W*", re.IGNORECASE
)


class Listing:
    """Of one reply. inside: the last sentence was in one. numbers: of the blocks that its entries name."""

    def __init__(self, blocks: int) -> None:
        self._blocks, self.inside = blocks, False
        self.numbers: dict[int, None] = {}

    def takes(self, sentence: str) -> bool:
        """Whether this sentence, with the white space before it, is the heading of such a list or in one."""
        starts_line = _starts_line(sentence)
        if self.inside and starts_line:
            self.inside = _ENTRY.match(sentence) is not None
        elif starts_line:
            self.inside = (_HEADING.fullmatch(sentence) or _FOOTNOTE.match(sentence)) is not None
        if self.inside:
            for _, _, _, run, _ in squares(sentence):
                self.numbers.update(dict.fromkeys(numbers_in(run, self._blocks)))
        return self.inside

    @staticmethod
    def may_take(unfinished: str) -> bool:
        """Whether the beginning of a sentence may become such a heading."""
        if not _starts_line(unfinished):
            return False
        line = unfinished.lstrip().partition("\n")[0]
        begun = line.strip("#*_ \t").lower()
        return _HEADING.fullmatch(line) is not None or any(one.startswith(begun) for one in _HEADINGS)


def _starts_line(sentence: str) -> bool:
    return "\n" in sentence[: len(sentence) - len(sentence.lstrip())]


def is_label(text: str) -> bool:
    """Whether what is left of a sentence without its markers says nothing: "Sources: "."""
    return _LABEL.fullmatch(text) is not None
