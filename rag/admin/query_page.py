"""All that explains one answer, as its page in the admin shows it."""

from collections.abc import Mapping, Sequence
from typing import Any

from rag.admin import cells
from rag.admin.feedback import caller
from rag.admin.query_filters import told
from rag.deadlines import sort_stages
from rag.history.citations import uncited_in
from rag.history.listing import Explained
from rag.models import Feedback
from rag.relevance import answers
from rag.types import claims

MOST_FEEDBACK = 200
HOW = {"faithfulness": claims.HOW, "relevance": answers.HOW}


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
        "relevance": cells.relevance(response),
        "uncited": _uncited(explained),
        "how": HOW,
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
        ("Prompt", response.prompt_version if response else ""),
        ("Embedding model", query.embedding_model),
        ("Reranker", query.reranker),
        ("Rewriting", query.rewriting),
        ("Conversation", "" if query.conversation_id == str(query.id) else query.conversation_id),
        ("API key", query.key_id),
        ("Repeats", query.replay_of),
        ("Found", f"{query.retrieved} before the threshold"),
    ]


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
        for name, ms in [*sort_stages(took).items(), ("in all", float(latency_ms))]
    ]


def _uncited(explained: Explained) -> list[str]:
    """The sentences without a marker, if some of the answer claim something."""
    response = explained.response
    if response is None or not response.verification.get("uncited"):
        return []
    wrong = [(one["answer_start"], one["answer_end"]) for one in response.contradicted]
    cited = [(one.answer_start, one.answer_end) for one in explained.citations]
    return uncited_in(response.answer, [*cited, *wrong])
