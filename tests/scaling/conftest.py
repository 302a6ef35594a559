"""A second host beside a running Knowlex: its own data folder, the files shared as by a network mount."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from tests.support.stack import Stack


@dataclass(frozen=True, slots=True)
class Hosts:
    """Two web servers on one database and one Valkey; `first` is the stack's own."""

    stack: Stack
    first: httpx.Client
    second: httpx.Client


def other_host(stack: Stack, folder: Path) -> dict[str, str]:
    """The environment of a host with a data folder of its own, in which only the files are the stack's."""
    (stack.folder / "files").mkdir(exist_ok=True)
    folder.mkdir()
    (folder / "files").symlink_to(stack.folder / "files", target_is_directory=True)
    secret = (stack.folder / "secret_key").read_text().strip()
    return {"KNOWLEX_DATA_DIR": str(folder), "KNOWLEX_SECRET_KEY": secret}


@pytest.fixture(scope="module")
def _second(_local_stack: Stack, tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    _local_stack.ensure_running()
    host = other_host(_local_stack, tmp_path_factory.mktemp("second") / "data")
    with _local_stack.another_web(**host) as client:
        yield client


@pytest.fixture
def hosts(server: Stack, _second: httpx.Client) -> Hosts:
    """Empty before each test."""
    return Hosts(server, server.client, _second)
