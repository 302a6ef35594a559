"""Answers with citations from texts in a script: no database, no server, no network.

.venv/bin/python samples/texts.py ["A question" ...]
"""

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # where Knowlex is not installed

from rag_service import RAGService

HANDBOOK = """# Leave

## Annual leave

Full-time employees have 25 days of paid leave a year. Up to five days may be carried over until March.

## Sick leave

Whoever is ill tells the manager before nine. From the third day on, a doctor's note is needed.
"""
TEXTS: list[str | tuple[str, str] | dict[str, Any]] = [
    {
        "source_doc": "safety_manual.pdf",
        "page_number": 5,
        "section_title": "Chemical Handling",
        "text": "All personnel must wear protective eyewear and gloves when handling Class A chemicals.",
    },
    {
        "source_doc": "safety_manual.pdf",
        "page_number": 7,
        "text": "In an emergency, leave by the nearest exit and notify the shift supervisor immediately.",
    },
    ("handbook.md", HANDBOOK),
    "The canteen is open from 11:30 to 14:00. On Fridays there is fish.",
]
QUESTIONS = [
    "What must be worn when handling chemicals?",
    "How many days of paid leave do employees have?",
    "When is the canteen open?",
    "What is the meaning of life?",
]


def main() -> None:
    with RAGService.from_texts(TEXTS) as service:
        for question in sys.argv[1:] or QUESTIONS:
            answer = service.query(question)
            print(f"{question}\n  {answer.answer or answer.message}")


if __name__ == "__main__":
    main()
