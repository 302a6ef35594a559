"""What chat programs ask a model for themselves: titles, tags, follow-up questions. Plain Python.

Open WebUI and LibreChat send such prompts to the model that the user chats with, each as the only message,
of the user or, in older versions of LibreChat, of the system. Their answers are made of the messages that
stand in the prompt: no search, no model, no record.
"""

import json
import re

MAX_TITLE_WORDS, MAX_TITLE_CHARS = 6, 60
READ_CHARS = 20_000  # of a prompt's conversation
UNTITLED = "New chat"

# Open WebUI: a task begins so, says the JSON that it wants, and shows the conversation, or the text begun.
_TASK = re.compile(r"\s*### Task:\s")
_WANTED = re.compile(r'\{\s*"(title|tags|follow_ups|queries|text|prompt)"\s*:')
_CONVERSATION = re.compile(r"<chat_history>(.*)", re.DOTALL)
_EMPTY = {"tags": [], "follow_ups": [], "queries": [], "text": "", "prompt": ""}
# LibreChat: the prompts of its agents and of its assistants, and the one of its first versions.
_TITLES = (
    "Provide a concise, 5-word-or-less title for the conversation",
    "Analyze this conversation and provide:",
    "Please generate a concise title (max 40 characters) for a conversation that starts with",
    "write in the same language an extremely concise title for this conversation",
)
# Open WebUI: a face for the voice of a call.
_EMOJI = "Your task is to reflect the speaker's likely facial expression through a fitting emoji."
_FIRST = re.compile(r"(?:^|\n)[ \t|>]*USER:[ \t]*\n?[ \t]*([^\n]+)", re.IGNORECASE)


def answer_client_task(prompt: str, *, as_json: bool) -> str | None:
    """Return the answer to a prompt that a chat program wrote itself, None for what a person may have asked.

    as_json: the request asks for a JSON object (LibreChat's titles).
    """
    wanted = _WANTED.search(prompt) if _TASK.match(prompt) else None
    if wanted is not None and "<chat_history>" in prompt:
        name = wanted[1]
        shown = _CONVERSATION.search(prompt)
        value = _title(shown[1] if shown else "") if name == "title" else _EMPTY[name]
        return json.dumps({name: value}, ensure_ascii=False)
    if prompt.startswith(_EMOJI):
        return "🙂"
    if any(sign in prompt for sign in _TITLES):
        title = _title(prompt)
        return json.dumps({"language": "", "title": title}, ensure_ascii=False) if as_json else title
    return None


def _title(conversation: str) -> str:
    """Return the beginning of the first question in it."""
    first = _FIRST.search(conversation[:READ_CHARS])
    words = first[1].strip(" \t\"'").split()[:MAX_TITLE_WORDS] if first else []
    return " ".join(words)[:MAX_TITLE_CHARS].rstrip(" ?.!,;:") or UNTITLED
