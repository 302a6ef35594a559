"""The proxy that requests to a server go through, as HTTP_PROXY, HTTPS_PROXY, ALL_PROXY and NO_PROXY say.

Plain Python. One reading for all clients: each library has its own, and none is that of another. This machine
is never spoken to through a proxy, whether NO_PROXY names it or not: the proxy's own loopback is another one.
"""

from collections.abc import Iterator
from contextlib import suppress
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from urllib.parse import urlsplit
from urllib.request import getproxies, getproxies_environment, proxy_bypass

PORTS = {"http": 80, "https": 443}


def proxy_of(url: str) -> str | None:
    """Return the proxy's URL, perhaps with credentials; None where `url` is spoken to directly.

    Raises ValueError for a proxy of another kind, such as socks5://.
    """
    parts, proxies = urlsplit(url), getproxies()
    host = (parts.hostname or "").rstrip(".")
    proxy = proxies.get(parts.scheme) or proxies.get("all")
    port = parts.port or PORTS.get(parts.scheme)
    if not proxy or _is_here(host) or _is_excepted(host, port, proxies.get("no", "")):
        return None
    if "://" not in proxy:
        proxy = f"http://{proxy}"
    if urlsplit(proxy).scheme not in PORTS or not urlsplit(proxy).hostname:
        raise ValueError(
            f"{parts.scheme.upper()}_PROXY or ALL_PROXY names no proxy of http:// or https://;"
            f" name {host} in NO_PROXY to reach it without one"
        )
    return proxy


def _is_here(host: str) -> bool:
    address = _address(host)
    if address is None:
        return host == "localhost" or host.endswith(".localhost")
    return address.is_loopback or address.is_unspecified


def _is_excepted(host: str, port: int | None, exceptions: str) -> bool:
    address = _address(host)
    for name in _names(exceptions):
        if name in ("*", host, f"{host}:{port}", f"[{host}]", f"[{host}]:{port}"):
            return True
        if address is None and f"{host}:{port}".endswith((f".{name}", f".{name}:{port}")):
            return True
        with suppress(ValueError):
            if address is not None and address in ip_network(name, strict=False):
                return True
    return not getproxies_environment() and bool(proxy_bypass(host))  # what macOS or Windows has set


def _names(listed: str) -> Iterator[str]:
    """Yield them in small letters, without the dot or asterisk that stands for the names below."""
    for name in listed.lower().replace(" ", ",").split(","):
        if name:
            yield name if name == "*" else name.removeprefix("*").removeprefix(".")


def _address(host: str) -> IPv4Address | IPv6Address | None:
    try:
        address = ip_address(host)
    except ValueError:
        return None
    return getattr(address, "ipv4_mapped", None) or address
