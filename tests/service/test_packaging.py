"""`pip install` of this project into another program: what it asks for, and that it is whole."""

import os
import subprocess
import sys
import tomllib
from importlib.metadata import PackageNotFoundError, packages_distributions, requires
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from tests.support.environment import PROJECT

DECLARED = tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]["dependencies"]
PROGRAM = """
import sys
import rag_service
assert rag_service.__file__.startswith(sys.argv[1]), rag_service.__file__
service = rag_service.RAGService.from_texts({"hr.md": "Everybody has 25 days of leave."})
answer = service.query("How many days of leave?")
assert answer.citations[0].document == "hr.md", answer
"""


def test_what_it_asks_for_is_what_it_was_tested_with():
    lines = (PROJECT / "requirements.txt").read_text().splitlines()
    pinned = {one.name.lower(): one for one in map(Requirement, filter(_names_a_package, lines))}
    for wanted in map(Requirement, DECLARED):
        (pin,) = pinned[wanted.name.lower()].specifier
        assert pin.version in wanted.specifier, wanted


def test_it_imports_nothing_that_it_does_not_ask_for(tmp_path: Path):
    program = (
        "import sys, rag_service\n"
        "texts = {'a.md': '# Leave\\n\\nEverybody has 25 days of leave.'}\n"
        "service = rag_service.RAGService.from_texts(texts)\n"
        "service.query('How many days of leave?')\n"
        "print(*{name.partition('.')[0] for name in sys.modules})"
    )
    known = {k: v for k, v in os.environ.items() if k != "DJANGO_SETTINGS_MODULE"}
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path, env={**known, "PYTHONPATH": str(PROJECT)}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    owners = packages_distributions()
    imported = {name.lower() for module in done.stdout.split() for name in owners.get(module, ())[:1]}
    assert imported - _asked_for() - {"setuptools"} == set()


def _asked_for() -> set[str]:
    """What is declared, and what that asks for in turn."""
    found: set[str] = set()
    left = [Requirement(one).name for one in DECLARED]
    while left:
        name = left.pop().lower().replace("_", "-")
        if name not in found:
            found |= {name, name.replace("-", "_")}
            wanted = map(Requirement, _requires(name))
            left += [one.name for one in wanted if not one.marker or one.marker.evaluate({"extra": ""})]
    return found


def _requires(name: str) -> list[str]:
    try:
        return requires(name) or []
    except PackageNotFoundError:  # of another platform
        return []


def _names_a_package(line: str) -> bool:
    return bool(line.strip()) and not line.startswith(("#", "-"))


@pytest.mark.slow
def test_an_installed_copy_is_whole(tmp_path: Path):
    source, target = tmp_path / "source", tmp_path / "installed"
    source.mkdir()
    listed = subprocess.run(["git", "ls-files"], cwd=PROJECT, capture_output=True, text=True, check=True)
    for name in listed.stdout.splitlines():
        if not name.startswith(("tests/", "docs/", "benchmarks/")):
            (source / name).parent.mkdir(parents=True, exist_ok=True)
            (source / name).write_bytes((PROJECT / name).read_bytes())
    pip = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "--quiet",
        "--no-deps",
        "--target",
        str(target),
        str(source),
    ]
    subprocess.run(pip, check=True, timeout=200)
    data = [target / "documents/text/stopwords/en.txt", target / "rag/templates/rag/evaluation.svg"]
    data += [target / file.relative_to(PROJECT) for file in PROJECT.glob("*/migrations/sql/*.sql")]
    assert all(file.is_file() for file in data)
    assert list(target.glob("documents/migrations/0001*"))
    known = {k: v for k, v in os.environ.items() if k != "DJANGO_SETTINGS_MODULE"}
    subprocess.run(
        [sys.executable, "-c", PROGRAM, str(target)],
        cwd=tmp_path, env={**known, "PYTHONPATH": str(target), "XDG_CACHE_HOME": str(tmp_path / "cache")},
        check=True, timeout=200,
    )  # fmt: skip
    assert list((tmp_path / "cache" / "knowlex").rglob("*.onnx"))
