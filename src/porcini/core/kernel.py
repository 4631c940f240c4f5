"""What Linux can take away from a process: Landlock for files, seccomp for programs and the network.

Both are called directly by their system call numbers, since Python has no functions for them. Where the kernel
lacks them, or on another system, nothing is taken away: the seal is a second line of defence, not the first.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import signal
import struct
import sys
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

# From linux/prctl.h, linux/landlock.h, linux/seccomp.h, linux/filter.h and linux/audit.h.
_PR_SET_PDEATHSIG, _PR_SET_NO_NEW_PRIVS, _PR_SET_SECCOMP, _SECCOMP_MODE_FILTER = 1, 38, 22, 2
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF, _VERSION, _PATH_BENEATH = 444, 445, 446, 1, 1
_READ_FILE, _READ_DIR, _ALL = 1 << 2, 1 << 3, (1 << 13) - 1
_SINCE = {2: 1 << 13, 3: 1 << 14, 5: 1 << 15}
"""Rights that later versions of Landlock added: to move files to other folders, to truncate them, to control
devices."""
_LOAD, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_ALLOW, _REFUSE, _KILL = 0x7FFF0000, 0x00050000 | errno.EPERM, 0x80000000

_REFUSED = {
    "x86_64": (
        0xC000003E,
        # socket connect accept sendto bind listen socketpair accept4 execve ptrace mount setns unshare
        # process_vm_writev execveat io_uring_setup
        (41, 42, 43, 44, 49, 50, 53, 288, 59, 101, 165, 308, 272, 311, 322, 425),
    ),
    "aarch64": (0xC00000B7, (198, 203, 202, 206, 200, 201, 199, 242, 221, 117, 40, 268, 97, 271, 281, 425)),
}
"""For each machine: its audit number, and the system calls that a sealed process cannot make."""
_OTHER_CALLS = 0x40000000
"""From this number on, x86_64 has its system calls a second time."""


@cache
def _libc() -> Any:
    return ctypes.CDLL(None, use_errno=True)


def end_with_parent() -> None:
    """End this child when the process that waits for it ends."""
    if sys.platform == "linux":
        _libc().prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def seal(readable: Iterable[Path], writable: Path) -> None:
    """Take away from this process for good: the network, starting programs, and all files except these."""
    if sys.platform == "linux" and _libc().prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0:
        _restrict_files([*readable, *_python_files()], writable)
        _refuse_calls()


def _python_files() -> list[Path]:
    """What Python reads while it runs: its own modules, those that are installed, libraries, a few devices."""
    here = Path.cwd()
    modules = [Path(each) for each in sys.path if Path(each).is_absolute() and Path(each) != here]
    devices = ["/dev/null", "/dev/zero", "/dev/urandom", "/proc/self"]
    libraries = ["/usr/lib", "/usr/lib64", "/usr/local/lib", "/lib", "/lib64", sys.prefix, sys.base_prefix]
    return [*modules, *map(Path, libraries + devices)]


def _restrict_files(readable: Iterable[Path], writable: Path) -> None:
    call = _libc().syscall
    version = call(_CREATE_RULESET, None, 0, _VERSION)
    if version < 1:
        return
    everything = _ALL | sum(right for since, right in _SINCE.items() if version >= since)
    rules = call(_CREATE_RULESET, struct.pack("Q", everything), 8, 0)
    if rules < 0:
        return
    for path, rights in [*((each, _READ_FILE | _READ_DIR) for each in readable), (writable, everything & ~1)]:
        try:
            place = os.open(path, os.O_PATH | os.O_CLOEXEC)
        except OSError:
            continue  # a path that does not exist needs no rule
        allowed = rights if path.is_dir() else rights & _READ_FILE
        call(_ADD_RULE, rules, _PATH_BENEATH, struct.pack("=Qi", allowed, place), 0)
        os.close(place)
    call(_RESTRICT_SELF, rules, 0)
    os.close(rules)


def _refuse_calls() -> None:
    machine, refused = _REFUSED.get(platform.machine(), (0, ()))
    if not machine:
        return
    program = [(_LOAD, 0, 0, 4), (_EQUAL, 1, 0, machine), (_RETURN, 0, 0, _KILL), (_LOAD, 0, 0, 0)]
    for left, number in enumerate((*refused, None)):
        skipped = len(refused) - left  # instructions to jump over, to the last one, which refuses
        if number is None:
            program.append((_RETURN, 0, 0, _ALLOW))
        else:
            program.append((_EQUAL, skipped, 0, number))
    program.insert(4, (_AT_LEAST, len(refused) + 1, 0, _OTHER_CALLS))
    program.append((_RETURN, 0, 0, _REFUSE))
    code = b"".join(struct.pack("HBBI", *each) for each in program)
    kept = ctypes.create_string_buffer(code, len(code))
    head = struct.pack("HxxxxxxQ", len(program), ctypes.addressof(kept))
    _libc().prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, head, 0, 0)
