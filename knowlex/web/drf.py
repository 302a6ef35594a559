"""DRF's edges as strict as those of plain views."""

from collections.abc import Mapping
from typing import IO, Any

from rest_framework.negotiation import DefaultContentNegotiation
from rest_framework.parsers import BaseParser
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request

from knowlex.web.json_body import parse_json


class StrictJSONParser(BaseParser):
    """JSON by `parse_json`'s rules; DRF's own parser answers deep nesting with a 500."""

    media_type = "application/json"

    def parse(
        self,
        stream: IO[Any],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> Any:
        return parse_json(stream.read())


class JSONAlways(DefaultContentNegotiation):
    """The first renderer, whatever Accept says: a client that asks for HTML still gets the API's JSON."""

    def select_renderer(
        self, request: Request, renderers: Any, format_suffix: str | None = None
    ) -> tuple[BaseRenderer, str]:
        return renderers[0], renderers[0].media_type
