"""What a question to the Platform API holds, whether it is to be answered or only searched for."""

from collections.abc import Mapping
from typing import Any, get_args

from documents.access import Access
from knowlex.common.errors import InvalidInput
from knowlex.common.fields import bool_field, int_field, is_blank, question_field, text_field
from rag import services
from rag.contracts.v1.asked import settings_field
from rag.contracts.v1.filters import filters_field
from rag.types import Mode, Question

DEFAULT_TOP_K = 10
MAX_COLLECTIONS = 100
MAX_NAME_CHARS = 255
MODES: tuple[Mode, ...] = get_args(Mode)
FORMATS = ("text", "json")


async def asked_question(body: Mapping[str, Any], *, access: Access) -> Question:
    """Raises InvalidQuestion, InvalidInput, NotFound, Forbidden, DatabaseUnavailable."""
    text = question_field(body, "query")
    text_field(body, "conversation_id", max_chars=MAX_NAME_CHARS, required=False)
    settings = _Settings(settings_field(body))
    return await services.make_platform_question(
        text,
        access=access,
        collections=_collections(body),
        filters=filters_field(body),
        top_k=settings.count("top_k", high=50) or DEFAULT_TOP_K,
        max_tokens=settings.count("max_tokens", high=4096),
        mode=settings.mode(),
        rerank=settings.flag("rerank"),
        rewrite=settings.flag("rewrite"),
    )


class _Settings:
    """The object `settings`, whose fields are named as a client sees them in errors."""

    def __init__(self, given: Mapping[str, Any]) -> None:
        self._given = {f"settings.{name}": value for name, value in given.items()}
        for name in ("include_sources", "streaming"):  # of the reply, which a search does not write
            self.flag(name)
        self._choice("response_format", FORMATS)

    def flag(self, name: str) -> bool | None:
        """None where it is not given."""
        field = f"settings.{name}"
        return bool_field(self._given, field, default=False) if field in self._given else None

    def count(self, name: str, *, high: int) -> int | None:
        return int_field(self._given, f"settings.{name}", low=1, high=high, default=None)

    def mode(self) -> Mode:
        chosen = self._choice("mode", MODES)
        return next((mode for mode in MODES if mode == chosen), MODES[0])

    def _choice(self, name: str, options: tuple[str, ...]) -> str | None:
        field = f"settings.{name}"
        value = self._given.get(field, options[0])
        if value not in options:
            raise InvalidInput(f"{field} must be one of {', '.join(options)}.", field=field)
        return str(value)


def _collections(body: Mapping[str, Any]) -> list[str]:
    """Names or ids; [] for all that the caller may read."""
    named = body.get("collections", [])
    if not isinstance(named, list) or len(named) > MAX_COLLECTIONS:
        raise InvalidInput(f"collections must be a list of at most {MAX_COLLECTIONS}.", field="collections")
    for name in named:
        if not isinstance(name, str) or len(name) > MAX_NAME_CHARS or is_blank(name):
            raise InvalidInput("collections must hold names or ids of collections.", field="collections")
    return named
