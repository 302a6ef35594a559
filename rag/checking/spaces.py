"""White space without end, which a broken model may write, made finite. Plain Python."""

import re

LONGEST = 100
_TOO_LONG = re.compile(rf"(\s{{{LONGEST}}})\s+")


class Spaces:
    """Of one reply in pieces: none before its first word, and never more than LONGEST in a row."""

    def __init__(self) -> None:
        self._trailing = LONGEST

    def bounded(self, piece: str) -> str:
        if self._trailing + len(piece) <= LONGEST:  # as nearly every piece of a stream
            words = piece.rstrip()
            self._trailing = len(piece) - len(words) if words else self._trailing + len(piece)
            return piece
        words = piece.lstrip()
        leading = piece[: min(len(piece) - len(words), LONGEST - self._trailing)]
        if not words:
            self._trailing += len(leading)
            return leading
        kept = _TOO_LONG.sub(r"\1", words)
        self._trailing = len(kept) - len(kept.rstrip())
        return leading + kept
