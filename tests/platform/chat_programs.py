"""Requests of Open WebUI and LibreChat, in the shapes in which their source sends them to a server like ours.

Open WebUI: backend/open_webui/routers/tasks.py (open-webui/open-webui, 074d48839d00) makes the bodies of its
tasks, and routers/openai.py takes `metadata` out before they are sent. Its prompts are those of config.py.
LibreChat: its titles are those of src/utils/title.ts (danny-avila/agents, d8751a6ab077; the other wording is
that of later versions), sent by LangChain's ChatOpenAI; a title by a system message is that of
app/clients/OpenAIClient.js of its versions up to 0.7.

Of the prompts there is here what makes them known: how they begin, the JSON that they want, and the frame
around the conversation. Their guidelines and examples are left out.
"""

# ruff: noqa: E501

from typing import Any

TALL, SAID = "How tall is the belfry of Ghent?", "It is 91 metres tall."
TITLE = "How tall is the belfry of"


def _task(begins: str, wants: str, *, last: str = "") -> str:
    return (
        f"### Task:\n{begins}\n### Guidelines:\n- Prioritize accuracy over creativity.\n### Output:\n{wants}\n"
        f"### Chat History:\n<chat_history>\nUSER: {TALL}\nASSISTANT: {SAID}\n</chat_history>{last}"
    )


def _alone(prompt: str, role: str = "user", **fields: Any) -> dict[str, Any]:
    return {"model": "knowlex", "messages": [{"role": role, "content": prompt}], **fields}


OPEN_WEBUI_TASKS: dict[str, tuple[dict[str, Any], Any]] = {  # name -> request, and what the answer's JSON is
    "title": (
        _alone(
            _task(
                "Generate a concise title summarizing the chat history.",
                'JSON format: { "title": "your concise title here" }\n### Examples:\n- { "title": "Stock Trends" },',
            ),
            stream=False,
            max_completion_tokens=1000,
        ),
        {"title": TITLE},
    ),
    "title of earlier versions": (
        _alone(
            _task(
                "Generate a concise, 3-5 word title with an emoji summarizing the chat history.",
                'JSON format: { "title": "your concise title here" }',
            ),
            stream=False,
            max_completion_tokens=1000,
        ),
        {"title": TITLE},
    ),
    "tags": (
        _alone(
            _task(
                "Generate 1-3 broad tags categorizing the main themes of the chat history, along with 1-3 more"
                " specific subtopic tags.\n",
                'JSON format: { "tags": ["tag1", "tag2", "tag3"] }\n',
            ),
            stream=False,
        ),
        {"tags": []},
    ),
    "follow-up questions": (
        _alone(
            _task(
                "Suggest 3-5 relevant follow-up questions or prompts that the user might naturally ask next in"
                " this conversation as a **user**, based on the chat history, to help continue or deepen the"
                " discussion.",
                'JSON format: { "follow_ups": ["Question 1?", "Question 2?", "Question 3?"] }',
            ),
            stream=False,
        ),
        {"follow_ups": []},
    ),
    "search queries": (
        _alone(
            _task(
                "Analyze the chat history to determine the necessity of generating search queries, in the given"
                " language.",
                'Strictly return in JSON format: \n{\n  "queries": ["query1", "query2"]\n}\n',
                last="\n",
            ),
            stream=False,
        ),
        {"queries": []},
    ),
    "a picture": (
        _alone(
            _task(
                "Generate a detailed prompt for am image generation task based on the given language and context.",
                'Strictly return in JSON format:\n{\n    "prompt": "Your detailed description here."\n}\n',
            ),
            stream=False,
        ),
        {"prompt": ""},
    ),
    "a text continued": (
        _alone(
            "### Task:\nYou are an autocompletion system. Continue the text in `<text>` based on the"
            " **completion type** in `<type>` and the given language.  \n\n### **Output Rules**:\n"
            '- Respond only in JSON format: `{ "text": "<your_completion>" }`.\n\n---\n### Context:\n'
            f"<chat_history>\nUSER: {TALL}\n</chat_history>\n<type>General</type>  \n"
            "<text>How old is</text>  \n#### Output:\n",
            stream=False,
        ),
        {"text": ""},
    ),
}
EMOJI = _alone(
    "Your task is to reflect the speaker's likely facial expression through a fitting emoji. Interpret emotions"
    f" from the message.\n\nMessage: ```{SAID}```",
    stream=False,
    max_completion_tokens=4,
)
OPEN_WEBUI_CHAT = {
    "stream": True,
    "model": "knowlex",
    "messages": [
        {"role": "system", "content": "You are a helpful assistant."},
        {"role": "user", "content": TALL},
    ],
    "stream_options": {"include_usage": True},
}

_CONVERSATION = f"User: {TALL}\nAI: {SAID}"
_JSON_SCHEMA = {
    "type": "json_schema",
    "json_schema": {
        "name": "extract",
        "strict": True,
        "schema": {
            "type": "object",
            "properties": {"language": {"type": "string"}, "title": {"type": "string"}},
            "required": ["language", "title"],
            "additionalProperties": False,
        },
    },
}
LIBRECHAT_TITLES: dict[str, dict[str, Any]] = {
    "completion": _alone(
        "Provide a concise, 5-word-or-less title for the conversation, using title case conventions. Only return"
        f" the title itself.\n\nConversation:\n{_CONVERSATION}",
        user="65a1",
    ),
    "completion in later versions": _alone(
        "Provide a concise, 5-word-or-less title for the conversation, using its same language, with no"
        f" punctuation. Apply title case conventions.\n\nConversation:\n{_CONVERSATION}",
        user="65a1",
        stream=False,
    ),
    "assistants": _alone(
        "Please generate a concise title (max 40 characters) for a conversation that starts with:\n"
        f"User: {TALL}\nAssistant: {SAID}\n\nTitle:",
        temperature=0.5,
        max_tokens=20,
    ),
    "by a system message": _alone(
        "Detect user language and write in the same language an extremely concise title for this conversation,"
        " which you must accurately detect.\nWrite in the detected language. Title in 5 Words or Less.\n\n"
        f'||>User:\n"{TALL}"\n||>Response:\n"{SAID}"\n\n||>Title:',
        role="system",
        temperature=0.2,
        presence_penalty=0,
        frequency_penalty=0,
        max_tokens=16,
    ),
}
LIBRECHAT_STRUCTURED_TITLE = _alone(
    "Analyze this conversation and provide:\n1. The detected language of the conversation\n2. A concise title in"
    f" the detected language (5 words or less, no punctuation or quotation)\n\n{_CONVERSATION}",
    user="65a1",
    response_format=_JSON_SCHEMA,
)
LIBRECHAT_CHAT = {
    "model": "knowlex",
    "user": "65a1",
    "stream": True,
    "stream_options": {"include_usage": True},
    "messages": [
        {"role": "user", "content": "Is there a belfry in Ghent?"},
        {"role": "assistant", "content": "There is."},
        {"role": "user", "content": [{"type": "text", "text": TALL}]},
    ],
}
