"""The text of one claim, shown while it comes. Plain Python."""

import re

_SPACE = re.compile(r"\s+")
_MARKER = re.compile(
    r" ?[\[【［](?:(?:blocks?|sources?|chunks?|passages?) )?\d[\d ,;^–-]{0,20}[\]】］]", re.IGNORECASE
)
_OPENING, _LONGEST_MARKER = "[【［", 40
_CLOSING = " .!?…。！？\"'”’»)]"  # with what may follow a full stop
_END = re.compile(r"[.!?…。！？]+[\"'”’»)\]]*$")
_UNSTORABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\ufffe\uffff]")


def storable(text: str) -> str:
    """On one line, without what PostgreSQL and UTF-8 cannot hold; escapes of JSON can write it."""
    return _SPACE.sub(" ", _UNSTORABLE.sub("", text))


class ClaimText:
    """Without markers of the model's own. What may be the claim's end waits: its markers stand before that.

    chars: how many have come. begun: some of it was shown. ending: the closing punctuation, after `rest`.
    """

    def __init__(self) -> None:
        self.chars, self.begun, self.ending = 0, False, ""
        self._waiting = ""

    def feed(self, text: str, *, most: int) -> str:
        """What can be shown now; no more than so many characters are taken in all."""
        text = text[: most - self.chars]
        if not text:
            return ""
        self.chars += len(text)
        text = _MARKER.sub("", _SPACE.sub(" ", self._waiting + storable(text)))
        text = text if self.begun else text.lstrip()
        place = len(text.rstrip(_CLOSING))
        opened = max(text.rfind(sign, max(0, place - _LONGEST_MARKER), place) for sign in _OPENING)
        if opened >= 0:
            place = len(text[:opened].rstrip(_CLOSING))
        self._waiting = text[place:]
        return text[:place]

    def rest(self) -> str:
        """What has waited but for the closing punctuation."""
        text, self._waiting = self._waiting.rstrip(), ""
        end = _END.search(text)
        place = end.start() if end else len(text)
        self.ending = text[place:]
        return text[:place]
