"""A question's filters and settings as the history stores them, and the question made of them again."""

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any
from uuid import UUID

from rag.types.question import NO_FILTERS, Filters, MetadataFilter, Question


def stored_settings(question: Question) -> dict[str, Any]:
    """Return the settings of /v1/query, with `threshold`, and `strict_context` where it holds."""
    strict = {"strict_context": True} if question.strict_context else {}
    return strict | {
        "mode": question.mode,
        "top_k": question.top_k,
        "rerank": question.reranked,
        "rewrite": question.rewrite,
        "max_tokens": question.max_tokens,
        "threshold": question.min_relevance,
    }


def stored_filters(filters: Filters) -> dict[str, Any]:
    """Return the filters as /v1/query takes them, {} for none."""
    if filters is NO_FILTERS:
        return {}
    stored = {
        "date_range": _range("start", filters.created_from, "end", filters.created_until),
        "page": _range("from", filters.page_from, "to", filters.page_to),
        "metadata": {one.key: _metadata_value(one) for one in filters.metadata},
        "tags": list(filters.tags),
        "chapter": list(filters.chapters),
        "section": list(filters.sections),
    }
    given = {name: value for name, value in stored.items() if value}
    if filters.document_ids is not None:
        given["documents"] = [str(id_) for id_ in filters.document_ids]
    return given


def restore_question(
    text: str,
    *,
    original: str,
    collection_ids: Sequence[UUID],
    filters: Mapping[str, Any],
    settings: Mapping[str, Any],
) -> Question:
    """Return the question that these were stored of, without its deadline."""
    return Question(
        text=text,
        collection_ids=tuple(collection_ids),
        top_k=settings["top_k"],
        max_tokens=settings["max_tokens"],
        min_relevance=settings["threshold"],
        strict_context=settings.get("strict_context", False),
        mode=settings["mode"],
        filters=restore_filters(filters),
        rerank=settings["rerank"],
        rewrite=settings["rewrite"],
        original=original,
    )


def restore_filters(given: Mapping[str, Any]) -> Filters:
    if not given:
        return NO_FILTERS
    days, pages = given.get("date_range", {}), given.get("page", {})
    documents = given.get("documents")
    return Filters(
        document_ids=None if documents is None else tuple(UUID(id_) for id_ in documents),
        tags=tuple(given.get("tags", ())),
        metadata=tuple(_metadata_filter(key, value) for key, value in given.get("metadata", {}).items()),
        created_from=_day(days.get("start")),
        created_until=_day(days.get("end")),
        page_from=pages.get("from"),
        page_to=pages.get("to"),
        chapters=tuple(given.get("chapter", ())),
        sections=tuple(given.get("section", ())),
    )


def _range(low_name: str, low: Any, high_name: str, high: Any) -> dict[str, Any]:
    ends = ((low_name, low), (high_name, high))
    return {name: str(end) if isinstance(end, date) else end for name, end in ends if end is not None}


def _metadata_value(one: MetadataFilter) -> Any:
    if one.any_of:
        return list(one.any_of)
    return {name: end for name, end in (("gte", one.at_least), ("lte", one.at_most)) if end is not None}


def _metadata_filter(key: str, value: Any) -> MetadataFilter:
    if isinstance(value, list):
        return MetadataFilter(key, any_of=tuple(value))
    return MetadataFilter(key, at_least=value.get("gte"), at_most=value.get("lte"))


def _day(text: str | None) -> date | None:
    return None if text is None else date.fromisoformat(text)
