"""What `bare_app.py` is given, and the process that it runs in."""

import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
import uvloop
from django.conf import settings
from django.db import connections

from documents.access import FULL
from documents.text.tokens import load_tokenizer
from embeddings.embedders.build import ensure_model
from knowlex.db.pool import close_pool
from knowlex.serve import bind_socket
from rag.answering import services
from rag.retrievers import statements
from rag.retrievers.filtering import read_parameters
from rag.retrievers.hybrid import HybridRetriever, usable_model, word_parameters
from rag.retrievers.scope import Scopes
from rag.types.question import Question

APP = Path(__file__).with_name("bare_app.py")


def given(database: str, model: str, questions: Sequence[str]) -> dict[str, Any]:
    """As JSON: where to search and ask, what embeds, what is set for each connection, the statement of a
    search, and its parameters for each question, without its vector.
    """
    connections["default"].settings_dict["NAME"] = database.rpartition("/")[2]
    statement, setup, parameters = uvloop.run(_searches(questions))
    return {
        "database": f"{database}?application_name=bare",
        "model": model,
        "graph": str(ensure_model(Path(settings.MODELS_DIR))),
        "tokenizer": load_tokenizer().to_str(),
        "statement": statement,
        "setup": setup,
        "parameters": parameters,
    }


async def _searches(questions: Sequence[str]) -> tuple[str, list[str], dict[str, dict[str, Any]]]:
    retriever, scopes = HybridRetriever(), Scopes()
    found, statement, setup = {}, b"", list[str]()
    for text in questions:
        question = await services.make_question(text, access=FULL, top_k=5)
        scope = await scopes.of(question)
        model = usable_model(scope) if scope else None
        assert scope is not None
        assert model is not None
        setup = [each.as_string(None).replace("SET LOCAL", "SET") for each in model.setup]
        limit = retriever._depths(question)["limit"] if scope.is_usual else None
        statement = statements.search_by_meaning(model, "hybrid", "", False, known_limit=limit)
        found[text] = (
            _plain(question)
            | read_parameters(question)
            | word_parameters(scope)
            | retriever._depths(question)
            | retriever._weights()
        )
    await close_pool()
    return statement.decode(), setup, found


def _plain(question: Question) -> dict[str, Any]:
    return {"collections": "{" + ",".join(map(str, question.collection_ids)) + "}"}


@contextmanager
def served(python: str, given: Path) -> Iterator[tuple[psutil.Process, str]]:
    """The process and its base URL. python: of an environment with FastAPI."""
    listener = bind_socket("127.0.0.1", 0)
    descriptor, port = listener.fileno(), listener.getsockname()[1]
    command = [python, str(APP), str(given), "--fd", str(descriptor)]
    process = subprocess.Popen(command, pass_fds=[descriptor])
    try:
        yield psutil.Process(process.pid), f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(10)
        listener.close()
