"""A chat model, whoever asks it and for what. Plain Python."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from rag.types import Synthesis


class Message(NamedTuple):
    role: str
    content: str

    def as_dict(self) -> dict[str, str]:
        return {"role": self.role, "content": self.content}


def system(content: str) -> Message:
    return Message("system", content)


def user(content: str) -> Message:
    return Message("user", content)


class ChatModel(Protocol):
    """Role CHAT_MODEL."""

    async def complete(self, messages: Sequence[Message], *, max_tokens: int | None = None) -> Synthesis:
        """What the model says next, at temperature 0; max_tokens None = the provider's default.

        Bounded and storable text, never empty. Raises SynthesisFailed, SynthesisTimeout.
        """
        ...

    async def aclose(self) -> None:
        """Close this event loop's connections; the next call opens new ones."""
        ...
