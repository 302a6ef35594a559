"""Authentication by API key or session cookie: a request gets its `access` before any of its body is read."""

import asyncio
import logging
import re
import time
from collections.abc import Awaitable, Callable
from uuid import UUID

from django.conf import settings
from django.http import HttpRequest, HttpResponseBase
from django.utils.decorators import async_only_middleware

from documents import api_keys
from documents.access import FULL, Access
from documents.accounts.sessions import find_account
from documents.api_keys import LiveKey
from knowlex.base.errors import DatabaseUnavailable, KnowlexError, Unauthorized
from knowlex.runtime.spending import charge_to
from knowlex.web.middleware import SAFE_METHODS
from knowlex.web.rate_limit import LocalWindows, peer_address

MAX_CACHED = 10_000  # digests of wrong keys, and of right ones
WRONG_S = 5.0  # so long a wrong key is known to be wrong: one that is put right works that late
RIGHT_S = 600.0
GUESSES, GUESS_WINDOW_S = 100, 60  # wrong keys of an address, after which keys not seen before have to wait:
PACE_S = 0.2
LIMIT_S = 4.8  # for an answer, with the database gone


class KeyCache:
    """Checks keys without a query for each wrong one, however many come; one per process.

    It holds digests, not keys. A key that was right is looked up each time: revoked, it is refused at once.
    Nobody is locked out for others' guesses, which may come from the same address: a new key only waits a
    moment.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._wrong, self._right = _ExpiringSet(WRONG_S, clock), _ExpiringSet(RIGHT_S, clock)
        self._guesses = LocalWindows()
        self._lookups = _BatchedLookups()

    async def authenticate(self, text: str, address: str) -> LiveKey:
        """Return the key that `text` is. Raises Unauthorized; DatabaseUnavailable within 5 s."""
        prefix, digest = api_keys.prefix_of(text), api_keys.hash_key(text)
        if prefix is None or digest in self._wrong:
            raise Unauthorized(api_keys.REFUSED)
        if digest not in self._right and self._guesses.so_far(address)[0] >= GUESSES:
            await asyncio.sleep(PACE_S)
        key = await self._lookups.find(prefix)
        if key is None or not key.is_opened_by(text):
            self._wrong.add(digest)
            self._guesses.count(address, GUESS_WINDOW_S)
            raise Unauthorized(api_keys.REFUSED)
        self._right.add(digest)
        return key


class _BatchedLookups:
    """Looks keys up, one statement at a time; all callers that come meanwhile share the next one."""

    def __init__(self) -> None:
        self._waiting: dict[str, asyncio.Future[LiveKey | None]] = {}
        self._running: asyncio.Task[None] | None = None

    async def find(self, prefix: str) -> LiveKey | None:
        future = self._waiting.setdefault(prefix, asyncio.get_running_loop().create_future())
        if self._running is None or self._running.done():
            self._running = asyncio.create_task(self._run())
        try:
            async with asyncio.timeout(LIMIT_S):
                return await asyncio.shield(future)
        except TimeoutError:
            raise DatabaseUnavailable("The database did not answer in time.", retry_after_s=5) from None

    async def _run(self) -> None:
        while self._waiting:
            batch, self._waiting = self._waiting, {}
            try:
                live = await api_keys.fetch_live_keys(list(batch))
            except Exception as exc:  # noqa: BLE001 (passed to all who wait, who raise it)
                for future in batch.values():
                    future.set_exception(exc)
                    future.exception()  # looked at: those who waited may all have left
            else:
                for prefix, future in batch.items():
                    future.set_result(live.get(prefix))


class _ExpiringSet:
    """A bounded set whose members expire after a while, the oldest first."""

    def __init__(self, seconds: float, clock: Callable[[], float]) -> None:
        self._seconds, self._clock = seconds, clock
        self._until: dict[str, float] = {}

    def __contains__(self, member: str) -> bool:
        return self._until.get(member, 0.0) > self._clock()

    def add(self, member: str) -> None:
        self._until.pop(member, None)  # so that it goes to the end
        if len(self._until) >= MAX_CACHED:
            del self._until[next(iter(self._until))]
        self._until[member] = self._clock() + self._seconds


Serve = Callable[[HttpRequest], Awaitable[HttpResponseBase]]
log = logging.getLogger(__name__)
_recording: dict[UUID, asyncio.Task[None]] = {}


@async_only_middleware
def identify(serve: Serve) -> Serve:
    """Set `request.access`, which `access_of` reads, or `request.refused`, which `admit` raises.

    Whoever has a valid key is counted by it (`request.rate_client`), an account that is logged in by its
    name, everybody else by the address: so the limit comes between the two. A key goes before a cookie;
    `request.by_cookie` has `cross_site` look closely. Where no key is required, none is checked, and all is
    allowed.
    """
    key_cache = KeyCache()

    async def middleware(request: HttpRequest) -> HttpResponseBase:
        if not settings.REQUIRE_API_KEY:
            request.access = FULL  # type: ignore[attr-defined]
            return await serve(request)
        if _is_open(request.path_info):
            return await serve(request)
        key = None
        charge_to(None)
        try:
            keys = _sent_keys(request)
            account = None if keys else await find_account(request)
            if account is not None:
                request.access, request.by_cookie = account.access, True  # type: ignore[attr-defined]
                request.rate_client = f"account:{account.access.user_id}"  # type: ignore[attr-defined]
            else:
                key = await key_cache.authenticate(_only_one(keys), peer_address(request))
                charge_to(key.spender)
                request.access = key.access  # type: ignore[attr-defined]
                request.rate_client = f"key:{key.access.key_id}"  # type: ignore[attr-defined]
        except KnowlexError as exc:
            request.refused = exc  # type: ignore[attr-defined]
        try:
            return await serve(request)
        finally:
            if key is not None and key.use_is_due:
                _schedule_use_record(key.access)

    return middleware


@async_only_middleware
def admit(serve: Serve) -> Serve:
    """Refuse callers that were not identified, and keys that may only read where something would be changed.

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
    path = request.path_info
    if request.method in SAFE_METHODS:
        return "read"
    reads = path in settings.READING_PATHS or any(
        re.fullmatch(pattern, path) for pattern in settings.READING_PATTERNS
    )
    return "read" if reads and request.method == "POST" else "write"


def _sent_keys(request: HttpRequest) -> set[str]:
    """Return the keys that the headers hold, each once."""
    scheme, _, credentials = request.headers.get("Authorization", "").strip().partition(" ")
    bearer = credentials.strip() if scheme.lower() == "bearer" else ""
    return {bearer, request.headers.get("X-API-Key", "").strip()} - {""}


def _only_one(keys: set[str]) -> str:
    """Raise Unauthorized for none, and for two that differ."""
    if len(keys) != 1:
        raise Unauthorized(api_keys.REFUSED)
    return next(iter(keys))


def _schedule_use_record(access: Access) -> None:
    """Record the key's use concurrently with the response, one task at a time for each key."""
    key_id = access.key_id
    if key_id is not None and key_id not in _recording:
        task = _recording[key_id] = asyncio.create_task(_record_use(key_id))
        task.add_done_callback(lambda _: _recording.pop(key_id, None))


async def _record_use(key_id: UUID) -> None:
    try:
        await api_keys.record_use(key_id)
    except KnowlexError as exc:
        log.warning("last use of a key not written", extra={"reason": exc.message})
