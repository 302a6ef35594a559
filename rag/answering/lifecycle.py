"""What answering does when a process starts and ends.

At the start the models of configured parts are checked, and Ollama's and the sentence reader's are loaded
before somebody's first question has to wait for them. Nothing waits for the loading, and nothing fails by it.
Ollama's load is long: a question's own limit would end it, and Ollama stops loading when nobody waits any
more, so that every question of a slow disk would begin it anew.
"""

import asyncio
import logging
from typing import Protocol, runtime_checkable

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from embeddings import registry
from embeddings.types import ModelSpec
from knowlex.base.errors import EmbedderUnavailable, KnowlexError, SynthesisUnavailable
from knowlex.base.retry import Retry
from knowlex.db import replica
from knowlex.runtime.cache import shared
from knowlex.runtime.components import all_built, component
from knowlex.runtime.spending import daily_tokens
from rag.history.query_counts import query_counts
from rag.history.recorder import recorder
from rag.protocols import ClaimJudge, ModelBacked, Reranker

LOADING_S = 300.0
TRANSIENT = (EmbedderUnavailable, SynthesisUnavailable)
TRIES = Retry(retries=4, base_s=2.0)  # after 2, 4, 8 and 16 s: Ollama may start after Knowlex
log = logging.getLogger(__name__)


@runtime_checkable
class Loadable(Protocol):
    """A part whose model a server of one's own, or this process, has to load."""

    async def warm_up(self, *, timeout_s: float) -> None:
        """Raises KnowlexError; EmbedderUnavailable or SynthesisUnavailable where another try may help."""
        ...


async def load_models(searched: ModelSpec) -> None:
    """Load the models. searched: the one that questions are embedded by. Raises ImproperlyConfigured."""
    await asyncio.gather(*(_load(part) for part in _parts(searched)))


def _parts(searched: ModelSpec) -> list[Loadable]:
    """Build an embedder of Ollama only: building a local one would take the time that this is to save."""
    found: list[object] = [component(role, object) for role in _answering()]
    if registry.is_ollama(searched):
        found.append(registry.embedder_for(searched))
    return [part for part in found if isinstance(part, Loadable)]


def _answering() -> list[str]:
    """Return who reads, and who asks Ollama's chat model; both that may would ask the same one."""
    options = {
        role: settings.KNOWLEX.get(role, {}).get("options", {}) for role in ("SYNTHESIZER", "CHAT_MODEL")
    }
    reading = [role for role, chosen in options.items() if chosen.get("reading")]
    return reading + [role for role, chosen in options.items() if "host" in chosen][:1]


async def _load(part: Loadable) -> None:
    try:
        await TRIES.acall(lambda: part.warm_up(timeout_s=LOADING_S), retry_on=TRANSIENT)
    except KnowlexError as exc:
        log.warning("a model was not loaded beforehand", extra={"reason": exc.message})


def ensure_reranker_works() -> None:
    """Raise ImproperlyConfigured, at the start, if the reranker's model cannot be used."""
    _ensure_works(component("RERANKER", Reranker), "KNOWLEX_RERANKER_MODEL")


def ensure_claim_judge_works() -> None:
    """Raise ImproperlyConfigured, at the start, if the claim judge's model cannot be used."""
    _ensure_works(component("CLAIM_JUDGE", ClaimJudge), "KNOWLEX_CLAIM_JUDGE_MODEL")


def _ensure_works(part: object, variable: str) -> None:
    try:
        if isinstance(part, ModelBacked):
            part.check()
    except ValueError as exc:
        raise ImproperlyConfigured(f"{variable}: {exc}") from exc


async def close() -> None:
    """Close this event loop's connections to models, and write what is not yet written."""
    await replica.close()
    for unwritten in (query_counts.take(), recorder.take()):
        if unwritten is not None:
            await unwritten.close()
    await shared.close()
    await daily_tokens.aclose()
    for part in all_built():  # the embedders of other models than the configured one among them
        aclose = getattr(part, "aclose", None)
        if aclose is not None:
            await aclose()
