"""What an environment variable may hold. Each function returns the value to use or raises ValueError."""

import ipaddress
import os
import pwd
import re
import socket
from pathlib import Path
from typing import Any
from urllib.parse import SplitResult, urlsplit

import psutil

from knowlex.base.rates import Rate

DATABASE_SCHEMES = {"postgres", "postgresql"}
REDIS_SCHEMES = {"redis", "rediss", "valkey", "valkeys", "unix"}


def drop_blank(variables: Any) -> Any:
    """Leave out the variables that are blank: they count as not set."""
    return {name: value for name, value in variables.items() if not isinstance(value, str) or value.strip()}


def describe_error(error: Any, shown_name: str, *, is_secret: bool) -> str:
    """Say what pydantic found wrong with a variable; its value only where that is no secret."""
    message = f"{shown_name}: {error['msg'].removeprefix('Value error, ')}"
    return message if is_secret else f"{message} (it is {str(error['input'])[:80]!r})"


def upper(value: Any) -> Any:
    return value.strip().upper() if isinstance(value, str) else value


def _split(value: str, schemes: set[str]) -> SplitResult:
    expected = " or ".join(f"{scheme}://" for scheme in sorted(schemes))
    parts = urlsplit(value)
    if parts.scheme not in schemes or "://" not in value:
        raise ValueError(f"must begin with {expected}")
    try:
        parts.port  # noqa: B018 (parsed when read)
    except ValueError:
        raise ValueError("has a port that is not a number from 0 to 65535") from None
    return parts


def database_url(value: str) -> str:
    if value and not _split(value, DATABASE_SCHEMES).path.strip("/"):
        raise ValueError("names no database (postgresql://user:password@host:5432/database)")
    return value


def redis_url(value: str) -> str:
    if not value:
        return value
    parts = _split(value, REDIS_SCHEMES)
    if parts.scheme == "unix" and not parts.path.strip("/"):
        raise ValueError("names no socket (unix:///path/to/socket)")
    if parts.scheme != "unix":
        if not parts.hostname:
            raise ValueError("names no host (redis://host:6379/0)")
        if parts.path.strip("/") and not parts.path.strip("/").isdecimal():
            raise ValueError("must end with the number of a database (redis://host:6379/0)")
    return value


def name(value: str) -> str:
    """Of a model or a collection: printable, of a length that makes sense."""
    if not value.isprintable() or len(value) > 500:
        raise ValueError("must be a name, at most 500 printable characters")
    return value


def duration(value: str) -> str:
    """As Ollama writes one: "30m", "1h30m", "0", seconds, or -1 for ever."""
    if not re.fullmatch(r"-1|\d{1,9}|(\d{1,6}(\.\d{1,3})?(ms|s|m|h)){1,4}", value):
        raise ValueError("must be a duration such as 30m or 1h, a number of seconds, or -1 for ever")
    return value


def with_scheme(value: Any) -> Any:
    """Ollama's own OLLAMA_HOST may be a bare host:port."""
    return f"http://{value.strip()}" if isinstance(value, str) and "://" not in value else value


def ollama_host(value: Any) -> Any:
    """As `with_scheme`; a bare host is asked at Ollama's own port, as Ollama's own programs do."""
    if not isinstance(value, str) or "://" in value:
        return value
    url = urlsplit(with_scheme(value))
    try:
        return url.geturl() if url.port is not None else url._replace(netloc=f"{url.netloc}:11434").geturl()
    except ValueError:
        return url.geturl()  # refused by `web_url`


def web_url(value: str) -> str:
    if any(map(str.isspace, value.strip())):
        raise ValueError("holds a space")
    if value and not _split(value, {"http", "https"}).hostname:
        raise ValueError("names no host (http://host:port)")
    return value.rstrip("/")


def collection_name(value: str) -> str:
    """Of what Qdrant and Chroma take both, with room for a model's number at the end."""
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,199}", value):
        raise ValueError("must be at most 200 of A-Z a-z 0-9 . _ - and begin with a letter or a digit")
    return value


def header_value(value: str) -> str:
    if not value.isascii() or not value.isprintable() or " " in value:
        raise ValueError("holds characters that cannot be sent in a header")
    return value


def rate(value: str) -> str:
    Rate.parse(value)
    return value


def onnx_folder(value: str) -> str:
    """A folder with tokenizer.json, and model.onnx in it or in its folder `onnx`; absolute."""
    path = Path(value).expanduser().absolute()
    if not value or not path.is_dir():
        raise ValueError("must name the folder of an ONNX model")
    if not (path / "tokenizer.json").is_file():
        raise ValueError(f"{path} holds no tokenizer.json")
    if not any((path / name).is_file() for name in ("model.onnx", "onnx/model.onnx")):
        raise ValueError(f"{path} holds no model.onnx, and no onnx/model.onnx")
    return str(path)


def writable_folder(value: Path) -> Path:
    value = folder(value)
    if value.exists() and not os.access(value, os.W_OK | os.X_OK):
        owner = value.stat().st_uid
        whose = "" if owner == os.geteuid() else f": it belongs to {account_name(owner)}; run as that account"
        raise ValueError(f"{value} cannot be written to{whose}")
    return value


def account_name(uid: int) -> str:
    """Return how sudo names the account: one without a name by its number."""
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return f"'#{uid}'"


def folder(value: Path) -> Path:
    """One that exists or can be made."""
    value = value.expanduser()
    nearest = value.absolute()
    while not nearest.exists() and nearest != nearest.parent:
        nearest = nearest.parent
    if not nearest.is_dir():
        raise ValueError(f"{nearest} is not a folder")
    return value


def folder_list(value: str) -> str:
    """Absolute paths of folders, with colons between."""
    folders = [path.strip() for path in value.split(":") if path.strip()]
    for path in folders:
        if not path.startswith("/"):
            raise ValueError("must be absolute paths of folders, with colons between")
    return ":".join(folders)


def host(value: str) -> str:
    """An address or a name without scheme, port or brackets."""
    value = value.removeprefix("[").removesuffix("]")
    try:
        ipaddress.ip_address(value)
    except ValueError:
        if not value or any(sign in value for sign in ":/@ "):
            raise ValueError("must be an address or a host's name, without a port") from None
    return value


def host_names(value: str) -> str:
    """Names as a Host header has them, with commas between."""
    for entry in filter(None, map(str.strip, value.split(","))):
        if not re.fullmatch(r"[^\s/:]+|\[[^\s/]+\]", entry):
            raise ValueError(
                "must be host names without ports, with commas between, not such as https://host:443"
            )
    return value


def host_list(value: str) -> str:
    """`host` or `host:port`, with commas between."""
    for entry in filter(None, map(str.strip, value.split(","))):
        try:
            parts = urlsplit(f"//{entry if entry.count(':') < 2 or '[' in entry else f'[{entry}]'}")
            usable = bool(parts.hostname) and parts.netloc == parts.geturl()[2:] and "@" not in entry
            parts.port  # noqa: B018 (parsed when read)
        except ValueError:
            usable = False
        if not usable or " " in entry:
            raise ValueError("must be hosts, or host:port, with commas between")
    return value


def is_loopback(value: str) -> bool:
    try:
        return ipaddress.ip_address(value).is_loopback
    except ValueError:
        return value.lower() == "localhost"


def bound_addresses(bound: str) -> list[str]:
    """Return what a client may call the server by: the address, or all of this machine's for a wildcard."""
    if bound not in {"0.0.0.0", "::"}:  # noqa: S104 - compared, not bound
        return [bound]
    families = {socket.AF_INET, socket.AF_INET6}
    addresses = (address for group in psutil.net_if_addrs().values() for address in group)
    names = [address.address.partition("%")[0] for address in addresses if address.family in families]
    return [bound, *names]


def as_host(address: str) -> str:
    """Write the address as a Host header has it: IPv6 in brackets."""
    return f"[{address}]".lower() if ":" in address else address.lower()


FILTER_TYPES = ("string", "integer", "number", "boolean", "date")
_FILTER_KEY = re.compile(r"[\w.-]{1,64}")


def filter_keys(text: str) -> dict[str, str] | None:
    """Read `year:integer, author` as key -> type, "" for any; None for a text without keys.

    Raises ValueError for what is neither a key nor a key with a type.
    """
    types: dict[str, str] = {}
    for entry in filter(None, (part.strip() for part in text.split(","))):
        key, colon, kind = (part.strip() for part in entry.partition(":"))
        if not _FILTER_KEY.fullmatch(key) or (colon and kind not in FILTER_TYPES):
            raise ValueError(
                f"{entry[:80]!r} is not a key, or key:type with one of {', '.join(FILTER_TYPES)}"
            )
        types[key] = kind
    return types or None


def filter_key_list(text: str) -> str:
    filter_keys(text)
    return text
