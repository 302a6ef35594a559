"""Questions as people write them to an assistant: among sentences that say who asks, why, and how to answer.

    python -m benchmarks.evaluation.messages QUESTIONS.jsonl MESSAGES.jsonl [--unseen]
    python manage.py evaluate --collection NAME --answers MESSAGES.jsonl

QUESTIONS.jsonl holds one question a line, as `manage.py evaluate` reads them. Each comes out in one form, in
turn; `--unseen` takes those that nobody had looked at when `rag/conversation/messages.py` was written.
"""

import argparse
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

FORMS = (
    "{} Please answer in one sentence and cite your source.",
    "Hi! I'm preparing a presentation for my class. {} Thanks in advance!",
    "{} If the documents do not say so, tell me that you don't know.",
    "You are a careful research assistant. Use only the documents. {} Give the exact wording if possible.",
    "I couldn't find this anywhere myself. {} I'd be grateful for a pointer to the page.",
    "{} I need it for a report that is due tomorrow, so a short answer is enough.",
    "Context: our team reviews documents.\n\nQuestion: {}\n\nFormat: one or two sentences, with the source.",
    "Could you help me with something? {}",
    "{} Don't guess! Tell me if it's not in there.",
    "My colleague and I disagree about this one. {} Looking forward to your answer!",
)
UNSEEN = (
    "Hey, quick one. {} Would be great to have the page number too.",
    "As part of our audit we need the following. {} Kindly reference the document.",
    "{} I looked in the table of contents but could not see it.",
    "{} (I'm new here.) Short answers are fine.",
    "Our lawyer wants to know this before Friday. {}",
    "{} Explain like I'm five.",
    "Sorry if this was asked before! {} Cheers, Tom",
    "Based on the uploaded files, help me with this. {} Include a quote.",
)


def write_messages(questions: Iterable[dict[str, Any]], forms: tuple[str, ...]) -> Iterator[dict[str, Any]]:
    for place, entry in enumerate(questions):
        question = entry["question"].strip()
        ended = question if question.endswith(("?", ".")) else f"{question}?"
        yield {**entry, "question": forms[place % len(forms)].format(ended)}


def main() -> None:
    parser = argparse.ArgumentParser(description="Write questions as messages of several sentences.")
    parser.add_argument("questions", type=Path)
    parser.add_argument("messages", type=Path)
    parser.add_argument("--unseen", action="store_true")
    arguments = parser.parse_args()
    with (
        arguments.questions.open(encoding="utf-8") as lines,
        arguments.messages.open("w", encoding="utf-8") as out,
    ):
        for entry in write_messages(map(json.loads, lines), UNSEEN if arguments.unseen else FORMS):
            out.write(json.dumps(entry, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
