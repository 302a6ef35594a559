"""The script of the README: a program of its own, without Django and without a network."""

import os
import subprocess
import sys
from pathlib import Path

from django.conf import settings

PROJECT = Path(__file__).resolve().parent.parent.parent
# What the script connects to ends it, and so does Django.
ALONE = """
import runpy, socket, sys

def refuse(*args, **kwargs):
    raise SystemExit("the script uses the network")

socket.socket.connect = socket.socket.connect_ex = socket.getaddrinfo = refuse
sys.argv = ["samples/texts.py", *sys.argv[1:]]
runpy.run_path("samples/texts.py", run_name="__main__")
assert "django" not in sys.modules, "the script uses Django"
"""
UNWANTED = ("DJANGO_", "KNOWLEX_", "OLLAMA_", "VECTOR_STORE_")


def run(*questions: str) -> list[str]:
    env = {key: value for key, value in os.environ.items() if not key.startswith(UNWANTED)}
    env["KNOWLEX_MODELS_DIR"] = str(settings.MODELS_DIR)
    done = subprocess.run(
        [sys.executable, "-c", ALONE, *questions],
        cwd=PROJECT,
        env=env,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_a_script_answers_with_citations_from_texts_alone():
    answers = run()[1::2]

    gloves, leave, canteen, life = (answer.strip() for answer in answers)
    assert "gloves" in gloves
    assert "[safety_manual.pdf, page 5]" in gloves
    assert "25 days of paid leave" in leave
    assert "[handbook.md, section Annual leave]" in leave
    assert "11:30" in canteen
    assert "[text 4]" in canteen
    assert life == "Information not found in the knowledge base."
