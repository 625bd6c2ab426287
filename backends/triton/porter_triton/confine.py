"""Walls around generated code: one folder it may write in, no network, no other process.

Landlock refuses the writes, a filter of system calls the rest; the process keeps both until it ends. Where the kernel
lacks one of them the other still stands: `porter doctor` says which are there.
"""

from __future__ import annotations

import ctypes
import os
import platform
import struct
from pathlib import Path

_NO_NEW_PRIVILEGES, _SET_SECCOMP, _FILTER = 38, 22, 2  # of prctl
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446  # the same on every architecture
_WRITE_FILE, _REMOVE_AND_MAKE, _REFER, _TRUNCATE = 1 << 1, 0x1FF << 4, 1 << 13, 1 << 14
_PATH_BENEATH = 1

# Numbers of calls: (architecture of the filter, clone, clone3, those refused).
_CALLS = {
    # socket, connect, socketpair, fork, vfork, execve, kill, ptrace, prlimit64, execveat
    "x86_64": (0xC000003E, 56, 435, (41, 42, 53, 57, 58, 59, 62, 101, 302, 322)),
    # socket, socketpair, connect, execve, kill, ptrace, prlimit64, execveat
    "aarch64": (0xC00000B7, 220, 435, (198, 199, 203, 221, 129, 117, 261, 281)),
}
_LOAD, _EQUAL, _ANY_BIT, _RETURN = 0x20, 0x15, 0x45, 0x06  # instructions of the filter
_CALL, _ARCHITECTURE, _FIRST_ARGUMENT = 0, 4, 16  # offsets into what it sees of a call
_ALLOW, _ERROR, _KILL = 0x7FFF0000, 0x00050000, 0x80000000
_NOT_PERMITTED, _NO_SUCH_CALL = 1, 38
_THREAD = 0x10000  # the flag of clone


def confine(folder: Path) -> None:
    """From here on this process writes below `folder` only, and reaches neither the network nor other processes."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    _restrict_writes(libc, folder)
    if platform.machine() in _CALLS:
        _install(libc, _filter(*_CALLS[platform.machine()]))


def _restrict_writes(libc: ctypes.CDLL, folder: Path) -> None:
    version = libc.syscall(_CREATE_RULESET, None, 0, 1)
    if version < 1:
        return
    access = _WRITE_FILE | _REMOVE_AND_MAKE | (_REFER if version >= 2 else 0) | (_TRUNCATE if version >= 3 else 0)
    wanted = struct.pack("<Q", access)
    ruleset = libc.syscall(_CREATE_RULESET, wanted, len(wanted), 0)
    if ruleset < 0:
        return
    for path, allowed in ((folder, access), (Path(os.devnull), access & (_WRITE_FILE | _TRUNCATE))):
        parent = os.open(path, os.O_PATH | os.O_CLOEXEC)
        libc.syscall(_ADD_RULE, ruleset, _PATH_BENEATH, struct.pack("<Qi", allowed, parent), 0)
        os.close(parent)
    libc.syscall(_RESTRICT_SELF, ruleset, 0)
    os.close(ruleset)


def _filter(architecture: int, clone: int, clone3: int, refused: tuple[int, ...]) -> bytes:
    """The program that answers each system call: jumps count the instructions that are skipped."""
    program = [
        *(_step(_LOAD, _ARCHITECTURE), _step(_EQUAL, architecture, 1, 0), _step(_RETURN, _KILL)),
        *(_step(_LOAD, _CALL), _step(_EQUAL, clone3, 0, 1), _step(_RETURN, _ERROR | _NO_SUCH_CALL)),
    ]
    for call in refused:
        program += [_step(_EQUAL, call, 0, 1), _step(_RETURN, _ERROR | _NOT_PERMITTED)]
    program += [
        *(_step(_EQUAL, clone, 0, 3), _step(_LOAD, _FIRST_ARGUMENT), _step(_ANY_BIT, _THREAD, 1, 0)),
        *(_step(_RETURN, _ERROR | _NOT_PERMITTED), _step(_RETURN, _ALLOW)),
    ]
    return b"".join(program)


def _step(operation: int, value: int, then: int = 0, otherwise: int = 0) -> bytes:
    return struct.pack("<HBBI", operation, then, otherwise, value)


def _install(libc: ctypes.CDLL, program: bytes) -> None:
    code = ctypes.create_string_buffer(program, len(program))
    whole = struct.pack("<H6xQ", len(program) // 8, ctypes.addressof(code))
    libc.prctl(_SET_SECCOMP, _FILTER, whole, 0, 0)
