"""How Django REST framework's views choose what they answer: always JSON."""

from typing import Any

from rest_framework.negotiation import DefaultContentNegotiation
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request


class JSONAlways(DefaultContentNegotiation):
    """Takes the first renderer, whatever Accept says: a client that asks for HTML still gets the API's JSON
    (tests/edges/test_errors.py, test_accept_never_changes_the_answer_to_html).
    """

    def select_renderer(
        self, request: Request, renderers: Any, format_suffix: str | None = None
    ) -> tuple[BaseRenderer, str]:
        return renderers[0], renderers[0].media_type
