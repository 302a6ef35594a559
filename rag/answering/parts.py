"""The pipeline and its retriever, built from the configured parts."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from django.conf import settings
from django.utils.module_loading import import_string

from documents.protocols import TokenCounter
from knowlex.runtime.components import component
from rag.answering.pipeline import Pipeline
from rag.context.assembly import ContextMaker
from rag.context.tokens import Ruler
from rag.protocols import ClaimJudge, Completing, Reranker, Retriever, Sampling, Synthesizer, can
from rag.relevance.assessment import assess


def build_pipeline(**retriever: Any) -> Pipeline:
    """Build the pipeline. retriever: options of its plain search, for example `rrf_k`, instead of the
    settings'.
    """
    finding = build_retriever(**retriever) if retriever else component("RETRIEVER", Retriever)
    return Pipeline(
        finding,
        component("RERANKER", Reranker),
        assess,
        component("SYNTHESIZER", Synthesizer),
        component("CLAIM_JUDGE", ClaimJudge),
        contexts=build_context_maker(finding),
        verified_only=settings.STRICT_VERIFICATION,
    )


def build_context_maker(retriever: Retriever) -> ContextMaker:
    """Build it as configured; this retriever fetches other chunks of a hit's document."""
    return ContextMaker(
        ruler=Ruler(count_tokens),
        budget=settings.CONTEXT_TOKENS,
        window=settings.CHAT_CONTEXT_TOKENS,
        floor=settings.CONTEXT_FLOOR,
        beside=retriever if can(retriever, Completing) else None,
        sampling=retriever if can(retriever, Sampling) else None,
    )


@lru_cache(maxsize=1024)
def count_tokens(text: str) -> int:
    """Count the embedding model's tokens."""
    return len(component("TOKENIZER", TokenCounter).starts(text))


def build_retriever(**options: Any) -> Retriever:
    """Build the retriever with other options of its plain search; the one that faces use stays as it is."""
    built: Retriever = _build("RETRIEVER", {"plain": _build("PLAIN_RETRIEVER", options)})
    return built


def _build(role: str, options: Mapping[str, Any]) -> Any:
    spec = settings.KNOWLEX[role]
    return import_string(spec["class"])(**{**spec.get("options", {}), **options})
