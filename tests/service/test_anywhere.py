"""One service for many threads, loops and processes; in programs with Django, with another's, and without."""

import asyncio
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from rag_service import RAGService
from rag_service.service import new_request_id
from tests.provider import Provider
from tests.service import company
from tests.support.chroma import ChromaServer
from tests.support.environment import PROJECT

QUESTION = "What is the company vacation policy?"
ASK = f"""
import sys
from rag_service import RAGService
service = RAGService(ollama_host=sys.argv[1], vector_store_url=sys.argv[2])
answer = service.query({QUESTION!r})
assert [one.document for one in answer.citations] == ["hr_policy.pdf"], answer
assert service.health_check()["status"] == "healthy"
"""
WITHOUT_DJANGO = f"""
import os
{ASK}
assert 'django' not in sys.modules
child = os.fork()
answer = service.query({QUESTION!r})
assert answer.answer, answer
if not child:
    sys.exit(0)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
from django.conf import settings
assert not settings.configured
"""
ANOTHERS_DJANGO = f"""
import django
from django.conf import settings
settings.configure(INSTALLED_APPS=["django.contrib.contenttypes"], DATABASES={{}}, SECRET_KEY="x")
django.setup()
{ASK}
assert settings.INSTALLED_APPS == ["django.contrib.contenttypes"]
"""
KEPT_LOGS = """
import logging
from rag_service import RAGService
root = logging.getLogger()
before = root.level, list(root.handlers)
RAGService()
assert (root.level, root.handlers) == before
assert logging.getLogger("rag").level == logging.ERROR
"""


def run(program: str, folder: Path, *arguments: str, **env: str) -> str:
    """In another folder, as another project would. Returns what it wrote to stderr."""
    known = {k: v for k, v in os.environ.items() if k not in {"DJANGO_SETTINGS_MODULE", "LOG_LEVEL"}}
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments],
        cwd=folder, env={**known, "PYTHONPATH": str(PROJECT), **env},
        capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stderr


@pytest.mark.parametrize("program", [WITHOUT_DJANGO, ANOTHERS_DJANGO])
def test_in_another_program(program: str, ollama: Provider, chroma: ChromaServer, tmp_path: Path):
    """The first one forks, too."""
    assert run(program, tmp_path, ollama.url, chroma.url) == ""


def test_the_callers_logging_stays_as_it_is(tmp_path: Path):
    assert run(KEPT_LOGS, tmp_path, LOG_LEVEL="error") == ""


def test_from_threads_and_loops_at_once(service: RAGService, ollama: Provider):
    async def several() -> list[str | None]:
        answers = await asyncio.gather(*(service.aquery(QUESTION) for _ in range(10)))
        return [answer.answer for answer in answers]

    with ThreadPoolExecutor(8) as threads:
        plain = [threads.submit(service.query, QUESTION) for _ in range(20)]
        loops = [threads.submit(lambda: asyncio.run(several())) for _ in range(4)]
        found = {future.result(60).answer for future in plain}
        found |= {answer for future in loops for answer in future.result(60)}
    assert len(found) == 1
    assert len(ollama.calls("chat")) == 60


async def test_a_plain_query_works_inside_a_running_loop(service: RAGService):
    """As the document's wrapper does; other tasks wait meanwhile."""
    assert service.query(QUESTION).answer


def test_a_closed_service_opens_again(service: RAGService):
    with service:
        assert service.query(QUESTION).answer
    assert service.query(QUESTION).answer


def test_no_two_requests_have_the_same_id():
    ids = [new_request_id() for _ in range(20_000)]
    assert len(set(ids)) == len(ids)
    assert re.fullmatch(r"req_\d{8}_[0-9a-f]{6}", ids[0])


def test_texts_at_hand_need_no_server(tmp_path: Path):
    texts = [{"text": chunk.text, **chunk.metadata} for chunk in company.CHUNKS]
    program = f"""
from rag_service import RAGService
answer = RAGService.from_texts({texts!r}).query({QUESTION!r})
print(answer.answer)
assert answer.citations[0].text == "[hr_policy.pdf, page 2]"
assert "25 days" in answer.answer
"""
    assert run(program, tmp_path) == ""


def test_importing_it_is_quick_and_light(tmp_path: Path):
    heavy = {"django", "onnxruntime", "numpy", "aiohttp", "celery", "redis", "psycopg"}
    run(f"import sys, rag_service; assert not {heavy!r} & sys.modules.keys()", tmp_path)
