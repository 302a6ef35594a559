"""Nothing of what is done here is reported to the makers of a library."""

import os
import subprocess
import sys

import pytest

from tests.support.environment import PROJECT

WATCH = """
import importlib, os, sys

class Watch:
    def find_spec(self, name, path=None, target=None):
        if name == "onnxruntime":
            print(os.environ.get("ORT_DISABLE_TELEMETRY"))

sys.meta_path.insert(0, Watch())
importlib.import_module(sys.argv[1])
"""
RUNNING_MODELS = sorted(
    ".".join(path.relative_to(PROJECT).with_suffix("").parts)
    for package in ("embeddings", "rag")
    for path in (PROJECT / package).rglob("*.py")
    if path.read_text().find("\nimport onnxruntime\n") >= 0
)


@pytest.mark.parametrize("module", RUNNING_MODELS)
def test_onnx_runtime_reports_nothing_whatever_is_imported_first(module: str) -> None:
    env = {name: value for name, value in os.environ.items() if name != "ORT_DISABLE_TELEMETRY"}
    command = [sys.executable, "-c", WATCH, module]
    ran = subprocess.run(
        command, env=env, cwd=PROJECT, capture_output=True, text=True, check=True, timeout=60
    )
    assert ran.stdout == "1\n"
