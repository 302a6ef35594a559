"""What `doctor` tells of the chat model: one question is asked of it, and what came of each step is shown."""

import asyncio
import time
from collections.abc import Iterator

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from knowlex.embedded import chat_model
from knowlex.embedded.chat_model import ChatModel, Seen
from knowlex.embedded.report import TIMEOUT_S, Finding
from rag.trial import PASSAGE, QUESTION, trial


def asked() -> Iterator[Finding]:
    """Its server, whether it knows the model, the reply, what was read of it, a verdict; each with its time.

    Ends with the step that failed. Where no model is configured none is asked, and it says what that takes.
    """
    model = chat_model.configured()
    if model is None:
        yield Finding(
            "chat model", "none", True, f"answers are {chat_model.EXTRACTIVE}. {chat_model.what_it_takes()}"
        )
        return
    yield Finding("chat model", str(model), True, f'is asked "{QUESTION}" with one passage: "{PASSAGE}"')
    started = time.perf_counter()
    found = asyncio.run(chat_model.seen(model, within_s=min(TIMEOUT_S, settings.LLM_TIMEOUT_S)))
    steps = list(_server(model, found, _seconds(time.perf_counter() - started)))
    yield from steps
    if all(step.ok is not False for step in steps):
        yield from _reply()


def _server(model: ChatModel, found: Seen, took: str) -> Iterator[Finding]:
    if not found.reached:
        yield Finding("server", took, False, found.problem)
        return
    yield Finding("server", took, True, f"{model.place} was reached")
    if found.known is True:
        yield Finding("model", took, True, f"{model.name} is known")
    elif found.problem:  # a list of an OpenAI-compatible server need not be complete
        may_answer = model.provider == "openai" and found.known is False
        yield Finding("model", took, None if may_answer else False, found.problem)
    else:
        yield Finding("model", took, None, f"the server does not tell whether it knows {model.name}")


def _reply() -> Iterator[Finding]:
    try:
        steps = asyncio.run(trial(within_s=settings.LLM_TIMEOUT_S))
    except ImproperlyConfigured as exc:
        yield Finding("reply", _seconds(0), False, str(exc))
        return
    for step in steps:
        yield Finding(step.name, _seconds(step.took_s), step.ok, step.says)


def _seconds(took: float) -> str:
    return f"{took:.2f} s"
