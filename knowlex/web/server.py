"""uvicorn's HTTP/1.1 protocol with what it leaves out: limits on headers, time for them, errors as JSON.

For uvicorn's option `http`: "knowlex.web.server:HttpProtocol". uvicorn has no setting for any of these; each
override names the test of tests/edges/test_protocol.py that goes red without it.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from django.conf import settings
from django.http import HttpRequest
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol, RequestResponseCycle

from knowlex.base.errors import HeadersTooLarge, InvalidInput, KnowlexError, RequestTimeout
from knowlex.base.ids import new_id
from knowlex.web.body import GRACE_S
from knowlex.web.middleware import NO_PAGE_POLICY, SECURITY_HEADERS
from knowlex.web.responses import problem_response

Send = Callable[[Any], Awaitable[None]]


def send_unchunked(cycle: RequestResponseCycle) -> Send:
    """Return a `cycle.send` that writes a body of unknown length as it is; uvicorn would send it in chunks.

    After a request by HTTP/1.0 uvicorn closes the connection in any case. Without it,
    test_who_speaks_http_1_0_gets_a_stream_without_chunks goes red.
    """
    send, unbounded = cycle.send, False

    async def sending(message: Any) -> None:
        nonlocal unbounded
        if message["type"] == "http.response.start":
            unbounded = not any(name.lower() == b"content-length" for name, _ in message.get("headers", ()))
            cycle.chunked_encoding = False if unbounded else None
        elif unbounded:
            cycle.expected_content_length = len(message.get("body", b""))  # of this part, all it can check
        await send(message)

    return sending


MAX_URL_BYTES = 16 * 1024
MAX_HEADER_BYTES = 64 * 1024
MAX_HEADERS = 100


class HttpProtocol(HttpToolsProtocol):
    """One connection. A request that cannot be parsed is answered with the error body, and closed."""

    _header_bytes = 0
    _refusal: KnowlexError | None = None
    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._expect_headers()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_deadline()
        super().connection_lost(exc)

    def on_message_begin(self) -> None:
        # test_each_request_on_a_kept_connection_has_limits_of_its_own
        super().on_message_begin()
        self._header_bytes = 0
        self._expect_headers()

    def on_url(self, url: bytes) -> None:
        # test_headers_beyond_any_sense_are_refused
        if len(self.url) + len(url) > MAX_URL_BYTES:
            self._refuse(HeadersTooLarge(f"The URL is longer than {MAX_URL_BYTES} bytes."))
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        # test_headers_beyond_any_sense_are_refused
        self._header_bytes += len(name) + len(value)
        if self._header_bytes > MAX_HEADER_BYTES or len(self.headers) >= MAX_HEADERS:
            self._refuse(
                HeadersTooLarge(f"More than {MAX_HEADERS} headers, or {MAX_HEADER_BYTES} bytes of them.")
            )
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        self._stop_deadline()
        # test_malformed_and_smuggling_requests_are_400_and_closed
        hosts = sum(name == b"host" for name, _ in self.headers)
        if hosts > 1 or (hosts == 0 and self.parser.get_http_version() == "1.1"):
            self._refuse(InvalidInput("The request must have one Host header."))
        super().on_headers_complete()
        if self.parser.get_http_version() == "1.0":
            self.cycle.send = send_unchunked(self.cycle)  # type: ignore[assignment,method-assign]

    def send_400_response(self, msg: str) -> None:
        """Answer whatever the parser refuses with the error body.

        Called by uvicorn, which would answer in plain text:
        test_malformed_and_smuggling_requests_are_400_and_closed.
        """
        self._answer_and_close(self._refusal or InvalidInput("The request is not valid HTTP."))

    def _refuse(self, error: KnowlexError) -> None:
        """Stop the parser: an exception in a callback makes it fail, and uvicorn call send_400_response."""
        self._refusal = error
        raise error

    def _expect_headers(self) -> None:
        self._stop_deadline()
        self._deadline = self.loop.call_later(settings.CLIENT_PATIENCE_S, self._too_slow)

    def _stop_deadline(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _too_slow(self) -> None:
        """Give a last moment (test_a_client_that_does_not_finish_its_headers_is_cut_off).

        A loop that was busy calls this before it reads what came meanwhile: it gets the time to
        (tests/edges/test_busy_loop.py, test_headers_that_came_with_the_end_of_patience_are_read).
        """
        self._deadline = self.loop.call_later(GRACE_S, self._give_up)

    def _give_up(self) -> None:
        if self.cycle is None or self.cycle.response_complete:
            self._answer_and_close(RequestTimeout("The request's headers do not arrive."))

    def _answer_and_close(self, error: KnowlexError) -> None:
        if self.transport.is_closing():
            return
        request: Any = HttpRequest()
        request.path = getattr(self, "url", b"").partition(b"?")[0].decode("latin-1")
        request.request_id = str(new_id())
        response = problem_response(request, error)
        headers = {
            **dict(response.items()),
            **SECURITY_HEADERS,
            "Content-Security-Policy": NO_PAGE_POLICY,
            "X-Request-ID": request.request_id,
            "Content-Length": str(len(response.content)),
            "Connection": "close",
        }
        lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        self.transport.write(STATUS_LINE[response.status_code] + lines.encode("latin-1") + b"\r\n")
        self.transport.write(response.content)
        self.transport.close()
