"""A package with many modules has a map of them in its docstring, and the map is whole and true."""

import ast
import re
from pathlib import Path

import pytest

from tests.support.environment import PROJECT

MANY = 20
# What every Django app has, and where everyone looks for it.
DJANGO = {"admin", "apps", "management", "migrations", "models", "tasks", "templatetags", "urls", "views"}


def inside(package: Path) -> set[str]:
    modules = {path.stem for path in package.glob("*.py")} - {"__init__"}
    return modules | {path.parent.name for path in package.glob("*/__init__.py")}


PACKAGES = [
    package.parent
    for app in ("documents", "embeddings", "knowlex", "rag")
    for package in sorted((PROJECT / app).rglob("__init__.py"))
    if len(inside(package.parent)) > MANY
]


@pytest.mark.parametrize("package", PACKAGES, ids=lambda package: str(package.relative_to(PROJECT)))
def test_the_map_of_a_large_package_names_its_modules(package: Path):
    docstring = ast.get_docstring(ast.parse((package / "__init__.py").read_text())) or ""
    told = set(re.findall(r"`([a-z_]+)`", docstring))
    there = inside(package)
    assert (sorted(there - DJANGO - told), sorted(told - there)) == ([], [])
