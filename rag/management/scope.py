"""What a command is to ask, and of which collections."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from documents.access import FULL
from documents.library.collections import find_collection
from rag.evaluation import question_sets
from rag.evaluation.question_files import read_lines
from rag.evaluation.types import Case
from rag.management.commands.question_set import bounded_lines


def scope(questions: str, named: Sequence[str]) -> tuple[list[Any], list[Case]]:
    """The collections and the questions: of a file, if there is one, else of a stored set."""
    path = Path(questions)
    if path.is_file() or path.suffix == ".jsonl":
        with path.open("rb") as file:
            cases, own = list(read_lines(bounded_lines(file))), None
    else:
        stored = question_sets.get_set(questions, access=FULL)
        cases, own = list(question_sets.all_cases(stored)), stored.collection
    if own is not None and not named:
        return [own], cases
    return [find_collection(name, access=FULL) for name in named or (None,)], cases
