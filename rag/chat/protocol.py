"""A chat model, whoever asks it and for what. Plain Python."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from rag.types.answer import Synthesis, Usage


class Message(NamedTuple):
    role: str
    content: str

    def as_dict(self) -> dict[str, str]:
        return {"role": self.role, "content": self.content}


def system(content: str) -> Message:
    return Message("system", content)


def user(content: str) -> Message:
    return Message("user", content)


def assistant(content: str) -> Message:
    return Message("assistant", content)


class ChatModel(Protocol):
    """Role CHAT_MODEL.

    max_tokens: of the reply; None = the provider's default. timeout_s: the caller's, where it is shorter than
    the model's own; it bounds the whole, retries included. schema: a JSON schema that the server shall hold
    the reply to; raises SchemaRefused where it does not know how.
    """

    @property
    def model_name(self) -> str: ...

    async def complete(
        self,
        messages: Sequence[Message],
        *,
        max_tokens: int | None = None,
        timeout_s: float | None = None,
        schema: Mapping[str, Any] | None = None,
    ) -> Synthesis:
        """Return what the model says next, as deterministically as it can.

        Bounded and storable text, never empty. Raises SynthesisFailed, SynthesisTimeout.
        """
        ...

    def stream(
        self,
        messages: Sequence[Message],
        *,
        max_tokens: int | None = None,
        timeout_s: float | None = None,
        schema: Mapping[str, Any] | None = None,
    ) -> AsyncGenerator[str | Usage]:
        """Yield the text of `complete` in non-empty pieces as the model makes them, then its usage.

        Tried again only before the first piece. Raises as `complete`, also in the middle; one that ends
        without the usage was cut off. Closing it closes the connection, which ends the model's work.
        """
        ...

    async def aclose(self) -> None:
        """Close this event loop's connections; the next call opens new ones."""
        ...
