"""One REDIS_URL in the two spellings that its users take: redis-py's and Kombu's."""

from typing import Any
from urllib.parse import parse_qs, urlsplit

SPELLINGS = {"valkey": "redis", "valkeys": "rediss", "redis": "redis", "rediss": "rediss", "unix": "unix"}


def redis_client_url(url: str) -> str:
    """Write it for redis-py, which does not know valkey://."""
    scheme, rest = url.split("://", 1)
    return f"{SPELLINGS[scheme]}://{rest}"


def broker_url(url: str) -> str:
    """Write it for Kombu, which spells a socket redis+socket:// and its database virtual_host."""
    if not url.startswith("unix://"):
        return url
    parts = urlsplit(url)
    database = parse_qs(parts.query).get("db", ["0"])[0]
    login = f"{parts.netloc.rpartition('@')[0]}@" if "@" in parts.netloc else ""
    return f"redis+socket://{login}{parts.path}?virtual_host={database}"


def broker_options(url: str) -> tuple[dict[str, Any] | None, dict[str, Any]]:
    """Return Celery's broker_use_ssl and broker_transport_options.

    A broker that hangs costs 2 s a try, not a minute. A task of a worker that was killed comes back after
    about a minute; the sweep is faster, and a second delivery finds nothing to do.
    """
    tls = None
    if url.startswith("rediss://") and "ssl_cert_reqs" not in url:
        tls = {"ssl_cert_reqs": "required"}
    transport = {
        "socket_timeout": 2,
        "socket_connect_timeout": 2,
        "socket_keepalive": True,
        "health_check_interval": 5,
        "visibility_timeout": 60,
        "unacked_restore_interval": 5,
        "unacked_restore_throttle": 1,
    }
    return tls, transport
