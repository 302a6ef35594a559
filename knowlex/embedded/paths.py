"""Where the embedded services live in the data folder, known without starting any of them."""

import secrets
from pathlib import Path
from urllib.parse import quote


def secret_key(data_dir: Path) -> str:
    """Django's SECRET_KEY: made at first use, readable by the owner only, the same ever after."""
    path = data_dir / "secret_key"
    if not path.exists():
        data_dir.mkdir(parents=True, exist_ok=True)
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


def database_url(data_dir: Path) -> str:
    return f"postgresql://postgres@{quote(str(postgres_dir(data_dir)), safe='')}/knowlex"


def redis_url(data_dir: Path) -> str:
    return f"unix://{data_dir / 'valkey.sock'}"
