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
import resource
import signal
import struct
import sys
from collections.abc import Sequence

PROGRAM_CPU_S = 20
PROGRAM_MEMORY_BYTES = 1024**3
_PR_SET_PDEATHSIG, _PR_SET_SECCOMP, _PR_SET_NO_NEW_PRIVS, _MODE_FILTER = 1, 22, 38, 2
_LOAD, _EQUAL, _RETURN = 0x20, 0x15, 0x06
_NUMBER_AT, _ARCHITECTURE_AT = 0, 4  # in the kernel's struct seccomp_data
_ALLOW, _REFUSE = 0x7FFF0000, 0x00050000 | errno.EPERM
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
_HARMFUL = {  # for a program that opens files of its own, but speaks to nobody and changes nothing
    "socket": (41, 198), "connect": (42, 203), "sendto": (44, 206), "socketpair": (53, 199),
    "kill": (62, 129), "tkill": (200, 130), "ptrace": (101, 117), "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271), "pidfd_open": (434, 434), "pidfd_send_signal": (424, 424),
    "rename": (82, None), "renameat": (264, 38), "renameat2": (316, 276), "mkdir": (83, None),
    "mkdirat": (258, 34), "rmdir": (84, None), "creat": (85, None), "link": (86, None),
    "linkat": (265, 37), "unlink": (87, None), "unlinkat": (263, 35), "symlink": (88, None),
    "symlinkat": (266, 36), "chmod": (90, None), "fchmod": (91, 52), "fchmodat": (268, 53),
    "fchmodat2": (452, 452), "chown": (92, None), "fchown": (93, 55), "lchown": (94, None),
    "fchownat": (260, 54), "truncate": (76, 45), "ftruncate": (77, 46), "mknod": (133, None),
    "mknodat": (259, 33), "mount": (165, 40), "umount2": (166, 39), "setrlimit": (160, 164),
    "io_uring_setup": (425, 425), "bpf": (321, 280), "unshare": (272, 97), "setns": (308, 268),
}
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

    The program gets no secrets (who starts it makes its environment), can write no file, has no network and
    ends with its parent. Raises OSError if the program cannot be started.
    """
    _end_with_parent()
    resource.setrlimit(resource.RLIMIT_AS, (PROGRAM_MEMORY_BYTES, PROGRAM_MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CPU, (PROGRAM_CPU_S, PROGRAM_CPU_S + 1))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    refuse_harmful()
    os.execv(command[0], command)  # noqa: S606 - no shell is wanted


def _end_with_parent() -> None:
    """Have the kernel end this process with its parent; Linux only. Elsewhere timers end an orphan."""
    prctl = getattr(ctypes.CDLL(None), "prctl", None)
    if prctl is not None:
        prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)


def allow_only_needed() -> None:
    """Let this process compute, and use what it has open; the kernel refuses all else with EPERM."""
    _install_filter(_NEEDED, listed=_ALLOW, others=_REFUSE)


def refuse_harmful() -> None:
    """Take the network, and changes of files' names and rights, from this process and what it becomes."""
    _install_filter(_HARMFUL, listed=_REFUSE, others=_ALLOW)


def _install_filter(calls: dict[str, tuple[int, int | None]], *, listed: int, others: int) -> None:
    """Install a filter. A kernel without seccomp refuses it; the limits on resources hold all the same."""
    is_64_bit_linux = sys.platform == "linux" and struct.calcsize("P") == 8
    machine = _ARCHITECTURES.get(os.uname().machine) if is_64_bit_linux else None
    if machine is None:
        return
    architecture, column = machine
    numbers = [number for row in calls.values() if (number := row[column]) is not None]
    _load_program(_assemble_program(architecture, numbers, listed, others))


def _assemble_program(architecture: int, numbers: Sequence[int], listed: int, others: int) -> list[bytes]:
    """Assemble a filter; calls of another architecture (32 bits, x32) are refused, whose numbers differ."""
    x32 = [_instruction(0x35, 0x40000000, 0, 1), _instruction(_RETURN, _REFUSE)]  # greater or equal
    checks = [_instruction(_EQUAL, number, len(numbers) - index, 0) for index, number in enumerate(numbers)]
    return [
        _instruction(_LOAD, _ARCHITECTURE_AT),
        _instruction(_EQUAL, architecture, 1, 0),
        _instruction(_RETURN, _REFUSE),
        _instruction(_LOAD, _NUMBER_AT),
        *x32,
        *checks,
        _instruction(_RETURN, others),
        _instruction(_RETURN, listed),
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
