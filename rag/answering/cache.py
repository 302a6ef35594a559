"""Answers to reuse: to the same question with the same settings, while nothing of what was read has changed.

Who asks is not in the key: which collections may be read is, with their state.
"""

import hashlib
import json
import logging
import time
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, replace
from functools import partial
from operator import attrgetter, itemgetter
from pathlib import Path
from types import GenericAlias, ModuleType
from typing import Any, get_type_hints

from django.conf import settings
from pydantic import NonNegativeInt, TypeAdapter, ValidationError
from pydantic_core import to_json

import documents
import embeddings
import knowlex
import rag
from knowlex.runtime import cache
from knowlex.runtime.components import component
from rag.protocols import Reranker
from rag.types.answer import Answer
from rag.types.question import NO_FILTERS, Question
from rag.types.retrieval import Passage

MAX_BYTES = 1_000_000  # of JSON
# Packing takes twice as long as all the rest, and most answers are of 5 to 15 kB. Some thousand are kept.
_COMPRESSED_FROM = 16_384
_PLAIN, _DEFLATED = b"j", b"z"

_TYPES = get_type_hints(Passage)
# Only the making of an answer needs the others.
_SHOWN = tuple(name for name in _TYPES if name not in {"sentences", "analysis"})
# All that is told of a candidate that did not come into the answer.
_JUDGED = (
    "chunk_id", "document_id", "distance", "dense_rank", "sparse_rank", "sparse_score", "score",
    "fused_score", "rerank_score", "relevance",
)  # fmt: skip
_UNTOLD = {
    "document_name": "", "title": "", "chunk_index": 0, "content": "", "page_number": None, "last_page": None,
    "chapter": "", "section": "", "start_char": 0, "token_count": 0,
}  # fmt: skip
_shown, _judged = itemgetter(*_SHOWN), itemgetter(*_JUDGED)


def _tuple_of(*types: Any) -> Any:
    return GenericAlias(tuple, types)


def _rows(names: Iterable[str]) -> Any:
    return _tuple_of(_tuple_of(*(_TYPES[name] for name in names)), ...)


# The answer without passages; those that are shown, and those that were only judged; and for its own lists
# (context, passages, candidates) the places in both.
_Places = tuple[NonNegativeInt, ...]
_STORED: TypeAdapter[Any] = TypeAdapter(
    _tuple_of(Answer, _rows(_SHOWN), _rows(_JUDGED), _Places, _Places, _Places)
)


def encode_answer(answer: Answer) -> bytes | None:
    """Return the answer as bytes; None if it is too large, or holds what JSON cannot.

    Without the scored sentences of passages; of candidates that did not come into the answer, ids and scores.
    """
    shown = {id(passage): passage for passage in (*answer.context, *answer.passages)}
    others = {id(passage): passage for passage in answer.candidates if id(passage) not in shown}
    place_of = {number: place for place, number in enumerate((*shown, *others))}
    stored = (
        replace(answer, context=(), passages=(), candidates=()),
        [_shown(passage._asdict()) for passage in shown.values()],
        [_judged(passage._asdict()) for passage in others.values()],
        [place_of[id(passage)] for passage in answer.context],
        [place_of[id(passage)] for passage in answer.passages],
        [place_of[id(passage)] for passage in answer.candidates],
    )
    try:
        data = to_json(stored)
    except ValueError:
        return None
    if len(data) > MAX_BYTES:
        return None
    return _PLAIN + data if len(data) < _COMPRESSED_FROM else _DEFLATED + zlib.compress(data, 1)


def decode_answer(value: bytes) -> Answer | None:
    """Return the answer; None for what is no answer, or is one that contradicts itself."""
    try:
        bare, shown, others, context, found, candidates = _STORED.validate_json(_json(value))
        passages = [*_passages(_SHOWN, shown, {}), *_passages(_JUDGED, others, _UNTOLD)]
        answer: Answer = replace(
            bare,
            context=_chosen(passages, context),
            passages=_chosen(passages, found),
            candidates=_chosen(passages, candidates),
        )
    except (ValidationError, zlib.error, IndexError, ValueError):
        return None
    return answer if _is_whole(answer) else None


def _passages(
    names: Sequence[str], rows: Iterable[Sequence[Any]], untold: Mapping[str, Any]
) -> Iterable[Passage]:
    for row in rows:
        yield Passage(**{**untold, **dict(zip(names, row, strict=True))})


def _chosen(passages: Sequence[Passage], places: Iterable[int]) -> tuple[Passage, ...]:
    return tuple(passages[place] for place in places)


def _json(value: bytes) -> bytes:
    if value[:1] == _PLAIN and len(value) <= MAX_BYTES + 1:
        return value[1:]
    if value[:1] != _DEFLATED:
        raise ValueError("unknown form")
    unpacking = zlib.decompressobj()
    data = unpacking.decompress(value[1:], MAX_BYTES)
    if not unpacking.eof:
        raise ValueError("cut off, or too large")
    return data


def _is_whole(answer: Answer) -> bool:
    """Return whether every number that names a passage, and every place in a text, is there."""
    context, text = answer.context, answer.text
    claims = [
        *((one.answer_start, one.answer_end) for one in answer.citations),
        *((one.answer_start, one.answer_end) for one in answer.contradicted),
    ]
    return (
        answer.answered
        and bool(text and answer.cited)
        and all(0 < n <= len(context) for n in answer.cited)
        and all(
            0 < c.passage <= len(context)
            and 0 <= c.quote_start < c.quote_end <= len(context[c.passage - 1].content)
            for c in answer.citations
        )
        and all(0 <= start <= end <= len(text) for start, end in claims)
    )


log = logging.getLogger(__name__)

KIND = "answer"
# Of a question, what changes nothing in its answer, or is in the key in another form.
_NOT_ASKED = {"deadline", "collection_ids", "filters"}
_asked = attrgetter(*(one.name for one in fields(Question) if one.name not in _NOT_ASKED))
_SETTINGS = ("CONTEXT_TOKENS", "CHAT_CONTEXT_TOKENS", "CONTEXT_FLOOR", "STRICT_VERIFICATION")


def enabled() -> bool:
    return cache.enabled() and settings.ANSWER_CACHE_S > 0


async def recall(question: Question) -> Answer | None:
    """Return the stored answer, with this question in it; None if there is none. Never raises or waits
    long.
    """
    if not _is_cacheable(question):
        return None
    started = time.perf_counter()
    value = await cache.shared.get(KIND, _key(question))
    answer = None if value is None else decode_answer(value)
    if answer is not None and not _answers(answer, question):
        answer = None
    if value is not None and answer is None:
        log.warning("a stored answer could not be read")
    cache.count(KIND, hit=answer is not None)
    if answer is None:
        return None
    took = round((time.perf_counter() - started) * 1000, 3)
    return replace(answer, question=question, stage_ms={"cache": took})


def remember(question: Question, answer: Answer) -> None:
    """Keep it for the next who asks the same, if it is worth it; nobody waits for that.

    question: as it was given to `recall`, its state read before the search: a change meanwhile makes the
    answer newer than the state says, which nobody asks for any more.
    """
    is_whole = answer.answered and not answer.usage.cut
    if _is_cacheable(question) and is_whole and not _is_makeshift(answer):
        cache.shared.put(KIND, _key(question), partial(encode_answer, answer), settings.ANSWER_CACHE_S)


def _is_cacheable(question: Question) -> bool:
    return bool(question.state) and enabled()


def _is_makeshift(answer: Answer) -> bool:
    """Return whether a model that is configured had no part in it, because it failed: the next answer is
    better.
    """
    reranker = getattr(component("RERANKER", Reranker), "name", "")
    failed = bool(reranker) and answer.question.reranked and answer.reranker != reranker
    return failed or answer.rewriting == "failed"


def _answers(answer: Answer, question: Question) -> bool:
    """Look a last time, in case that somebody else writes under our keys."""
    stored = answer.question
    return (stored.text, stored.original, stored.state) == (question.text, question.original, question.state)


def _key(question: Question) -> str:
    filters = None if question.filters is NO_FILTERS else question.filters
    ids = sorted(id_.int for id_ in question.collection_ids)
    return repr((_asked(question), filters, ids, _configuration.digest()))


def digest_of_program(*packages: ModuleType) -> str:
    """Return the digest of all files of the packages: of code, and of the models and data beside it."""
    digest = hashlib.sha256()
    for package in packages:
        for folder in map(Path, package.__path__):
            for path in sorted(folder.rglob("*")):
                if path.is_file() and path.parent.name != "__pycache__":
                    digest.update(f"{path.relative_to(folder.parent)}\0".encode())
                    digest.update(path.read_bytes())
    return digest.hexdigest()


# As the process loaded it: its files may be another release's by the time that it is asked.
_PROGRAM = digest_of_program(documents, embeddings, knowlex, rag)


class _Configuration:
    """The program, and all parts with their options and models: another answer may come of any other."""

    def __init__(self) -> None:
        self._of: dict[str, dict[str, Any]] = {}
        self._digest = ""

    def digest(self) -> str:
        if self._of is not settings.KNOWLEX:
            self._of = settings.KNOWLEX
            more = {name: getattr(settings, name) for name in _SETTINGS}
            text = json.dumps([_PROGRAM, self._of, more], sort_keys=True, default=repr)
            self._digest = hashlib.sha256(text.encode()).hexdigest()
        return self._digest


_configuration = _Configuration()
