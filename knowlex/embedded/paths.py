"""Where the embedded services live in the data folder, known without starting any of them."""

import hashlib
import os
import re
import secrets
from pathlib import Path
from urllib.parse import quote

# The kernel takes 107 bytes for a socket's path (macOS 103); libpq splits hosts at commas, URLs at more.
MAX_SOCKET_PATH = 103
PLAIN_PATH = re.compile(r"[A-Za-z0-9_./-]+")
POSTGRES_SOCKET = ".s.PGSQL.5432"
DATABASE_NAME = "knowlex"


def secret_key(data_dir: Path) -> str:
    """Django's SECRET_KEY: made at first use, readable by the owner only, the same ever after."""
    path = data_dir / "secret_key"
    if not path.exists():
        data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        fresh = path.with_name(f"secret_key.{secrets.token_hex(4)}")
        fresh.touch(mode=0o600)
        fresh.write_text(secrets.token_urlsafe(50))
        try:
            path.hardlink_to(fresh)  # two first starts at once: one wins, both read the winner's
        except FileExistsError:
            pass
        finally:
            fresh.unlink()
    return path.read_text().strip()


def postgres_dir(data_dir: Path) -> Path:
    return data_dir / "postgres"


def valkey_dir(data_dir: Path) -> Path:
    return data_dir / "valkey"


def logs_dir(data_dir: Path) -> Path:
    return data_dir / "logs"


def socket_dir(data_dir: Path, service: str) -> Path:
    """The service's own folder in the data folder, or a short one under /tmp if that cannot hold a socket.

    /tmp and not $TMPDIR: every process must come to the same answer, whatever its environment.
    """
    inside = data_dir / service
    longest = os.fsencode(inside / POSTGRES_SOCKET)
    if len(longest) <= MAX_SOCKET_PATH and PLAIN_PATH.fullmatch(str(inside)):
        return inside
    digest = hashlib.sha256(os.fsencode(data_dir)).hexdigest()[:16]
    return Path("/tmp") / f"knowlex-{digest}-{service}"  # noqa: S108 (its owner is checked before use)


def valkey_socket(data_dir: Path) -> Path:
    return socket_dir(data_dir, "valkey") / "valkey.sock"


def database_url(data_dir: Path) -> str:
    folder = quote(str(socket_dir(data_dir, "postgres")), safe="")
    return f"postgresql://postgres@{folder}/{DATABASE_NAME}"


def redis_url(data_dir: Path) -> str:
    return f"unix://{valkey_socket(data_dir)}"
