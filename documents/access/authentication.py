"""Who asks: every request gets its `access` here, before any of its body is read."""

import asyncio
import logging
import re
from collections.abc import Awaitable, Callable
from uuid import UUID

from django.conf import settings
from django.http import HttpRequest, HttpResponseBase
from django.utils.decorators import async_only_middleware

from documents.access import keys
from documents.access.key_cache import Doorkeeper
from documents.access.scopes import FULL, Access
from knowlex.base.errors import KnowlexError, Unauthorized
from knowlex.web.middleware import SAFE_METHODS
from knowlex.web.rate_limit import peer_address

Serve = Callable[[HttpRequest], Awaitable[HttpResponseBase]]
log = logging.getLogger(__name__)
_noting: dict[UUID, asyncio.Task[None]] = {}


@async_only_middleware
def identify(serve: Serve) -> Serve:
    """Sets `request.access`, which `access_of` reads, or `request.refused`, which `admit` raises.

    Whoever has a valid key is counted by it (`request.rate_client`), everybody else by the address: so the
    limit comes between the two. Where no key is asked for, none is looked at, and all is allowed.
    """
    doorkeeper = Doorkeeper()

    async def middleware(request: HttpRequest) -> HttpResponseBase:
        if not settings.REQUIRE_API_KEY:
            request.access = FULL  # type: ignore[attr-defined]
            return await serve(request)
        if _is_open(request.path_info):
            return await serve(request)
        found = None
        try:
            found = await doorkeeper.key_of(_sent_key(request), peer_address(request))
            request.access = found.access  # type: ignore[attr-defined]
            request.rate_client = f"key:{found.access.key_id}"  # type: ignore[attr-defined]
        except KnowlexError as exc:
            request.refused = exc  # type: ignore[attr-defined]
        try:
            return await serve(request)
        finally:
            if found is not None and found.unnoted:
                _note_use(found.access)

    return middleware


@async_only_middleware
def admit(serve: Serve) -> Serve:
    """Refuses who was not identified, and whose key may only read where something would be changed.

    The scope is looked at here, too, and not only in the services: before a body is read, and for routes
    that are yet to come. Raises Unauthorized, Forbidden, and what went wrong in checking.
    """

    async def middleware(request: HttpRequest) -> HttpResponseBase:
        refused, access = getattr(request, "refused", None), getattr(request, "access", None)
        if refused is not None:
            raise refused
        if access is not None:
            access.require(_needed_scope(request))
        return await serve(request)

    return middleware


def _is_open(path: str) -> bool:
    return path in settings.OPEN_PATHS or path.startswith(settings.OPEN_FOLDERS)


def _needed_scope(request: HttpRequest) -> str:
    asks = request.method == "POST" and _only_reads(request.path_info)
    return "read" if asks or request.method in SAFE_METHODS else "write"


def _only_reads(path: str) -> bool:
    return path in settings.READING_PATHS or any(
        re.fullmatch(pattern, path) for pattern in settings.READING_PATTERNS
    )


def _sent_key(request: HttpRequest) -> str:
    """The one key that the headers hold. Raises Unauthorized for none, and for two that differ."""
    scheme, _, credentials = request.headers.get("Authorization", "").strip().partition(" ")
    bearer = credentials.strip() if scheme.lower() == "bearer" else ""
    sent = {bearer, request.headers.get("X-API-Key", "").strip()} - {""}
    if len(sent) != 1:
        raise Unauthorized(keys.REFUSED)
    return sent.pop()


def _note_use(access: Access) -> None:
    """Beside the answer, not before it; one at a time for each key."""
    key_id = access.key_id
    if key_id is not None and key_id not in _noting:
        task = _noting[key_id] = asyncio.create_task(_noted(key_id))
        task.add_done_callback(lambda _: _noting.pop(key_id, None))


async def _noted(key_id: UUID) -> None:
    try:
        await keys.note_use(key_id)
    except KnowlexError as exc:
        log.warning("last use of a key not written", extra={"reason": exc.message})
