"""The messages of a chat completion, read into a question and the turns before it. Plain Python."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from knowlex.base.errors import InvalidInput
from rag.citations import without_markers
from rag.conversation.carry_over import Turn

ROLES = ("system", "developer", "user", "assistant", "tool", "function")


class Message(NamedTuple):
    """role: "user" or "assistant"; what others say is left out. text: of all parts of its content."""

    role: str
    text: str


def read_messages(given: Sequence[Any]) -> list[Message]:
    """Return what was said, in order. Raises InvalidInput naming the message that is wrong.

    Instructions of `system` and `developer` are left out: they could tell a model to answer without passages.
    """
    said = []
    for place, message in enumerate(given):
        field = f"messages[{place}]"
        role = message.get("role") if isinstance(message, dict) else None
        if role not in ROLES:
            raise InvalidInput(f"{field}.role must be one of {', '.join(ROLES)}.", field=f"{field}.role")
        if role in ("user", "assistant"):
            said.append(Message(role, _read_content(message.get("content"), f"{field}.content")))
    if not any(message.role == "user" for message in said):
        raise InvalidInput("messages holds no message of the role user.", field="messages")
    return said


def last_text(given: Sequence[dict[str, Any]]) -> str:
    """Return what the last message says, whoever says it; "" where that is no text."""
    try:
        return _read_content(given[-1].get("content"), "content")
    except InvalidInput:
        return ""


def _read_content(content: Any, field: str) -> str:
    """Return the text. An assistant's may be null, where it only called tools."""
    if content is None or isinstance(content, str):
        return content or ""
    if not isinstance(content, list):
        raise InvalidInput(f"{field} must be a string or a list of parts.", field=field)
    texts = []
    for part in content:
        text = part.get("text") if isinstance(part, dict) and part.get("type") == "text" else None
        if not isinstance(text, str):
            raise InvalidInput(f"{field} may hold only parts of the type text.", field=field)
        texts.append(text)
    return "\n".join(texts)


def split_turns(said: Sequence[Message]) -> tuple[str, list[Turn]]:
    """Return the last question, and each question before it with its answer, in order."""
    turns: list[Turn] = []
    for message in said:
        if message.role == "user":
            turns.append(Turn(message.text))
        elif turns:
            answer = f"{turns[-1].answer}\n{without_markers(message.text)}".strip()
            turns[-1] = turns[-1]._replace(answer=answer)
    return turns[-1].question, turns[:-1]
