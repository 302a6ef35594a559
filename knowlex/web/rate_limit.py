"""Counts requests in Valkey for all processes together, in this process while Valkey is away."""

import ipaddress
import time
from dataclasses import dataclass

from django.conf import settings
from django.http import HttpRequest

from knowlex.base.rates import Rate
from knowlex.runtime.valkey import OptionalValkey

TIMEOUT_S = 0.5
PAUSE_S = 2.0  # after a failure Valkey is left alone, so that its absence delays one request, not each
MAX_LOCAL_CLIENTS = 50_000

# One round trip, atomic: the window begins with a client's first request in it.
SCRIPT = """
local count = redis.call('INCR', KEYS[1])
local left = redis.call('PTTL', KEYS[1])
if left < 0 then
  redis.call('PEXPIRE', KEYS[1], ARGV[1])
  left = tonumber(ARGV[1])
end
return {count, left}
"""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What is left to a client after this request. reset_s: until its window ends."""

    allowed: bool
    limit: int
    remaining: int
    reset_s: float


def client_address(peer: str | None, forwarded_for: str, trusted_proxies: int) -> str:
    """Return the address that a request counts for: the peer's, or what the outermost trusted proxy saw.

    Each proxy appends one address, so the client's is the `trusted_proxies`-th from the right; what stands
    left of it is the client's own claim. IPv6 counts by /64, which is what one customer is given.
    """
    address = peer or "local"
    if trusted_proxies:
        seen = [part.strip() for part in forwarded_for.split(",") if part.strip()]
        if len(seen) >= trusted_proxies:
            address = seen[-trusted_proxies]
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return peer or "local"
    if isinstance(parsed, ipaddress.IPv6Address):
        return str(parsed.ipv4_mapped or ipaddress.ip_network((parsed, 64), strict=False))
    return str(parsed)


def peer_address(request: HttpRequest) -> str:
    """Return `client_address` of a request, with the number of proxies that the settings trust."""
    peer, forwarded = request.META.get("REMOTE_ADDR"), request.META.get("HTTP_X_FORWARDED_FOR", "")
    return client_address(peer, forwarded, settings.TRUSTED_PROXIES)


class LocalWindows:
    """The same count in memory, for one process; windows that have ended are forgotten."""

    def __init__(self) -> None:
        self._windows: dict[str, tuple[int, float]] = {}

    def count(self, key: str, window_s: int) -> tuple[int, float]:
        """Count a request; return (requests in the window, seconds until it ends)."""
        now = time.monotonic()
        count, ends = self._windows.get(key, (0, 0.0))
        if ends <= now:
            self._make_room(now)
            count, ends = 0, now + window_s
        self._windows[key] = (count + 1, ends)
        return count + 1, ends - now

    def so_far(self, key: str) -> tuple[int, float]:
        """Return the same without counting: (0, 0.0) for a key without a window."""
        count, ends = self._windows.get(key, (0, 0.0))
        left_s = ends - time.monotonic()
        return (count, left_s) if left_s > 0 else (0, 0.0)

    def take_back(self, key: str) -> None:
        """Count one less in the window that there is."""
        count, ends = self._windows.get(key, (0, 0.0))
        if count:
            self._windows[key] = (count - 1, ends)

    def _make_room(self, now: float) -> None:
        if len(self._windows) >= MAX_LOCAL_CLIENTS:
            self._windows = {key: window for key, window in self._windows.items() if window[1] > now}
        if len(self._windows) >= MAX_LOCAL_CLIENTS:
            self._windows.clear()


class RateLimiter:
    """Fixed windows per client. Never raises and never waits for a Valkey that is known to be away."""

    def __init__(self, rate: Rate) -> None:
        self._rate = rate
        self._valkey = OptionalValkey(
            timeout_s=TIMEOUT_S, rest_s=PAUSE_S, without="rate limit is counted locally"
        )
        self._local = LocalWindows()

    async def check(self, client: str) -> Verdict:
        """Count one request of `client` (an address or a key's name)."""
        key = f"knowlex:rate:{self._rate.requests}/{self._rate.window_s}:{client}"
        count, left_s = await self._count_in_valkey(key) or self._local.count(key, self._rate.window_s)
        limit = self._rate.requests
        return Verdict(count <= limit, limit, max(limit - count, 0), left_s)

    async def _count_in_valkey(self, key: str) -> tuple[int, float] | None:
        """Count in Valkey; return None if it is away."""
        replies = await self._valkey.ask_all(("EVAL", SCRIPT, 1, key, self._rate.window_s * 1000))
        if replies is None:
            return None
        count, left_ms = replies[0]
        return int(count), int(left_ms) / 1000

    async def close(self) -> None:
        await self._valkey.close()
