"""What can go wrong, as exceptions; `KnowlexError` is the base of all."""

from collections.abc import Mapping
from typing import Any


class KnowlexError(Exception):
    """Base of all that the client raises."""

    retry_after_s: float | None = None


class ConnectionFailed(KnowlexError):
    """The server could not be reached, or broke off, and the tries are used up."""


class UnexpectedAnswer(KnowlexError):
    """The answer is not what the schema says: this is no Knowlex, or a version too far away."""


class WaitedTooLong(KnowlexError):
    """A job or an evaluation did not move for as long as one was willing to wait. It goes on all the same."""


class ApiError(KnowlexError):
    """The server refused a request, or failed. The message is the server's own.

    code: short and stable, such as `NOT_FOUND`. details: such as the `field` that is wrong. request_id: as in
    the server's logs. retry_after_s: seconds after which a try may help, None where the server does not say.
    """

    def __init__(
        self,
        message: str,
        *,
        status: int,
        code: str,
        details: Mapping[str, Any],
        request_id: str,
        retry_after_s: float | None,
    ) -> None:
        super().__init__(f"{message} ({status} {code})")
        self.message, self.status, self.code = message, status, code
        self.details, self.request_id, self.retry_after_s = dict(details), request_id, retry_after_s


class InvalidRequest(ApiError):
    """400, 413, 415, 422 and the like: as it is, it will never be taken."""


class Unauthorized(ApiError):
    """401: no valid API key, where one is asked for."""


class Forbidden(ApiError):
    """403: not within the key's scope or collections."""


class NotFound(ApiError):
    """404: nobody has this id or name, or the key may not know of it."""


class Conflict(ApiError):
    """409: there is one already, or an equal request is under way."""


class RateLimited(ApiError):
    """429: too many requests, or the day's tokens are spent; retry_after_s says when there are more."""


class ServerFailed(ApiError):
    """500 and above."""


_BY_STATUS = {401: Unauthorized, 403: Forbidden, 404: NotFound, 409: Conflict, 429: RateLimited}


def choose_error_class(status: int) -> type[ApiError]:
    return _BY_STATUS.get(status, ServerFailed if status >= 500 else InvalidRequest)
