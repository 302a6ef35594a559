"""What a process that reads strangers' files could do, were it taken over: nothing but compute and answer."""

import ctypes
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from documents.extractors.sandbox import jail, ocr

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the kernel's filter is Linux's")
_ROOT = Path(jail.__file__).parents[2]
_ATTEMPTS = f"""
import os, signal, socket, sys
sys.path.insert(0, {str(_ROOT)!r})
folder = sys.argv[1]
attempts = {{
    "open": lambda: open(folder + "/secret").read(),
    "look": lambda: os.stat(folder + "/secret"),
    "list": lambda: os.listdir(folder),
    "delete": lambda: os.unlink(folder + "/secret"),
    "rename": lambda: os.rename(folder + "/secret", folder + "/known"),
    "make": lambda: os.mkdir(folder + "/new"),
    "link": lambda: os.symlink("/", folder + "/link"),
    "expose": lambda: os.chmod(folder + "/secret", 0o777),
    "connect": lambda: socket.socket(),
    "talk": lambda: socket.socketpair(),
    "fork": lambda: os.fork(),
    "run": lambda: os.execv("/bin/true", ["true"]),
    "end": lambda: os.kill(os.getppid(), signal.SIGTERM),
}}
"""
_IN_JAIL = """
from documents.extractors.sandbox.jail import lock_in
lock_in(cpu_s=10, user_s=0, wall_s=30, memory_bytes=1 << 30)
"""
_TRY = """
for name, attempt in attempts.items():
    try:
        attempt()
    except (OSError, ValueError):  # resource makes a ValueError of EPERM
        continue
    os.write(1, name.encode() + b" ")
"""
Attempt = Callable[[list[str]], set[str]]


@pytest.fixture
def succeeding(tmp_path: Path) -> Attempt:
    """Runs a command that tries all of them in a folder with a secret; returns what it could do."""
    (tmp_path / "secret").write_text("a")

    def run(command: list[str]) -> set[str]:
        done = subprocess.run([*command, str(tmp_path)], stdout=subprocess.PIPE, timeout=60, check=True)
        return set(done.stdout.decode().split())

    return run


def test_a_jailed_reader_reaches_nothing(succeeding: Attempt, tmp_path: Path) -> None:
    assert succeeding([sys.executable, "-c", _ATTEMPTS + _IN_JAIL + _TRY]) == set()
    assert os.listdir(tmp_path) == ["secret"]


_ALONE = """
import ctypes, resource
libc = ctypes.CDLL(None, use_errno=True)
parent = os.getppid()

def call(name, *arguments):
    if getattr(libc, name)(*arguments) < 0:
        raise OSError(ctypes.get_errno(), name)

class Vector(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]

target = next(int(part, 16) for part in sys.argv[2:3])
mine, theirs = ctypes.create_string_buffer(b"taken over"), ctypes.c_void_p(target)
here, there = Vector(ctypes.addressof(mine), 10), Vector(target, 10)
attempts |= {
    "shadow": lambda: open("/etc/shadow").read(),
    "passwd": lambda: open("/etc/passwd").read(),
    "environment": lambda: open(f"/proc/{parent}/environ").read(),
    "memory": lambda: open(f"/proc/{parent}/mem", "r+b", buffering=0),
    "shell": lambda: os.execv("/bin/sh", ["sh", "-c", "echo shell"]),
    "trace": lambda: call("ptrace", 16, parent, 0, 0),
    "peek": lambda: call("process_vm_readv", parent, ctypes.byref(here), 1, ctypes.byref(there), 1, 0),
    "poke": lambda: call("process_vm_writev", parent, ctypes.byref(here), 1, ctypes.byref(there), 1, 0),
    "limit": lambda: resource.prlimit(parent, resource.RLIMIT_CPU, (1, 1)),
    "unlimit": lambda: resource.setrlimit(resource.RLIMIT_CPU, (9999, 9999)),
    "root": lambda: os.chroot("/"),
    "user": lambda: os.setuid(1),
    "write": lambda: open(folder + "/new", "w"),
    "append": lambda: open(folder + "/secret", "a"),
    "mount": lambda: call("mount", b"none", folder.encode(), b"tmpfs", 0, 0),
    "namespace": lambda: call("unshare", 0x10000000),
    "nothing": lambda: os.getpid(),
}
"""


@pytest.fixture
def attack(tmp_path: Path) -> Callable[[], set[str]]:
    """Puts a hostile program into Tesseract's place; returns what it could do."""
    (tmp_path / "secret").write_text("a")
    program = tmp_path / "tesseract"
    program.write_text(f"#!{os.path.realpath(sys.executable)}\n{_ATTEMPTS}{_ALONE}{_TRY}")
    program.chmod(0o755)
    memory = ctypes.create_string_buffer(b"left alone")

    def run() -> set[str]:
        command = [str(program), str(tmp_path), hex(ctypes.addressof(memory))]
        printed = ocr._run_confined(command, b"", timeout_s=60)
        assert memory.value == b"left alone"
        assert sorted(os.listdir(tmp_path)) == ["secret", "tesseract"]
        assert printed is not None
        return set(printed.split())

    return run


def test_in_the_place_of_tesseract_a_program_reaches_nothing(attack: Callable[[], set[str]]) -> None:
    assert attack() == {"look", "nothing"}  # that a file exists, and its size: Landlock guards what is in it
