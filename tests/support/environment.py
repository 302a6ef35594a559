"""The environment of a test run: nothing from outside, everything in one temporary folder.

Imported by conftest.py before Django's settings are, so that they read these variables.
"""

import atexit
import os
import shutil
import sys
import tempfile
from pathlib import Path
from urllib.parse import quote

from knowlex.embedded import data_folder

PROJECT = Path(__file__).resolve().parent.parent.parent
OURS = ("KNOWLEX_", "OPENAI_", "OLLAMA_", "VECTOR_STORE_")
ALSO_OURS = {"DATABASE_URL", "REDIS_URL", "EMBEDDING_MODEL", "MIN_CONFIDENCE_THRESHOLD", "LOG_LEVEL"}
KEPT = {"KNOWLEX_MODELS_DIR", "KNOWLEX_WRITE_GOLDEN"}


def _make_folder() -> Path:
    """Short: a unix socket's path has at most 107 bytes. Open: root's PostgreSQL runs as another user."""
    folder = Path(tempfile.mkdtemp(prefix="kxt-", dir="/tmp" if Path("/tmp").is_dir() else None))
    folder.chmod(0o755)
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


FOLDER = _make_folder()
DATA_DIR = FOLDER / "data"


def database_url(name: str, data_dir: Path = DATA_DIR) -> str:
    folder = quote(str(data_folder.socket_dir(data_dir, "postgres")), safe="")
    return f"postgresql://postgres@{folder}/{name}"


def set_environment() -> None:
    """Forget the caller's configuration and point to services that the fixtures start when needed.

    Processes are to find our modules compiled: a run starts hundreds of them.
    """
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    sys.dont_write_bytecode = False
    for name in list(os.environ):
        if name not in KEPT and (name.startswith(OURS) or name in ALSO_OURS):
            del os.environ[name]
    os.environ |= {
        "DJANGO_SETTINGS_MODULE": "knowlex.settings",
        "KNOWLEX_DATA_DIR": str(DATA_DIR),
        "DATABASE_URL": database_url("knowlex"),
        "REDIS_URL": data_folder.redis_url(DATA_DIR),
        "KNOWLEX_CACHE": "off",  # in the tests' own process: no test is to find what another one has kept
        "KNOWLEX_STRUCTURED_CLAIMS": "off",  # replies are to arrive as a test words them
        "NO_PROXY": "127.0.0.1,localhost",
        "no_proxy": "127.0.0.1,localhost",
    }
