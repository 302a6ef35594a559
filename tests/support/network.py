"""Network namespaces, each a host of its own on one switch. For root with the right to make them."""

import ctypes
import os
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

NETWORK = "10.77.0"
_CLONE_NEWNET = 0x40000000
_libc = ctypes.CDLL(None, use_errno=True)


class Network:
    """`with Network(3) as network: with network.inside(0): …`: what is started there is on that host.

    Host 0 is the switch, 10.77.0.1; the next are 10.77.0.2, …. None reaches anything else.
    """

    def __init__(self, hosts: int) -> None:
        self._names = [f"kx{os.getpid()}-{number}" for number in range(hosts)]

    def __enter__(self) -> "Network":
        try:
            self._make()
        except (OSError, subprocess.CalledProcessError):
            self._remove()
            pytest.skip("needs the right to make network namespaces (root with CAP_SYS_ADMIN, and `ip`)")
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._remove()

    def address(self, host: int) -> str:
        return f"{NETWORK}.{host + 1}"

    @contextmanager
    def inside(self, host: int) -> Iterator[None]:
        """This thread is on that host: its new sockets, and the processes that it starts."""
        own = os.open(f"/proc/self/task/{_libc.gettid()}/ns/net", os.O_RDONLY)
        there = os.open(Path("/run/netns", self._names[host]), os.O_RDONLY)
        try:
            _enter(there)
            yield
        finally:
            _enter(own)
            os.close(own)
            os.close(there)

    @contextmanager
    def cut_off(self, host: int) -> Iterator[None]:
        """Its cable is pulled out meanwhile: nothing is refused, nothing answers."""
        cable = ["link", "set", f"to{host}"]
        self._on(0, *cable, "down")
        try:
            yield
        finally:
            self._on(0, *cable, "up")

    def _make(self) -> None:
        for number, name in enumerate(self._names):
            _ip("netns", "add", name)
            self._on(number, "link", "set", "lo", "up")
        self._on(0, "link", "add", "switch", "type", "bridge")
        self._on(0, "addr", "add", f"{self.address(0)}/24", "dev", "switch")
        self._on(0, "link", "set", "switch", "up")
        for number, name in enumerate(self._names[1:], 1):
            near = f"to{number}"
            self._on(0, "link", "add", near, "type", "veth", "peer", "name", "eth0", "netns", name)
            self._on(0, "link", "set", near, "master", "switch", "up")
            self._on(number, "addr", "add", f"{self.address(number)}/24", "dev", "eth0")
            self._on(number, "link", "set", "eth0", "up")

    def _remove(self) -> None:
        for name in self._names:
            subprocess.run(["ip", "netns", "del", name], capture_output=True)

    def _on(self, host: int, *words: str) -> None:
        _ip("-n", self._names[host], *words)


def _ip(*words: str) -> Sequence[str]:
    subprocess.run(["ip", *words], check=True, capture_output=True)
    return words


def _enter(namespace: int) -> None:
    if _libc.setns(namespace, _CLONE_NEWNET):
        raise OSError(ctypes.get_errno(), "setns")
