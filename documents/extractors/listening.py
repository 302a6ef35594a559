"""The parent's side of one extraction: takes the child's frames, checks them, passes on what they tell."""

from collections.abc import Callable

from documents.extractors.frames import (
    PICTURE,
    PROGRESS,
    RESULT,
    STARTED,
    PagePicture,
    parse_picture,
    parse_progress,
    read_frames,
)
from documents.extractors.pages import MAX_PAGES
from documents.extractors.wire import BrokenResult, NeverStarted
from documents.protocols import OnProgress
from documents.types import ReadingProgress

OnPicture = Callable[[PagePicture], None]


class Listener:
    """One for each file, over all tries: progress never goes back, and no page is told twice.

    on_picture: None where pictures are not wanted; a child that sends some all the same is broken.
    """

    def __init__(self, on_progress: OnProgress | None = None, on_picture: OnPicture | None = None) -> None:
        self._on_progress, self._on_picture = on_progress, on_picture
        self._pages_done = 0

    def hear(self, descriptor: int, deadline: float) -> bytes:
        """The packed result. Raises BrokenResult, NeverStarted, and whatever the callbacks raise."""
        started, last_picture = False, 0
        for kind, body in read_frames(descriptor, deadline):
            if kind == STARTED:
                started = True
            elif kind == RESULT:
                return body
            elif kind == PROGRESS:
                self._progress(*parse_progress(body))
            elif kind == PICTURE:
                last_picture = self._picture(parse_picture(body), last_picture)
        if started:
            raise BrokenResult("ended early")
        raise NeverStarted

    def _progress(self, pages_done: int, pages_total: int) -> None:
        if not 0 <= pages_done <= pages_total <= MAX_PAGES:
            raise BrokenResult("impossible progress")
        if pages_done > self._pages_done:
            self._pages_done = pages_done
            if self._on_progress:
                self._on_progress(ReadingProgress(pages_done, pages_total))

    def _picture(self, picture: PagePicture, last: int) -> int:
        if self._on_picture is None or not last < picture.number <= MAX_PAGES:
            raise BrokenResult("an unwanted picture")
        self._on_picture(picture)
        return picture.number
