"""An answer as bytes and back. What cannot be read, or does not fit together, is no answer.

JSON that is checked against the types field by field: nothing in it can make anything but an answer.
"""

import zlib
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from pydantic import TypeAdapter, ValidationError

from rag.types import Answer, Passage

MAX_BYTES = 1_000_000  # of JSON
_COMPRESSED_FROM = 4096
_PLAIN, _DEFLATED = b"j", b"z"


@dataclass(frozen=True, slots=True)
class _Stored:
    """passages: all of the answer, each once; the answer's own lists are places in it."""

    answer: Answer
    passages: tuple[Passage, ...]
    context: tuple[int, ...]
    found: tuple[int, ...]
    candidates: tuple[int, ...]


_ADAPTER = TypeAdapter(_Stored)
# What only the making of an answer needs; and in candidates that did not come into it, their text.
_BARE: dict[str, Any] = {"sentences": (), "bounds": (), "similarities": ()}


def encoded(answer: Answer) -> bytes | None:
    """None if it is too large, or holds what JSON cannot.

    Without the sentences of passages, and without the text of candidates that did not come into the answer.
    """
    table = {id(passage): passage.but(**_BARE) for passage in (*answer.context, *answer.passages)}
    table |= {id(p): p.but(content="", **_BARE) for p in answer.candidates if id(p) not in table}
    place_of = {number: place for place, number in enumerate(table)}
    context, found, candidates = (
        tuple(place_of[id(passage)] for passage in passages)
        for passages in (answer.context, answer.passages, answer.candidates)
    )
    bare = replace(answer, context=(), passages=(), candidates=())
    stored = _Stored(bare, tuple(table.values()), context, found, candidates)
    try:
        data = _ADAPTER.dump_json(stored)
    except ValueError:
        return None
    if len(data) > MAX_BYTES:
        return None
    return _PLAIN + data if len(data) < _COMPRESSED_FROM else _DEFLATED + zlib.compress(data, 1)


def decoded(value: bytes) -> Answer | None:
    """None for what is no answer, or is one that contradicts itself."""
    try:
        stored = _ADAPTER.validate_json(_json(value))
        answer = replace(
            stored.answer,
            context=_chosen(stored.passages, stored.context),
            passages=_chosen(stored.passages, stored.found),
            candidates=_chosen(stored.passages, stored.candidates),
        )
    except (ValidationError, zlib.error, IndexError, ValueError):
        return None
    return answer if _is_whole(answer) else None


def _chosen(passages: tuple[Passage, ...], places: Iterable[int]) -> tuple[Passage, ...]:
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
    """Whether every number that names a passage, and every place in a text, is there."""
    context, text = answer.context, answer.text
    return (
        answer.answered
        and bool(text and answer.cited)
        and all(0 < n <= len(context) for n in answer.cited)
        and all(
            0 < c.passage <= len(context)
            and 0 <= c.quote_start < c.quote_end <= len(context[c.passage - 1].content)
            and 0 <= c.answer_start <= c.answer_end <= len(text)
            for c in answer.citations
        )
    )
