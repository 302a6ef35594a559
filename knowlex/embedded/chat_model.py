"""The servers of models: whether one is there and knows its model, and how a chat model answers.

`up` and `doctor` say it. No key is ever shown.
"""

import asyncio
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any, NamedTuple

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.db import DatabaseError, connection

from embeddings.active_model import agreed_model
from embeddings.registry import configured_model, connection_options, server_name
from embeddings.types import ModelSpec
from knowlex.base.errors import DatabaseUnavailable
from knowlex.embedded.report import TIMEOUT_S, Finding, without_password
from knowlex.environment import SERVED_LANGUAGES
from knowlex.net.json_client import JsonWire, Reply, Unreachable
from knowlex.net.ollama import base_url, full_name, not_pulled
from rag.trial import PASSAGE, QUESTION, trial

OPENAI_URL = "https://api.openai.com/v1"
MAX_LIST_BYTES = 4 * 1024 * 1024
LISTED = 3  # models of a server that are named
EXTRACTIVE = "extractive, word for word from your documents"


@dataclass(frozen=True, slots=True)
class ServedModel:
    """provider: "ollama" or "openai", which is any server that speaks OpenAI's API. url: what its routes are
    appended to. setting: the variable that names another model.
    """

    provider: str
    name: str
    url: str
    key: str = ""
    setting: str = "KNOWLEX_CHAT_MODEL"

    @classmethod
    def of(cls, options: Mapping[str, Any], setting: str) -> "ServedModel | None":
        """Read the options of a part; None for one that runs in this process."""
        if "host" in options:
            return cls("ollama", options["model_name"], base_url(options["host"]), setting=setting)
        if "base_url" in options:
            url = (options["base_url"] or OPENAI_URL).rstrip("/")
            return cls("openai", options["model_name"], url, options["api_key"], setting)
        return None

    def __str__(self) -> str:
        return f"{self.provider} {self.name} at {self.shown_url}"

    @property
    def shown_url(self) -> str:
        return without_password(self.url)


class ModelState(NamedTuple):
    """What a server says of a model. is_listed: None where it does not tell. problem: what is wrong, and what
    to do about it; "" where nothing is.
    """

    reached: bool
    is_listed: bool | None = None
    problem: str = ""


def configured_chat_model() -> ServedModel | None:
    """Return None where the answers are extractive, and no model is asked."""
    return ServedModel.of(settings.KNOWLEX["SYNTHESIZER"].get("options", {}), "KNOWLEX_CHAT_MODEL")


def describe_choices() -> str:
    """Say what to set for a chat model to write the answers. A key alone would have OpenAI embed, too."""
    ollama, environment = "KNOWLEX_SYNTHESIZER=ollama (with Ollama running)", settings.ENV
    openai = "OPENAI_API_KEY"
    if environment.openai_api_key or environment.openai_base_url:
        openai = "KNOWLEX_SYNTHESIZER=openai"
    elif not environment.knowlex_embedder:
        openai = "OPENAI_API_KEY (and KNOWLEX_EMBEDDER=local, to keep the vectors that there are)"
    return f"For answers in a chat model's words set {ollama} or {openai}."


async def describe_answerer(*, within_s: float) -> str:
    """Say who writes the answers, and what is wrong with it; the model's server is asked so long."""
    model = configured_chat_model()
    if model is None:
        return f"Answers: {EXTRACTIVE}. {describe_choices()}"
    problem = (await inspect_model(model, within_s=within_s)).problem
    return f"Answers: {model}" + (f". {problem}" if problem else "")


async def inspect_model(model: ServedModel, *, within_s: float) -> ModelState:
    """Ask its server for the list of its models, which costs nothing and loads none."""
    headers = {"Authorization": f"Bearer {model.key}"} if model.key else {}
    try:
        wire = JsonWire(model.url, headers=headers, max_bytes=MAX_LIST_BYTES)
    except ValueError as exc:  # a proxy that cannot be spoken to
        return ModelState(False, problem=f"It cannot be reached: {exc}.")
    try:
        path = "/api/tags" if model.provider == "ollama" else "/models"
        return _read_state(model, await wire.send("GET", path, timeout_s=within_s))
    except (Unreachable, TimeoutError):
        return ModelState(False, problem=_describe_unreachable(model))
    finally:
        await wire.aclose()


def _read_state(model: ServedModel, reply: Reply) -> ModelState:
    if reply.status >= 500:  # as of a proxy whose server is gone
        return ModelState(False, problem=_describe_unreachable(model))
    if reply.status in (401, 403) and model.provider == "openai":
        return ModelState(True, problem=f"It refuses the key (HTTP {reply.status}): check OPENAI_API_KEY.")
    names = _model_names(model, reply.body) if reply.ok else None
    if names is None:
        return ModelState(True)
    if full_name(model.name).lower() in (full_name(name).lower() for name in names):
        return ModelState(True, True)
    return ModelState(True, False, _describe_unlisted(model, names))


def _model_names(model: ServedModel, body: Any) -> list[str] | None:
    """Return the names of the models that its server has; None for what is no such list."""
    models = body.get("models" if model.provider == "ollama" else "data") if isinstance(body, dict) else None
    if not isinstance(models, list):
        return None
    rows = (row for row in models if isinstance(row, dict))
    names = (row.get("name") or row.get("model") or row.get("id") for row in rows)
    return [name for name in names if isinstance(name, str)]


def _describe_unlisted(model: ServedModel, names: list[str]) -> str:
    if model.provider == "ollama":
        return not_pulled(model.name)
    others = ", ".join(islice(names, LISTED)) + (" and others" if len(names) > LISTED else "")
    return f"Its server does not list this model, but {others or 'none'}: {model.setting} names another."


def _describe_unreachable(model: ServedModel) -> str:
    if model.provider == "ollama":
        return "It cannot be reached: start Ollama (`ollama serve`), or set OLLAMA_HOST."
    cause = "the network" if model.url == OPENAI_URL else "OPENAI_BASE_URL, and that this server runs"
    return f"It cannot be reached: check {cause}."


def check_embedder() -> Finding:
    """Look for the server of the model that is searched, if it has one; nothing is embedded."""
    try:
        spec = _agreed_model()
    except ImproperlyConfigured as exc:
        return Finding("embedder", settings.ENV.embedder, False, str(exc))
    options = connection_options(spec) | {"model_name": server_name(spec)}
    model = ServedModel.of(options, "KNOWLEX_EMBEDDING_MODEL")
    if model is None:
        languages = ", ".join(SERVED_LANGUAGES.get(spec.name, {}).values())
        says = f"{spec.name} in this process, for {languages or 'languages that nobody measured'}"
        return Finding("embedder", spec.provider, True, says)
    state = asyncio.run(inspect_model(model, within_s=TIMEOUT_S))
    if model.provider == "openai" and state.is_listed is False:  # a list need not be complete
        return Finding("embedder", str(model), None, state.problem)
    return Finding("embedder", str(model), not state.problem, state.problem or "answers")


def _agreed_model() -> ModelSpec:
    """Return the settings' model where the database does not answer, or has no tables yet.

    Raises ImproperlyConfigured: `up` refuses the settings.
    """
    configured = configured_model()
    try:
        connection.ensure_connection()
        return agreed_model(configured)
    except (DatabaseError, DatabaseUnavailable):
        return configured


def check_chat_model() -> Iterator[Finding]:
    """Check its server, whether it knows the model, its reply, and what was read of it, each with its time.

    Ends with the step that failed. Where no model is configured none is asked, and it says what that takes.
    """
    model = configured_chat_model()
    if model is None:
        yield Finding("chat model", "none", True, f"answers are {EXTRACTIVE}. {describe_choices()}")
        return
    yield Finding("chat model", str(model), True, f'is asked "{QUESTION}" with one passage: "{PASSAGE}"')
    started = time.perf_counter()
    state = asyncio.run(inspect_model(model, within_s=min(TIMEOUT_S, settings.LLM_TIMEOUT_S)))
    steps = list(_check_server(model, state, _seconds(time.perf_counter() - started)))
    yield from steps
    if all(step.ok is not False for step in steps):
        yield from _check_reply()


def _check_server(model: ServedModel, state: ModelState, took: str) -> Iterator[Finding]:
    if not state.reached:
        yield Finding("server", took, False, state.problem)
        return
    yield Finding("server", took, True, f"{model.shown_url} was reached")
    if state.is_listed:
        yield Finding("model", took, True, f"{model.name} is known")
    elif state.problem:
        may_answer = model.provider == "openai" and state.is_listed is False  # a list need not be complete
        yield Finding("model", took, None if may_answer else False, state.problem)
    else:
        yield Finding("model", took, None, f"the server does not tell whether it knows {model.name}")


def _check_reply() -> Iterator[Finding]:
    try:
        steps = asyncio.run(trial(within_s=settings.LLM_TIMEOUT_S))
    except ImproperlyConfigured as exc:
        yield Finding("reply", _seconds(0), False, str(exc))
        return
    for step in steps:
        yield Finding(step.name, _seconds(step.took_s), step.ok, step.says)


def _seconds(took: float) -> str:
    return f"{took:.2f} s"
