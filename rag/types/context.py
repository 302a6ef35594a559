"""What the synthesizer is shown. Plain Python, frozen."""

from dataclasses import dataclass
from typing import NamedTuple
from uuid import UUID

from rag.types.retrieval import NamedDocuments, Passage


class Part(NamedTuple):
    """A stretch of a block that comes from one passage: `content[start:start + length]` of the block is
    `content[begin:begin + length]` of the passage. passage: 0-based place in `Context.passages`.
    """

    start: int
    length: int
    passage: int
    begin: int


@dataclass(frozen=True, slots=True)
class Block:
    """What the synthesizer is shown under one number: a chunk, a part of it, or adjoining chunks.

    parts: in reading order, may overlap where the chunks do; what no part covers is glue (white space).
    analysis: of the passage that it is, "" if it is no whole one. table_head: of the one table that all its
    passages have rows of, () if there is none.
    """

    content: str
    parts: tuple[Part, ...]
    language: str = ""
    analysis: str = ""
    table_head: tuple[str, ...] = ()


class Half(NamedTuple):
    """What a question asks of one of two things.

    others: the chunks that were found for the other thing. named: the documents that this half names. bare:
    nothing is asked of the thing but how it compares.
    """

    text: str
    others: frozenset[UUID]
    named: NamedDocuments | None = None
    bare: bool = False


@dataclass(frozen=True, slots=True)
class Context:
    """Blocks are numbered from 1, as the prompt shows them. passages: all that they are made of.

    halves: of a question of two things that stand in different documents, those that are found; else none.
    named: documents that the question names. unsaid: chunks that are shown, but of which nothing is said.
    """

    blocks: tuple[Block, ...] = ()
    passages: tuple[Passage, ...] = ()
    halves: tuple[Half, ...] = ()
    named: NamedDocuments | None = None
    unsaid: frozenset[UUID] = frozenset()

    def __bool__(self) -> bool:
        return bool(self.blocks)


class Room(NamedTuple):
    """What a chat model's window holds besides the blocks. prompt: all else that it is told, the question
    included. reply_tokens: kept for what it says.
    """

    prompt: str
    reply_tokens: int


class Place(NamedTuple):
    """Of a chunk in its document; chunk_index from 0."""

    document_id: UUID
    chunk_index: int
