"""A question, with all that decides what it may find. Plain Python, frozen."""

import math
import time
from dataclasses import dataclass
from datetime import date
from typing import Literal, NamedTuple, TypeAlias
from uuid import UUID


class Variant(NamedTuple):
    """hypothetical: an answer as a document might word it, compared by its meaning alone; otherwise another
    phrasing of the question, searched for as the question is.
    """

    text: str
    hypothetical: bool


Mode = Literal["hybrid", "dense", "sparse", "exact"]
FilterValue: TypeAlias = str | int | float | bool


@dataclass(frozen=True, slots=True)
class MetadataFilter:
    """One key of the documents' metadata, at the top or under `custom`; what is not given is not asked.

    any_of: the value, or one of a list of values, is one of these, in the same JSON type. at_least, at_most:
    inclusive; numbers compare with numbers, strings (ISO dates) with strings.
    """

    key: str
    any_of: tuple[FilterValue, ...] = ()
    at_least: str | int | float | None = None
    at_most: str | int | float | None = None


@dataclass(frozen=True, slots=True)
class Filters:
    """Which passages may be found at all, the same in every mode; all that are given must hold.

    document_ids: None for all. tags: the document has one of them; () for all. created_from, created_until:
    whole UTC days of the document's `created_at`, both included. page_from, page_to: 1-based, both included;
    the passage touches one of them, and one without pages never does. chapters, sections: one of these
    titles; () for all.
    """

    document_ids: tuple[UUID, ...] | None = None
    tags: tuple[str, ...] = ()
    metadata: tuple[MetadataFilter, ...] = ()
    created_from: date | None = None
    created_until: date | None = None
    page_from: int | None = None
    page_to: int | None = None
    chapters: tuple[str, ...] = ()
    sections: tuple[str, ...] = ()


NO_FILTERS = Filters()


@dataclass(frozen=True, slots=True)
class Question:
    """A validated question (1 to 2000 characters, not blank).

    collection_ids: which collections are read; with none, nothing is found.
    top_k: how many passages to retrieve, 1 to 50. max_tokens: of the answer, None = provider's default.
    min_relevance: what the best passage must reach for an answer to be written at all.
    strict_context: every passage of the context must reach it, also where a chat model is asked.
    mode: which rankings are used; in `sparse` and `exact` no model is called. rerank: None reranks in
    `hybrid` only, whose order it is part of. rewrite: None leaves it to the settings.
    original: what the user wrote, where `text` is a follow-up question made to stand alone; else "".
    message: what was asked, where `text` is only the question in it, by which is searched and read; else "".
    state: of all that is read, for reusing answers: another one after every change of it; "" if unknown.
    principals: by which the caller may read documents that are not public. () where no collection that is
    read has such a document; None for a caller who sees all.
    deadline: of the whole request, by `time.monotonic()`; every stage takes what is left at most. None: none.
    """

    text: str
    collection_ids: tuple[UUID, ...]
    top_k: int
    max_tokens: int | None = None
    min_relevance: float = 0.8
    strict_context: bool = False
    mode: Mode = "hybrid"
    filters: Filters = NO_FILTERS
    rerank: bool | None = None
    rewrite: bool | None = None
    original: str = ""
    message: str = ""
    state: str = ""
    principals: tuple[str, ...] | None = ()
    deadline: float | None = None

    def within(self, limit_s: float) -> float:
        """Return seconds that a stage with this limit of its own may take, at least 0."""
        if self.deadline is None:
            return limit_s
        return max(0.0, min(limit_s, self.deadline - time.monotonic()))

    def spare(self, limit_s: float) -> float:
        """Return the same for a stage that an answer can do without: half of what is left is for the
        others.
        """
        if self.deadline is None:
            return limit_s
        return min(limit_s, self.within(math.inf) / 2)

    @property
    def asked(self) -> str:
        """The whole message, with what it says about how to answer."""
        return self.message or self.text

    @property
    def reranked(self) -> bool:
        return self.mode == "hybrid" if self.rerank is None else self.rerank
