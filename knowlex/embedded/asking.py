"""Asking a web server that this process has started how it is."""

import http.client
import json
from contextlib import closing
from typing import Any

LIMIT_S = 5.0


def serves(host: str, port: int) -> bool:
    """Whether it answers and has its database. What else may be away, such as a vector store of others, comes
    back by itself, and much can be done without it.
    """
    return bool(_health(host, port).get("database") == "connected")


def _health(host: str, port: int) -> dict[str, Any]:
    """{} without an answer."""
    with closing(http.client.HTTPConnection(_reachable(host), port, timeout=LIMIT_S)) as connection:
        try:
            connection.request("GET", "/health", headers={"Host": f"127.0.0.1:{port}"})
            found = json.loads(connection.getresponse().read())
        except (OSError, http.client.HTTPException, ValueError):
            return {}
    return found if isinstance(found, dict) else {}


def _reachable(host: str) -> str:
    return {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104 (asked, not bound)
