"""F55: very many requests of many clients, while the model fails at one question in a hundred."""

import time
from collections import Counter
from collections.abc import Callable

import httpx
import psutil
import pytest

from tests.provider import Provider
from tests.support.api import ask, embed, ingest, search, together
from tests.support.stack import Stack
from tests.support.texts import fact, facts_pdf, question

CLIENTS, FACTS = 64, 400
FAULTY = range(50, FACTS, 100)


@pytest.fixture
def library(provider_server: Stack, provider: Provider) -> Stack:
    ingest(provider_server.client, facts_pdf(FACTS))
    embed(provider_server.client)
    for number in FAULTY:
        provider.rule("status", status=400, contains=question(number), on="chat")
    return provider_server


def rss(stack: Stack) -> int:
    assert stack.web is not None
    return int(psutil.Process(stack.web.pid).memory_info().rss)


def coming_again(call: Callable[[], httpx.Response]) -> httpx.Response:
    """The reply to a client that comes again when a busy server told it to: a slow machine is busy."""
    reply = call()
    for _ in range(3):
        if reply.status_code != 503:
            break
        time.sleep(int(reply.headers["Retry-After"]))
        reply = call()
    return reply


def made_by(stack: Stack, client: int, numbers: range) -> list[tuple[str, int, int]]:
    """The requests of one client: (kind, number of the fact, status)."""
    made = []
    with httpx.Client(base_url=stack.url, timeout=60) as speaker:
        for number in numbers[client::CLIENTS]:
            asked = number % FACTS
            kind = ("ask", "search", "ask", "list")[number // CLIENTS % 4]
            call = {
                "ask": lambda n=asked: ask(speaker, question(n), topK=1),
                "search": lambda n=asked: search(speaker, fact(n)),
                "list": lambda: speaker.get("/api/v1/documents"),
            }[kind]
            made.append((kind, asked, coming_again(call).status_code))
    return made


@pytest.mark.parametrize("requests", [320, pytest.param(10_000, marks=pytest.mark.slow)])
def test_f55_only_the_questions_that_the_model_fails_at_fail(library: Stack, requests: int):
    warm = range(2 * CLIENTS)
    together([lambda c=c: made_by(library, c, warm) for c in range(CLIENTS)])
    before = rss(library)
    replies = together([lambda c=c: made_by(library, c, range(requests)) for c in range(CLIENTS)])
    made = [one for some in replies for one in some]
    assert len(made) == requests
    failed = Counter((kind, number in FAULTY) for kind, number, status in made if status != 200)
    due = sum(kind == "ask" and number in FAULTY for kind, number, _ in made)
    assert failed == Counter({("ask", True): due} if due else {}), [one for one in made if one[2] != 200][:20]
    assert due
    assert rss(library) < 1.1 * before
