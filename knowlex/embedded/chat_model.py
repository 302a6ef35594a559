"""Who writes the answers: which chat model is set, and whether its server is there and knows it.

What `up` and `doctor` tell of it. No key is ever told.
"""

import asyncio
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any, NamedTuple

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from knowlex.embedded.report import TIMEOUT_S, Finding, without_password
from knowlex.net.json_client import JsonWire, Reply, Unreachable
from knowlex.net.ollama import base_url, full_name, not_pulled
from rag.trial import PASSAGE, QUESTION, trial

OPENAI_URL = "https://api.openai.com/v1"
MAX_LIST_BYTES = 4 * 1024 * 1024
NAMED = 3  # of the models that a server lists
EXTRACTIVE = "extractive, word for word from your documents"


@dataclass(frozen=True, slots=True)
class ChatModel:
    """provider: "ollama" or "openai", which is any server that speaks OpenAI's API. url: what its routes are
    appended to.
    """

    provider: str
    name: str
    url: str
    key: str = ""

    def __str__(self) -> str:
        return f"{self.provider} {self.name} at {self.place}"

    @property
    def place(self) -> str:
        """Fit to be shown."""
        return without_password(self.url)


class Seen(NamedTuple):
    """What a server says of a model. known: None where it does not tell. problem: what is wrong, and what to
    do about it; "" where nothing is.
    """

    reached: bool
    known: bool | None = None
    problem: str = ""


def configured() -> ChatModel | None:
    """None: the answers are extractive, and no model is asked."""
    options: Mapping[str, Any] = settings.KNOWLEX["SYNTHESIZER"].get("options", {})
    if "host" in options:
        return ChatModel("ollama", options["model_name"], base_url(options["host"]))
    if "base_url" in options:
        url = (options["base_url"] or OPENAI_URL).rstrip("/")
        return ChatModel("openai", options["model_name"], url, options["api_key"])
    return None


def what_it_takes() -> str:
    """To have a chat model write the answers. A key alone would have OpenAI embed, too."""
    ollama, environment = "KNOWLEX_SYNTHESIZER=ollama (with Ollama running)", settings.ENV
    openai = "OPENAI_API_KEY"
    if environment.openai_api_key or environment.openai_base_url:
        openai = "KNOWLEX_SYNTHESIZER=openai"
    elif not environment.knowlex_embedder:
        openai = "OPENAI_API_KEY (and KNOWLEX_EMBEDDER=local, to keep the vectors that there are)"
    return f"For answers in a chat model's words set {ollama} or {openai}."


async def answerer(*, within_s: float) -> str:
    """A line on who writes the answers, and what is wrong with it; the model's server is asked so long."""
    model = configured()
    if model is None:
        return f"Answers: {EXTRACTIVE}. {what_it_takes()}"
    problem = (await seen(model, within_s=within_s)).problem
    return f"Answers: {model}" + (f". {problem}" if problem else "")


async def seen(model: ChatModel, *, within_s: float) -> Seen:
    """Asks its server for the list of its models, which costs nothing and loads none."""
    headers = {"Authorization": f"Bearer {model.key}"} if model.key else {}
    try:
        wire = JsonWire(model.url, headers=headers, max_bytes=MAX_LIST_BYTES)
    except ValueError as exc:  # a proxy that cannot be spoken to
        return Seen(False, problem=f"It cannot be reached: {exc}.")
    try:
        path = "/api/tags" if model.provider == "ollama" else "/models"
        return _read(model, await wire.send("GET", path, timeout_s=within_s))
    except (Unreachable, TimeoutError):
        return Seen(False, problem=_unreachable(model))
    finally:
        await wire.aclose()


def _read(model: ChatModel, reply: Reply) -> Seen:
    if reply.status >= 500:  # as of a proxy whose server is gone
        return Seen(False, problem=_unreachable(model))
    if reply.status in (401, 403) and model.provider == "openai":
        return Seen(True, problem=f"It refuses the key (HTTP {reply.status}): check OPENAI_API_KEY.")
    listed = _listed(model, reply.body) if reply.ok else None
    if listed is None:
        return Seen(True)
    if full_name(model.name).lower() in (full_name(one).lower() for one in listed):
        return Seen(True, True)
    return Seen(True, False, _unknown(model, listed))


def _listed(model: ChatModel, body: Any) -> list[str] | None:
    """The names of the models that its server has; None for what is no such list."""
    models = body.get("models" if model.provider == "ollama" else "data") if isinstance(body, dict) else None
    if not isinstance(models, list):
        return None
    names = (one.get("name") or one.get("model") or one.get("id") for one in models if isinstance(one, dict))
    return [name for name in names if isinstance(name, str)]


def _unknown(model: ChatModel, listed: list[str]) -> str:
    if model.provider == "ollama":
        return not_pulled(model.name)
    others = ", ".join(islice(listed, NAMED)) + (" and others" if len(listed) > NAMED else "")
    return f"Its server does not list this model, but {others or 'none'}: KNOWLEX_CHAT_MODEL names another."


def _unreachable(model: ChatModel) -> str:
    if model.provider == "ollama":
        return "It cannot be reached: start Ollama (`ollama serve`), or set OLLAMA_HOST."
    at = "the network" if model.url == OPENAI_URL else "OPENAI_BASE_URL, and that this server runs"
    return f"It cannot be reached: check {at}."


def asked() -> Iterator[Finding]:
    """Its server, whether it knows the model, the reply, what was read of it, a verdict; each with its time.

    Ends with the step that failed. Where no model is configured none is asked, and it says what that takes.
    """
    model = configured()
    if model is None:
        yield Finding("chat model", "none", True, f"answers are {EXTRACTIVE}. {what_it_takes()}")
        return
    yield Finding("chat model", str(model), True, f'is asked "{QUESTION}" with one passage: "{PASSAGE}"')
    started = time.perf_counter()
    found = asyncio.run(seen(model, within_s=min(TIMEOUT_S, settings.LLM_TIMEOUT_S)))
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
