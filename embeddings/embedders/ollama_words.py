"""What is said to Ollama for vectors, and what its replies mean."""

from collections.abc import Generator, Sequence
from typing import Any, TypeAlias

from embeddings.embedders.failing import TEXT_REFUSED, is_transient, reason_of, transient
from embeddings.types import Vector
from embeddings.vectors import UnusableVectors, checked
from knowlex.common.errors import EmbedderError, EmbedderRejected, EmbedderUnavailable, TextRejected
from knowlex.common.json_wire import Reply
from knowlex.common.ollama import is_not_pulled, keep_alive, not_pulled

Step: TypeAlias = tuple[str, dict[str, Any]]  # a path and a body to post to it
Exchange: TypeAlias = Generator[Step, Reply, list[Vector]]
EMBED, ONE_BY_ONE = "/api/embed", "/api/embeddings"
# Said of a text, whatever the status: the same text will not fare better.
_OF_A_TEXT = ("exceeds the context", "too large to process", "unsupported value")
_NEVER = ("does not support", "invalid model", "invalid option")  # said with 400, but of every text


class OllamaWords:
    """dimensions: what is asked for; None: the model's own. As soon as a vector tells, `size` is known."""

    def __init__(self, model_name: str, dimensions: int | None, stays: str | float) -> None:
        self.size = dimensions
        self._one_by_one = False
        self._model_name = model_name
        self._always = {"model": model_name, "keep_alive": keep_alive(stays)}
        self._asked = {"dimensions": dimensions} if dimensions else {}

    def vectors(self, texts: Sequence[str]) -> Exchange:
        """One try: yields what to post, is sent the reply, returns a vector each. Raises EmbedderError."""
        if not self._one_by_one:
            reply = yield EMBED, {**self._always, "input": list(texts), **self._asked}
            if not _has_no_route(reply):
                return self._checked(self._read(reply, "embeddings"), len(texts))
            self._one_by_one = True  # a release before 0.3
        found = []
        for text in texts:
            reply = yield ONE_BY_ONE, {**self._always, "prompt": text}
            found.append(self._read(reply, "embedding"))
        return self._checked(found, len(texts))

    def loading(self) -> Exchange:
        """Without a text the model is only loaded."""
        self._read((yield EMBED, {**self._always, "input": []}), "embeddings")
        return []

    def _read(self, reply: Reply, name: str) -> Any:
        body = reply.body if isinstance(reply.body, dict) else {}
        if not reply.ok or body.get("error"):
            raise self._failure(reply, _said(body))
        return body.get(name)

    def _checked(self, rows: Any, count: int) -> list[Vector]:
        items = [{"index": n, "embedding": row} for n, row in enumerate(rows)] if _is_list(rows) else rows
        try:
            found = checked(items, count, self.size)
        except UnusableVectors as exc:
            raise EmbedderUnavailable(f"The embedding model's answer is unusable. {exc}") from exc
        self.size = self.size or next((len(vector) for vector in found), None)
        return found

    def _failure(self, reply: Reply, said: str) -> EmbedderError:
        status, reason = reply.status, reason_of(said)
        if is_not_pulled(said) or (status == 404 and not _has_no_route(reply)):
            return EmbedderRejected(not_pulled(self._model_name))
        if status == 404:
            return EmbedderRejected(
                "OLLAMA_HOST embeds nothing: neither /api/embed nor /api/embeddings is there."
            )
        if any(words in said for words in _NEVER):
            return EmbedderRejected(f"The embedding model {self._model_name} cannot embed{reason}")
        if status in TEXT_REFUSED or any(words in said for words in _OF_A_TEXT):
            return TextRejected(f"The embedding model refuses the text (HTTP {status}){reason}")
        if reply.ok or is_transient(status):
            return transient(status, reply.retry_after, reason)
        return EmbedderRejected(f"The embedding model's server answers with HTTP {status}{reason}")


def _said(body: dict[str, Any]) -> str:
    """Ollama's errors are texts; a proxy's may be objects."""
    error = body.get("error")
    said = error.get("message") if isinstance(error, dict) else error
    return said if isinstance(said, str) else ""


def _has_no_route(reply: Reply) -> bool:
    """The path is missing, not the model: of that Ollama would speak in JSON."""
    return reply.status in (404, 405) and not isinstance(reply.body, dict)


def _is_list(rows: Any) -> bool:
    return isinstance(rows, list)
