"""What `make demo` runs."""

import subprocess
import sys

from tests.support.environment import PROJECT


def test_the_demo_shows_a_right_answer_with_its_document_and_page() -> None:
    told = subprocess.run(
        [sys.executable, "samples/demo.py"], cwd=PROJECT, capture_output=True, text=True, timeout=180
    )

    assert told.returncode == 0, told.stdout + told.stderr
    assert "Supreme Court of the United States" in " ".join(told.stdout.split())
    assert "[1] nikola-tesla.pdf, page 2:" in told.stdout
