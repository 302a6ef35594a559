"""Limits that a process puts on itself before it touches a file: resources, and system calls by seccomp.

A child of the fork server calls `lock_in`. A foreign program that reads pictures is started through this
file, `python -I -S jail.py PROGRAM ARGUMENT…`, which limits itself and becomes the program. So it uses the
standard library only. Seccomp filters exist on Linux (x86-64 and ARM64); elsewhere none is set.

Limits on resources do not bind root, and none of them forbids to delete a file or to end another process.
A filter does, once and for all: for the process itself, for native code in it, and for what it starts.
"""

import ctypes
import errno
import os
import re
import resource
import signal
import struct
import sys
from collections.abc import Sequence

PROGRAM_CPU_S = 20
PROGRAM_MEMORY_BYTES = 1024**3
_PR_SET_PDEATHSIG, _PR_SET_SECCOMP, _PR_SET_NO_NEW_PRIVS, _MODE_FILTER = 1, 22, 38, 2
_LOAD, _EQUAL, _RETURN = 0x20, 0x15, 0x06
_ANY_BIT, _AT_LEAST, _HIGHEST_PLAIN = 0x45, 0x35, 4  # of fcntl: F_SETFL; then come locks and owners
_NUMBER_AT, _ARCHITECTURE_AT, _SECOND_AT, _THIRD_AT = 0, 4, 24, 32  # in the kernel's struct seccomp_data
_ALLOW, _REFUSE = 0x7FFF0000, 0x00050000 | errno.EPERM
_FIOCLEX = 0x5451
_NOBODY = 65534
_LANDLOCK_CREATE, _LANDLOCK_ADD, _LANDLOCK_RESTRICT = 444, 445, 446  # on either architecture
_BENEATH, _EXECUTE, _READ_FILE, _READ_DIR = 1, 1, 1 << 2, 1 << 3
_FILE_ACCESS = (1 << 13) - 1  # all that the first version of Landlock knows of
_PROGRAM_FOLDERS = ("lib", "lib64", "share/tessdata", "share/tesseract-ocr")
_SYSTEM_FILES = ("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib", "/etc/ld.so.cache")
_ARCHITECTURES = {"x86_64": (0xC000003E, 0), "aarch64": (0xC00000B7, 1)}  # AUDIT_ARCH_…, column below

# Numbers on x86-64 and ARM64; None where there is no such call.
# fmt: off
_NEEDED = {  # to compute, and to use descriptors that are open: no path, no socket, no other process
    "read": (0, 63), "write": (1, 64), "close": (3, 57), "fstat": (5, 80), "poll": (7, None),
    "lseek": (8, 62), "mmap": (9, 222), "mprotect": (10, 226), "munmap": (11, 215), "brk": (12, 214),
    "rt_sigaction": (13, 134), "rt_sigprocmask": (14, 135), "rt_sigreturn": (15, 139), "pread64": (17, 67),
    "readv": (19, 65), "writev": (20, 66), "sched_yield": (24, 124), "mremap": (25, 216),
    "madvise": (28, 233), "nanosleep": (35, 101), "getitimer": (36, 102), "setitimer": (38, 103),
    "getpid": (39, 172), "exit": (60, 93), "uname": (63, 160), "gettimeofday": (96, 169),
    "getrlimit": (97, 163), "getrusage": (98, 165), "sysinfo": (99, 179), "times": (100, 153),
    "getuid": (102, 174), "getgid": (104, 176), "geteuid": (107, 175), "getegid": (108, 177),
    "getppid": (110, 173), "sigaltstack": (131, 132), "gettid": (186, 178), "time": (201, None),
    "futex": (202, 98), "sched_getaffinity": (204, 123), "restart_syscall": (219, 128),
    "clock_gettime": (228, 113), "clock_getres": (229, 114), "clock_nanosleep": (230, 115),
    "exit_group": (231, 94), "ppoll": (271, 73), "set_robust_list": (273, 99), "getrandom": (318, 278),
    "membarrier": (324, 283), "rseq": (334, 293),
}
_TO_START = {  # a program besides: to become it, and to find and read its files
    "access": (21, None), "set_tid_address": (218, 96), "execve": (59, 221), "stat": (4, None),
    "lstat": (6, None), "readlink": (89, None), "readlinkat": (267, 78), "getcwd": (79, 17),
    "getdents64": (217, 61), "newfstatat": (262, 79), "faccessat": (269, 48), "faccessat2": (439, 439),
    "statx": (332, 291), "arch_prctl": (158, None),
}
# Besides, by an argument: files are opened for reading only, fcntl names nobody to be sent signals, and ioctl
# may do nothing but FIOCLEX.
_OPENAT, _FCNTL, _IOCTL = (257, 56), (72, 25), (16, 29)
# fmt: on


def lock_in(*, cpu_s: int, user_s: float, wall_s: float, memory_bytes: int) -> None:
    """Forbid this process to open, write or delete files, to make sockets, and to start or end processes.

    The kernel ends the process when its time is up, whatever native code it is in. user_s: CPU in user mode,
    finer than cpu_s; 0 for no such limit.
    """
    os.setpgid(0, 0)
    _end_with_parent()
    resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, memory_bytes))
    resource.setrlimit(resource.RLIMIT_CPU, (cpu_s, cpu_s + 1))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_NPROC, (0, 0))
    resource.setrlimit(resource.RLIMIT_NOFILE, (0, 0))  # open descriptors stay usable: the file and the pipe
    signal.signal(signal.SIGXCPU, signal.SIG_DFL)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.signal(signal.SIGVTALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, wall_s)
    signal.setitimer(signal.ITIMER_VIRTUAL, user_s)
    allow_only_needed()


def run_confined(command: list[str]) -> None:
    """Replace this process by a program within limits. Never returns.

    The program gets no secrets (who starts it makes its environment), reads only its own files, writes none,
    starts no other, has no network, touches no other process and ends with its parent. A kernel without
    Landlock (before Linux 5.13) lets it read what the user nobody may, or the user who started it if that is
    not root. Raises OSError if the program cannot be started.
    """
    _end_with_parent()
    resource.setrlimit(resource.RLIMIT_AS, (PROGRAM_MEMORY_BYTES, PROGRAM_MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CPU, (PROGRAM_CPU_S, PROGRAM_CPU_S + 1))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    if not _allow_only_own_files(command[0]) and os.geteuid() == 0:
        os.setgroups([])
        os.setgid(_NOBODY)
        os.setuid(_NOBODY)
    _end_with_parent()  # a change of the user has cleared it
    _install_filter({**_NEEDED, **_TO_START}, may_read=True)
    os.execv(command[0], command)  # noqa: S606 - no shell is wanted


def _end_with_parent() -> None:
    """Have the kernel end this process with its parent; Linux only. Elsewhere timers end an orphan."""
    prctl = getattr(ctypes.CDLL(None), "prctl", None)
    if prctl is not None:
        prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)


def allow_only_needed() -> None:
    """Let this process compute, and use what it has open; the kernel refuses all else with EPERM."""
    _install_filter(_NEEDED)


def _allow_only_own_files(program: str) -> bool:
    """Let this process, and what it becomes, open only the program, its libraries and Tesseract's languages.

    Return False if the kernel has no Landlock.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    handled = ctypes.c_uint64(_FILE_ACCESS)
    ruleset = libc.syscall(_LANDLOCK_CREATE, ctypes.byref(handled), ctypes.c_size_t(8), 0)
    if ruleset < 0:
        return False
    programs = [os.path.realpath(path) for path in (program, *_interpreters(program))]
    for path in programs:
        _allow_below(libc, ruleset, path, _EXECUTE | _READ_FILE)
    prefixes = [os.path.dirname(os.path.dirname(path)) for path in programs]
    folders = [os.path.join(prefix, name) for prefix in prefixes for name in _PROGRAM_FOLDERS]
    for path in (*folders, *_SYSTEM_FILES, os.environ.get("TESSDATA_PREFIX", "")):
        if os.path.realpath(path) != "/":
            _allow_below(libc, ruleset, path, _READ_FILE | _READ_DIR)
    libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    restricted = bool(libc.syscall(_LANDLOCK_RESTRICT, ruleset, 0) == 0)
    os.close(ruleset)
    return restricted


def _interpreters(program: str) -> list[str]:
    """Return what the kernel starts a program with: the loader that it names, or the `#!` of a script."""
    with open(program, "rb") as source:
        head = source.read(4096)
    names = re.findall(rb"\A#! *([^\s]+)", head) or re.findall(
        rb"(/[\x21-\x7e]*/ld[\x21-\x7e]*\.so[.0-9]*)\0", head
    )
    scripts = [os.fsdecode(name) for name in names[:1]]
    loaders = [loader for name in scripts if head[:2] == b"#!" for loader in _interpreters(name)]
    return scripts + loaders


def _allow_below(libc: ctypes.CDLL, ruleset: int, path: str, access: int) -> None:
    """Allow it for a file or a folder with all below; what is not there needs no rule."""
    try:
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    if not os.path.isdir(path):
        access &= ~_READ_DIR
    rule = struct.pack("=Qi", access, descriptor)
    libc.syscall(_LANDLOCK_ADD, ruleset, _BENEATH, rule, 0)
    os.close(descriptor)


def _install_filter(calls: dict[str, tuple[int, int | None]], *, may_read: bool = False) -> None:
    """Install a filter that allows these calls. may_read: and to open files, but none to write.

    A kernel without seccomp refuses the filter; the limits on resources hold all the same.
    """
    is_64_bit_linux = sys.platform == "linux" and struct.calcsize("P") == 8
    machine = _ARCHITECTURES.get(os.uname().machine) if is_64_bit_linux else None
    if machine is None:
        return
    architecture, column = machine
    numbers = [number for row in calls.values() if (number := row[column]) is not None]
    _load_program(
        _assemble_program(
            architecture, numbers, (_OPENAT[column], _FCNTL[column], _IOCTL[column]) if may_read else None
        )
    )


def _assemble_program(
    architecture: int, numbers: Sequence[int], opening: tuple[int, int, int] | None
) -> list[bytes]:
    """Assemble a filter; calls of another architecture (32 bits, x32) are refused, whose numbers differ."""
    x32 = [_instruction(_AT_LEAST, 0x40000000, 0, 1), _instruction(_RETURN, _REFUSE)]
    if_harmless = []
    if opening:
        writes = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC
        if_harmless = [
            *_check_argument(opening[0], _THIRD_AT, _instruction(_ANY_BIT, writes, 0, 1)),
            *_check_argument(opening[1], _SECOND_AT, _instruction(_AT_LEAST, _HIGHEST_PLAIN + 1, 0, 1)),
            *_check_argument(opening[2], _SECOND_AT, _instruction(_EQUAL, _FIOCLEX, 1, 0)),
        ]
    checks = [_instruction(_EQUAL, number, len(numbers) - index, 0) for index, number in enumerate(numbers)]
    return [
        _instruction(_LOAD, _ARCHITECTURE_AT),
        _instruction(_EQUAL, architecture, 1, 0),
        _instruction(_RETURN, _REFUSE),
        _instruction(_LOAD, _NUMBER_AT),
        *x32,
        *if_harmless,
        *checks,
        _instruction(_RETURN, _REFUSE),
        _instruction(_RETURN, _ALLOW),
    ]


def _check_argument(number: int, argument_at: int, is_harmful: bytes) -> list[bytes]:
    """Decide about one call by an argument of it, and leave all other calls to what follows."""
    return [
        _instruction(_EQUAL, number, 0, 4),
        _instruction(_LOAD, argument_at),
        is_harmful,
        _instruction(_RETURN, _REFUSE),
        _instruction(_RETURN, _ALLOW),
    ]


def _instruction(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("HBBI", code, if_true, if_false, value)


def _load_program(steps: Sequence[bytes]) -> None:
    code = ctypes.create_string_buffer(b"".join(steps))
    program = struct.pack("HxxxxxxP", len(steps), ctypes.addressof(code))
    prctl = ctypes.CDLL(None).prctl
    prctl.argtypes = [ctypes.c_int, ctypes.c_ulong, ctypes.c_char_p, ctypes.c_ulong, ctypes.c_ulong]
    prctl(_PR_SET_NO_NEW_PRIVS, 1, None, 0, 0)
    prctl(_PR_SET_SECCOMP, _MODE_FILTER, program, 0, 0)


if __name__ == "__main__":
    run_confined(sys.argv[1:])
