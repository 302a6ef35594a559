"""What a question to the Platform API holds, whether it is to be answered or only searched for."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

from documents.access import Access
from knowlex.base.errors import InvalidInput
from knowlex.web.fields import bool_field, int_field, is_blank, question_field, text_field
from rag.answering import services
from rag.api.v1.filters import filters_field
from rag.api.v1.question_fields import settings_field
from rag.types.question import Mode, Question

DEFAULT_TOP_K, DEFAULT_MAX_TOKENS = 10, 1024
MAX_COLLECTIONS = 100
MAX_NAME_CHARS = 255
MODES: tuple[Mode, ...] = get_args(Mode)
Format = Literal["text", "json"]
FORMATS: tuple[Format, ...] = get_args(Format)


@dataclass(frozen=True, slots=True)
class ReplySettings:
    """How the answer is to be told. streaming: as it is written, if the client takes that."""

    include_sources: bool = True
    response_format: Format = "text"
    streaming: bool = False


async def asked_question(body: Mapping[str, Any], *, access: Access) -> Question:
    """Raises InvalidQuestion, InvalidInput, NotFound, Forbidden, DatabaseUnavailable."""
    text = question_field(body, "query")
    conversation_field(body)
    settings = _Settings(settings_field(body))
    return await services.make_platform_question(
        text,
        access=access,
        collections=_collections(body),
        filters=filters_field(body),
        top_k=settings.count("top_k", high=50) or DEFAULT_TOP_K,
        max_tokens=settings.count("max_tokens", high=4096) or DEFAULT_MAX_TOKENS,
        mode=settings.mode(),
        rerank=settings.flag("rerank"),
        rewrite=settings.flag("rewrite"),
    )


def conversation_field(body: Mapping[str, Any]) -> str:
    """The id that the caller gave, "" for none. Raises InvalidInput."""
    return text_field(body, "conversation_id", max_chars=MAX_NAME_CHARS, required=False) or ""


def reply_settings(body: Mapping[str, Any]) -> ReplySettings:
    """Raises InvalidInput."""
    return _Settings(settings_field(body)).reply()


class _Settings:
    """The object `settings`, whose fields are named as a client sees them in errors."""

    def __init__(self, given: Mapping[str, Any]) -> None:
        self._given = {f"settings.{name}": value for name, value in given.items()}
        self.reply()  # checked even where no reply is written, as in a search

    def reply(self) -> ReplySettings:
        wanted = self._choice("response_format", FORMATS)
        return ReplySettings(
            include_sources=self.flag("include_sources") is not False,
            response_format=next(one for one in FORMATS if one == wanted),
            streaming=self.flag("streaming") is True,
        )

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
