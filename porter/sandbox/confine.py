"""Walls around generated code: folders it may write in, no network, no other process but programs it starts.

Landlock refuses the writes, a filter of system calls the rest; the process keeps both until it ends. Where the kernel
lacks one of them the other still stands: `porter doctor` says which are there.
"""

from __future__ import annotations

import ctypes
import os
import platform
import struct
import sys
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import Path

_NO_NEW_PRIVILEGES, _SET_SECCOMP, _FILTER = 38, 22, 2  # of prctl
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446  # the same on every architecture
_WRITE_FILE, _REMOVE_AND_MAKE, _REFER, _TRUNCATE = 1 << 1, 0x1FF << 4, 1 << 13, 1 << 14
_READ = 1 << 2 | 1 << 3  # files and folders
_PATH_BENEATH = 1


@dataclass(frozen=True, slots=True)
class _Calls:
    """Numbers of system calls: what is refused to all, and what besides to those that may start no program."""

    architecture: int  # of the filter
    clone: int
    clone3: int
    tgkill: int  # with which a process ends itself
    refused: tuple[int, ...]
    starting: tuple[int, ...]


_CALLS = {
    # socket, connect, socketpair, kill, tkill, rt_sigqueueinfo, rt_tgsigqueueinfo, pidfd_send_signal, pidfd_getfd,
    # setpgid, setsid (who leaves the group outlives it), ptrace, process_vm_writev, prlimit64, setrlimit,
    # io_uring_setup (which has sockets of its own), unshare, setns, bpf, perf_event_open;
    # process_vm_readv, fork, vfork, execve, execveat
    "x86_64": _Calls(
        *(0xC000003E, 56, 435, 234),
        (41, 42, 53, 62, 200, 129, 297, 424, 438, 109, 112, 101, 311, 302, 160, 425, 272, 308, 321, 298),
        (310, 57, 58, 59, 322),
    ),
    # the same, but for fork and vfork, which there are none of
    "aarch64": _Calls(
        *(0xC00000B7, 220, 435, 131),
        (198, 203, 199, 129, 130, 138, 240, 424, 438, 154, 157, 117, 271, 261, 164, 425, 97, 268, 280, 241),
        (270, 221, 281),
    ),
}
_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06  # instructions of the filter
_OTHER_NUMBERS = 0x40000000  # from which on calls of x86_64 are those of its other interface, with numbers of their own
_CALL, _ARCHITECTURE, _FIRST_ARGUMENT = 0, 4, 16  # offsets into what it sees of a call
_ALLOW, _ERROR, _KILL = 0x7FFF0000, 0x00050000, 0x80000000
_NOT_PERMITTED, _NO_SUCH_CALL = 1, 38
_THREAD = 0x10000  # the flag of clone


def confine(
    *folders: Path, programs: bool = False, files: Iterable[Path] = (), readable: Collection[Path] = ()
) -> None:
    """From here on this process writes below `folders` and to `files` only, off the network and other processes.

    With `programs` it may start some, which these walls hold, too. Where something is `readable` it reads nothing else.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    _restrict_files(libc, folders, files, readable)
    if platform.machine() in _CALLS:
        _install(libc, _filter(_CALLS[platform.machine()], programs))


def confine_reading(*folders: Path) -> None:
    """From here on this thread, and all that it starts, opens files for reading below `folders` only.

    What is open stays so, and writing is left as it is.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    refer = _REFER if libc.syscall(_CREATE_RULESET, None, 0, 1) >= 2 else 0  # else nothing may be moved at all
    _restrict(libc, _READ | refer, [(Path("/"), refer), *((one, _READ | refer) for one in folders if one.is_dir())])


def python_and_system() -> tuple[Path, ...]:
    """Returns the folders that Python imports from, and those of the system: nobody's own files lie there."""
    packages = (sys.prefix, sys.base_prefix, *sys.path)
    system = ("/usr", "/lib", "/lib64", "/bin", "/etc", "/proc", "/sys", "/dev")
    return tuple(Path(place) for place in (*packages, *system) if place)


def _restrict_files(
    libc: ctypes.CDLL, folders: Iterable[Path], files: Iterable[Path], readable: Collection[Path]
) -> None:
    version = libc.syscall(_CREATE_RULESET, None, 0, 1)
    access = _WRITE_FILE | _REMOVE_AND_MAKE | (_REFER if version >= 2 else 0) | (_TRUNCATE if version >= 3 else 0)
    read = _READ if readable else 0
    written = access & (_WRITE_FILE | _TRUNCATE)  # what a rule for a file may allow
    single = ((file, written) for file in (Path(os.devnull), *files) if not file.is_dir())
    reading = ((place, read) for place in readable if place.is_dir())
    _restrict(libc, access | read, (*((folder, access | read) for folder in folders), *reading, *single))


def _restrict(libc: ctypes.CDLL, access: int, rules: Iterable[tuple[Path, int]]) -> None:
    """Refuses this thread all of `access` but what `rules` allow below places; nothing where there is no Landlock."""
    if libc.syscall(_CREATE_RULESET, None, 0, 1) < 1:
        return
    wanted = struct.pack("<Q", access)
    ruleset = libc.syscall(_CREATE_RULESET, wanted, len(wanted), 0)
    if ruleset < 0:
        return
    for path, allowed in rules:
        if not allowed:
            continue
        parent = os.open(path, os.O_PATH | os.O_CLOEXEC)
        libc.syscall(_ADD_RULE, ruleset, _PATH_BENEATH, struct.pack("<Qi", allowed, parent), 0)
        os.close(parent)
    libc.syscall(_RESTRICT_SELF, ruleset, 0)
    os.close(ruleset)


def _filter(calls: _Calls, programs: bool) -> bytes:
    """The program that answers each system call: jumps count the instructions that are skipped."""
    program = [
        *(_step(_LOAD, _ARCHITECTURE), _step(_EQUAL, calls.architecture, 1, 0), _step(_RETURN, _KILL)),
        *(_step(_LOAD, _CALL), _step(_AT_LEAST, _OTHER_NUMBERS, 0, 1), _step(_RETURN, _ERROR | _NO_SUCH_CALL)),
        *(_step(_EQUAL, calls.clone3, 0, 1), _step(_RETURN, _ERROR | _NO_SUCH_CALL)),
    ]
    for call in calls.refused + (() if programs else calls.starting):
        program += [_step(_EQUAL, call, 0, 1), _step(_RETURN, _ERROR | _NOT_PERMITTED)]
    program += [
        *(_step(_EQUAL, calls.tgkill, 0, 4), _step(_LOAD, _FIRST_ARGUMENT), _step(_EQUAL, os.getpid(), 1, 0)),
        *(_step(_RETURN, _ERROR | _NOT_PERMITTED), _step(_RETURN, _ALLOW)),
    ]
    if not programs:
        program += [
            *(_step(_EQUAL, calls.clone, 0, 3), _step(_LOAD, _FIRST_ARGUMENT), _step(_ANY_BIT, _THREAD, 1, 0)),
            _step(_RETURN, _ERROR | _NOT_PERMITTED),
        ]
    return b"".join((*program, _step(_RETURN, _ALLOW)))


def _step(operation: int, value: int, then: int = 0, otherwise: int = 0) -> bytes:
    return struct.pack("<HBBI", operation, then, otherwise, value)


def _install(libc: ctypes.CDLL, program: bytes) -> None:
    code = ctypes.create_string_buffer(program, len(program))
    whole = struct.pack("<H6xQ", len(program) // 8, ctypes.addressof(code))
    libc.prctl(_SET_SECCOMP, _FILTER, whole, 0, 0)
