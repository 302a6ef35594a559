"""Answers to reuse: to the same question with the same settings, while nothing of what was read has changed.

Who asks is not in the key: which collections may be read is, with their state.
"""

import hashlib
import json
import logging
import time
from dataclasses import fields, replace
from functools import partial
from operator import attrgetter
from typing import Any

from django.conf import settings

from knowlex.common import shared_cache
from knowlex.common.components import component
from rag import prompts
from rag.caching.codec import decoded, encoded
from rag.protocols import Reranker
from rag.types import NO_FILTERS, Answer, Question

log = logging.getLogger(__name__)

KIND = "answer"
_VERSION = 3  # of the key and of what is stored: what earlier releases stored is not found
# Of a question, what changes nothing in its answer, or is in the key in another form.
_NOT_ASKED = {"deadline", "collection_ids", "filters"}
_asked = attrgetter(*(one.name for one in fields(Question) if one.name not in _NOT_ASKED))
_SETTINGS = ("CONTEXT_TOKENS", "CHAT_CONTEXT_TOKENS", "CONTEXT_FLOOR", "STRICT_VERIFICATION")


def enabled() -> bool:
    return shared_cache.enabled() and settings.ANSWER_CACHE_S > 0


async def recall(question: Question) -> Answer | None:
    """The stored answer, with this question in it; None if there is none. Never raises, never waits long."""
    if not _is_cacheable(question):
        return None
    started = time.perf_counter()
    value = await shared_cache.shared.get(KIND, _key(question))
    answer = None if value is None else decoded(value)
    if answer is not None and not _answers(answer, question):
        answer = None
    if value is not None and answer is None:
        log.warning("a stored answer could not be read")
    shared_cache.count(KIND, hit=answer is not None)
    if answer is None:
        return None
    took = round((time.perf_counter() - started) * 1000, 3)
    return replace(answer, question=question, stage_ms={"cache": took})


def remember(question: Question, answer: Answer) -> None:
    """Keep it for the next who asks the same, if it is worth it; nobody waits for that.

    question: as it was given to `recall`, its state read before the search: a change meanwhile makes the
    answer newer than the state says, which nobody asks for any more.
    """
    if _is_cacheable(question) and answer.answered and not _is_makeshift(answer):
        shared_cache.shared.put(KIND, _key(question), partial(encoded, answer), settings.ANSWER_CACHE_S)


def _is_cacheable(question: Question) -> bool:
    return bool(question.state) and enabled()


def _is_makeshift(answer: Answer) -> bool:
    """Whether a model that is configured had no part in it, because it failed: the next answer is better."""
    reranker = getattr(component("RERANKER", Reranker), "name", "")
    failed = bool(reranker) and answer.question.reranked and answer.reranker != reranker
    return failed or answer.rewriting == "failed"


def _answers(answer: Answer, question: Question) -> bool:
    """A last look, in case that somebody else writes under our keys."""
    stored = answer.question
    return (stored.text, stored.original, stored.state) == (question.text, question.original, question.state)


def _key(question: Question) -> str:
    filters = None if question.filters is NO_FILTERS else question.filters
    ids = sorted(id_.int for id_ in question.collection_ids)
    return repr((_VERSION, _asked(question), filters, ids, _configuration.digest()))


class _Configuration:
    """All parts with their options, models and prompts: another answer may come of any other."""

    def __init__(self) -> None:
        self._of: dict[str, dict[str, Any]] = {}
        self._digest = ""

    def digest(self) -> str:
        if self._of is not settings.KNOWLEX:
            self._of = settings.KNOWLEX
            names = [*sorted(one.name for one in fields(Answer)), prompts.PROMPT_VERSION]
            more = {name: getattr(settings, name) for name in _SETTINGS}
            text = json.dumps([self._of, more, names], sort_keys=True, default=repr)
            self._digest = hashlib.sha256(text.encode()).hexdigest()
        return self._digest


_configuration = _Configuration()
