"""Which addresses a document may be fetched from. Plain Python; nothing here speaks to a network.

A host is brought to one spelling first (IDNA, lower case, no trailing dot), so that the tricks by which an
address looks like a name (`0x7f.1`, `2130706433`, full-width digits) end here, before anything resolves it.
"""

import ipaddress
import re
from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import SplitResult, quote, urljoin, urlsplit

import idna

from knowlex.base.errors import InvalidInput

MAX_URL_CHARS = 2048
PORTS = {"http": 80, "https": 443}
REFUSED = "This address is not fetched from: it is not on the public internet."
_UNSAFE = re.compile(r"[\x00-\x1f\x7f\\\ud800-\udfff]")
_LABEL = re.compile(r"[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?", re.ASCII)
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*", re.ASCII)
_PATH_SIGNS = "/%:@!$&'()*+,;=~-._"
_PRIVATE_4 = [
    ipaddress.IPv4Network(text)
    for text in (
        *("0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12"),
        *("192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15"),
        *("198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4"),
    )
]
# Without mapped, compatible, NAT64, unique local and link-local addresses.
_PUBLIC_6 = ipaddress.IPv6Network("2000::/3")
_PRIVATE_6 = [  # protocols (Teredo among them), documentation, 6to4: each can stand for an inner address
    ipaddress.IPv6Network(text) for text in ("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20")
]


@dataclass(frozen=True, slots=True)
class Target:
    """host: a name in ASCII or an address, IPv6 without brackets. path: with the query, fit to be sent."""

    scheme: str
    host: str
    port: int
    path: str

    @property
    def authority(self) -> str:
        """Return host and port as the Host header has them."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def url(self) -> str:
        return f"{self.scheme}://{self.authority}{self.path}"


def parse_target(url: str) -> Target:
    """Parse the URL. Raises InvalidInput: not http(s), with credentials, or malformed."""
    url = url.strip()
    if len(url) > MAX_URL_CHARS:
        raise _invalid(f"A URL may have at most {MAX_URL_CHARS} characters.")
    if _UNSAFE.search(url):
        raise _invalid("The URL holds a character that no URL may have.")
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise _invalid("The URL is malformed.") from None
    if parts.scheme not in PORTS or not parts.hostname:
        raise _invalid("The URL must begin with http:// or https:// and name a host.")
    if parts.username is not None or parts.password is not None:
        raise _invalid("The URL must not hold a user name or password.")
    if port == 0:
        raise _invalid("The URL is malformed.")
    host = normalize_host(parts.hostname)
    return Target(parts.scheme, host, port or PORTS[parts.scheme], _quote_path(parts))


def _quote_path(parts: SplitResult) -> str:
    query = f"?{quote(parts.query, safe=_PATH_SIGNS + '?')}" if parts.query else ""
    return (quote(parts.path, safe=_PATH_SIGNS) or "/") + query


def normalize_host(text: str) -> str:
    """Return the one spelling of a host: as `ipaddress` writes an address, or a name in lower-case ASCII.

    Raises InvalidInput for what is neither, for example an address written as one number.
    """
    host = text.lower()
    if ":" in host:
        return _normalize_address_6(host)
    if not host.isascii():
        try:
            host = idna.encode(host, uts46=True, transitional=False).decode().lower()
        except (idna.IDNAError, UnicodeError):
            raise _invalid("The URL's host is not a valid name.") from None
    host = host.removesuffix(".")
    labels = host.split(".")
    if len(host) > 253 or not all(_LABEL.fullmatch(label) for label in labels):
        raise _invalid("The URL's host is not a valid name.")
    if _NUMBER.fullmatch(labels[-1]):  # then no resolver takes it for a name
        return _normalize_address_4(host)
    return host


def _normalize_address_4(host: str) -> str:
    try:
        return str(ipaddress.IPv4Address(host))
    except ValueError:
        raise _invalid("An address must be written as four decimal numbers with dots.") from None


def _normalize_address_6(host: str) -> str:
    try:
        address = ipaddress.IPv6Address(host)
    except ValueError:
        raise _invalid("The URL's host is not a valid address.") from None
    if address.scope_id is not None:
        raise _invalid("The URL's host must not name a network interface.")
    return str(address)


def is_public(address: str) -> bool:
    """Tell if the address is of a host on the public internet; it is not if it can lead inside."""
    parsed = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(parsed, ipaddress.IPv4Address):
        return not any(parsed in network for network in _PRIVATE_4)
    return parsed in _PUBLIC_6 and not any(parsed in network for network in _PRIVATE_6)


def is_listed(target: Target, allowed_hosts: Iterable[str]) -> bool:
    """Tell if the operator lists the target's `host` (any port) or `host:port`."""
    return any(_matches(target, entry) for entry in allowed_hosts)


def _matches(target: Target, entry: str) -> bool:
    try:
        parts = urlsplit(f"//{entry if entry.count(':') < 2 or '[' in entry else f'[{entry}]'}")
        host, port = normalize_host(parts.hostname or ""), parts.port
    except (ValueError, InvalidInput):
        return False  # a slip in one entry must not open or close another
    return host == target.host and port in (None, target.port)


def check_port(target: Target, *, listed: bool) -> None:
    """Raise InvalidInput: other ports than those of the web are for hosts that the operator lists."""
    if not listed and target.port != PORTS[target.scheme]:
        raise _invalid("Only the usual ports, 80 for http and 443 for https, are fetched from.")


def follow_redirect(target: Target, location: str) -> Target:
    """Return where a redirect leads: the same host and scheme, or https for http. Raises InvalidInput."""
    if _UNSAFE.search(location):
        raise _invalid("The address redirects to a malformed URL.")
    after = parse_target(urljoin(target.url, location.strip()))
    if after.host != target.host:
        raise _invalid("The address redirects to another host, which is not followed.")
    upgraded = (target.scheme, after.scheme) == ("http", "https")
    if not upgraded and (after.scheme, after.port) != (target.scheme, target.port):
        raise _invalid("The address redirects to another scheme or port, which is not followed.")
    return after


def _invalid(message: str) -> InvalidInput:
    return InvalidInput(message, field="url")
