"""The suite's own tools tell the truth: the provider, the PDF writer.

And its processes, of which `make test` has two, share nothing and hide nothing.
"""

import base64
import io
import os
import subprocess
import sys
from pathlib import Path

import httpx
import numpy as np
import openai
import pytest
from django.conf import settings
from pypdf import PdfReader

from tests.provider import Provider, vector_of
from tests.support import environment
from tests.support.pdf import make_pdf


def sdk(provider: Provider) -> openai.OpenAI:
    return openai.OpenAI(base_url=provider.openai_url, api_key="sk-x", max_retries=0)


@pytest.mark.parametrize("encoding", ["float", "base64"])
def test_provider_embeds_as_a_pure_function_of_the_text(provider: Provider, encoding: str):
    reply = sdk(provider).embeddings.create(
        model="m", input=["a b", "c"], dimensions=32, encoding_format=encoding
    )
    raw = reply.data[1].embedding
    vector = np.frombuffer(base64.b64decode(raw), "<f4") if isinstance(raw, str) else raw
    assert np.allclose(vector, vector_of("c", 32))


def test_provider_cites_the_first_block_unless_told_otherwise(provider: Provider):
    messages = [
        {"role": "user", "content": "[1] Cats purr. They sleep.\n\n[2] Dogs bark.\n\nQuestion: Who purrs?"}
    ]
    reply = httpx.post(f"{provider.openai_url}/chat/completions", json={"messages": messages}).json()
    assert reply["choices"][0]["message"]["content"] == "Cats purr [1]."
    assert provider.calls("chat")[0].prompt.questions == ["Who purrs?"]


def test_a_rule_with_times_ends_by_itself(provider: Provider):
    provider.rule("status", status=429, retry_after_s=2, times=2, on="embeddings")
    replies = [httpx.post(f"{provider.openai_url}/embeddings", json={"input": ["x"]}) for _ in range(3)]
    assert [reply.status_code for reply in replies] == [429, 429, 200]
    assert replies[0].headers["Retry-After"] == "2"


def test_pdf_writer_makes_pages_title_and_outline():
    reader = PdfReader(
        io.BytesIO(make_pdf("One (1).", "", "Three.", title="T", outline=[("A", 1), ("B", 3)])), True
    )
    assert [page.extract_text().strip() for page in reader.pages] == ["One (1).", "", "Three."]
    assert reader.metadata is not None
    assert reader.metadata.title == "T"
    assert [reader.get_destination_page_number(mark) for mark in reader.outline] == [0, 2]


def test_each_process_of_a_run_has_services_of_its_own():
    """With a folder of the process that started it, it would look for services that nobody has started."""
    assert Path(settings.DATA_DIR) == environment.DATA_DIR
    assert environment.database_url("knowlex") == settings.DATABASE_URL
    assert str(environment.FOLDER) in settings.REDIS_URL
    assert os.environ["REDIS_URL"] in settings.REDIS_URL


def test_a_process_of_the_run_that_dies_is_a_failure_that_names_the_test(tmp_path: Path):
    (tmp_path / "test_dies.py").write_text("import os\ndef test_ends_its_process(): os._exit(0)\n")
    (tmp_path / "test_lives.py").write_text("def test_passes(): pass\n")
    words = ("-c", os.devnull, "--rootdir", ".", "-p", "xdist", "-n", "2", "--dist", "loadfile")

    told = subprocess.run(
        [sys.executable, "-m", "pytest", *words, "--max-worker-restart", "0", "."],
        cwd=tmp_path,
        env=os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
    )

    assert told.returncode == 1, told.stdout + told.stderr
    assert "crashed while running 'test_dies.py::test_ends_its_process'" in told.stdout
    assert "1 failed, 1 passed" in told.stdout
