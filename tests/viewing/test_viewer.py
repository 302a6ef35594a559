"""Pages are drawn and measured in jailed processes that end in time."""

import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from documents.extractors.job import VIEW_WALL_S, Job
from documents.extractors.sandbox.extractor import Sandbox
from documents.extractors.sandbox.viewer import SandboxedPageViewer
from documents.extractors.sandbox.wire import ResultListener
from knowlex.base.errors import UnreadableDocument
from tests.extraction import hostile
from tests.support.pdf import make_pdf

MOST_S = VIEW_WALL_S + 1


@pytest.mark.parametrize("wanted", [{"layout": True}, {"width": 400}])
def test_only_the_page_that_is_looked_at_is_read(tmp_path: Path, wanted: dict[str, int]):
    path = tmp_path / "towers.pdf"
    path.write_bytes(make_pdf("The tower has 253 steps.", "It was built of granite in 1893."))
    listener = ResultListener(page=2)

    read = Sandbox().run(path, Job("pdfium", page=2, **wanted), time.monotonic() + 30, listener)

    assert read.text == ""
    assert listener.layout or listener.picture


def test_a_page_that_takes_too_long_to_draw_ends_and_keeps_no_other_waiting(tmp_path: Path):
    path = tmp_path / "layers.pdf"
    path.write_bytes(hostile.slow_to_draw())
    viewer = SandboxedPageViewer(processes=2)
    assert viewer.draw(path, 2, width=400).width == 400, "and the fork server runs"

    def draw(number: int) -> float:
        started = time.monotonic()
        if number == 1:
            with pytest.raises(UnreadableDocument, match="cannot be shown"):
                viewer.draw(path, number, width=1200)
        else:
            viewer.draw(path, number, width=400)
        return time.monotonic() - started

    with ThreadPoolExecutor(3) as threads:
        slow, other, plain = threads.map(draw, [1, 1, 2])

    assert max(slow, other) < MOST_S
    assert plain < MOST_S + 1, "it waits for one of the two at most"
