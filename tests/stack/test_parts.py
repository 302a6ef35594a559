"""One child process of the stack, by itself."""

import sys
import tracemalloc
from pathlib import Path

from knowlex.embedded.parts import Part
from tests.support.waiting import wait_until


def test_who_ended_is_told_with_the_end_of_a_log_of_any_size(tmp_path: Path):
    program = "print('one'); print('no room left'); raise SystemExit(3)"
    part = Part("the worker", [sys.executable, "-c", program], tmp_path / "worker.log")
    part.log.write_text("what was said in all these months\n" * 200_000)
    part.start()
    wait_until(lambda: not part.running)

    tracemalloc.start()
    told = part.obituary(lines=2)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert told.startswith("the worker ended with exit code 3.")
    assert told.endswith(" ends:\n    one\n    no room left")
    assert most < 1024 * 1024
