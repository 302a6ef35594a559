"""The client as others install it: alone, and with LangChain, LlamaIndex and Haystack."""

import json
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.platform import talk
from tests.support.environment import PROJECT
from tests.support.stack import Stack

FRAMEWORKS = Path(sys.prefix) / "frameworks" / "bin" / "python"
TEXT = "The lighthouse of Norderney has 253 steps. It was lit for the first time on 1 October 1874."
DECLARED = tomllib.loads((PROJECT / "knowlex_client" / "pyproject.toml").read_text())["project"]


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder where pip has put the package, as from its own folder alone."""
    assert FRAMEWORKS.exists(), "`make setup-dev` installs the frameworks"
    folder = tmp_path_factory.mktemp("client")
    shutil.copytree(
        PROJECT / "knowlex_client", folder / "source", ignore=shutil.ignore_patterns("__pycache__")
    )
    pip = [FRAMEWORKS, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation", "--no-index"]
    subprocess.run([*pip, "--target", folder / "installed", folder / "source"], check=True, timeout=100)
    return folder / "installed"


def test_it_is_whole_and_typed(installed: Path):
    there = {path.name for path in (installed / "knowlex_client").iterdir()}
    assert there >= {path.name for path in (PROJECT / "knowlex_client").glob("*.py")} | {"py.typed"}
    assert "from knowlex_client.mcp import main" in (installed / "bin" / "knowlex-mcp").read_text()


def test_the_extras_are_what_it_was_tested_with():
    pinned = (PROJECT / "requirements-frameworks.txt").read_text()
    for extra in ("langchain", "llamaindex", "haystack"):
        (wanted,) = DECLARED["optional-dependencies"][extra]
        assert f"\n{wanted.partition('>=')[0]}==" in f"\n{pinned}"


@pytest.mark.parametrize("framework", ["langchain", "llamaindex", "haystack"])
def test_a_framework_retrieves(server: Stack, installed: Path, framework: str):
    document_id = talk.stored(server.client, talk.text(TEXT, "norderney.txt"))
    done = subprocess.run(
        [FRAMEWORKS, PROJECT / "tests/client/frameworks.py", framework, server.url],
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(installed), "HAYSTACK_TELEMETRY_ENABLED": "False"},
        capture_output=True,
        text=True,
        timeout=100,
    )

    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert "253 steps" in told["prompt"]
    assert told["metadata"]["document_id"] == document_id
    assert told["metadata"]["document_name"] == "norderney.txt"
    assert told["id"] == told["metadata"]["chunk_id"]
    assert told.get("score", told["metadata"]["relevance"]) == told["metadata"]["relevance"]
