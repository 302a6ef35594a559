"""The part of a passage that a claim rests on. Plain Python."""

from collections.abc import Sequence

from documents.sentences import sentence_spans
from embeddings.lexical import lexemes

SNIPPET_CHARS = 200


def snippet(content: str, claim: str, limit: int = SNIPPET_CHARS) -> str:
    """At most `limit` characters of the content, word for word, from the sentence nearest to the claim on."""
    wanted = frozenset(lexemes(claim))
    spans = sentence_spans(content)
    start = max(spans, key=lambda span: _shared(content[slice(*span)], wanted), default=(0, 0))[0]
    return _cut(content, start, spans, limit)


def snippet_from(content: str, start: int, limit: int = SNIPPET_CHARS) -> str:
    """The same from this place on."""
    return _cut(content, start, sentence_spans(content), limit)


def _cut(content: str, start: int, spans: Sequence[tuple[int, int]], limit: int) -> str:
    if len(content) - start <= limit:
        return content[start:].strip()
    ends = [end for _, end in spans if start < end <= start + limit]
    return content[start : ends[-1] if ends else _word_end(content, start + limit)].strip()


def _shared(sentence: str, wanted: frozenset[str]) -> float:
    """How many of the claim's words the sentence holds; of two that hold as many, the shorter is nearer."""
    words = lexemes(sentence)
    return len(wanted.intersection(words)) + 1 / (2 + len(words))


def _word_end(content: str, position: int) -> int:
    """The last place up to `position` where no word is cut, if there is one near."""
    space = content.rfind(" ", position - 40, position)
    return space if space > 0 else position
