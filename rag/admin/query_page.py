"""All that explains one answer, as its page in the admin shows it."""

import logging
from collections.abc import Mapping, Sequence
from typing import Any

from rag.admin import cells
from rag.admin.feedback import caller
from rag.admin.query_filters import told
from rag.memory import judging
from rag.memory.reading import Explained
from rag.models import Feedback
from rag.stages import in_order

MOST_FEEDBACK = 200
log = logging.getLogger(__name__)


def page_of(explained: Explained) -> dict[str, Any]:
    """The template's context."""
    query, response = explained.query, explained.response
    said = Feedback.objects.filter(query=query).order_by("-updated_at")[:MOST_FEEDBACK]
    return {
        "subtitle": cells.short(query.original_query, 80),
        "asked": query,
        "response": response,
        "outcome": cells.outcome(query),
        "facts": [(name, value) for name, value in _facts(explained) if value not in ("", None)],
        "settings": query.settings.items(),
        "filters": query.filters.items(),
        "claims": _claims(explained),
        "contradicted": response.contradicted if response else [],
        "states": cells.states(response),
        "candidates": explained.retrievals,
        "stages": _stages(query.stage_ms, query.latency_ms),
        "said": [(cells.rating(one.rating), one, caller(one)) for one in said],
        "score": cells.faithfulness(response),
        "judged": _judged(response),
    }


def _facts(explained: Explained) -> Sequence[tuple[str, Any]]:
    query, response = explained.query, explained.response
    names = ", ".join(one.name for one in explained.collections)
    return [
        ("Route", query.face),
        ("Latency", cells.milliseconds(query.latency_ms)),
        ("Relevance", f"{query.confidence:.2f}"),
        ("From the cache", "yes" if query.cached else "no"),
        ("Collections", names or "none that is still there"),
        ("Model", response.model if response else ""),
        ("Tokens", f"{response.input_tokens:,} in, {response.output_tokens:,} out" if response else ""),
        ("Answers the question", _share(response.answer_relevance) if response else None),
        ("Prompt", response.prompt_version if response else ""),
        ("Embedding model", query.embedding_model),
        ("Reranker", query.reranker),
        ("Rewriting", query.rewriting),
        ("Conversation", "" if query.conversation_id == str(query.id) else query.conversation_id),
        ("API key", query.key_id),
        ("Repeats", query.replay_of),
        ("Found", f"{query.retrieved} before the threshold"),
    ]


def _share(share: float | None) -> str | None:
    return None if share is None else f"{share:.2f}"


def _claims(explained: Explained) -> list[dict[str, Any]]:
    """The words that each citation stands for, and what it quotes."""
    answer = explained.response.answer if explained.response else ""
    return [
        {
            "text": answer[one.answer_start : one.answer_end],
            "citation": one,
            "state": cells.state(one.support),
            "verdict": cells.state(one.verdict),
            "status": "gone" if one.gone else one.status,
        }
        for one in explained.citations
    ]


def _stages(took: Mapping[str, float], latency_ms: int) -> list[dict[str, Any]]:
    """Bars in percent of the longest time; stages within stages are not told apart, so none is stacked."""
    longest = max([float(latency_ms), *took.values(), 1.0])
    return [
        {"name": told(name), "ms": cells.milliseconds(ms), "width": round(100 * ms / longest, 1)}
        for name, ms in [*in_order(took).items(), ("in all", float(latency_ms))]
    ]


def _judged(response: Any) -> dict[str, Any]:
    """Judged anew, since what was not supported is not stored: it may be a deleted document's."""
    if response is None or not response.answer:
        return {}
    try:
        found = judging.explained(response.query_id, response.answer)
    except Exception:  # the rest of the page is worth showing
        log.exception("an answer could not be judged", extra={"query_id": str(response.query_id)})
        return {"failed": True}
    return {"gone": True} if found is None else {"claims": found.claims, "unsupported": found.unsupported}
