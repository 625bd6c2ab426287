"""What a process behind the walls cannot do, asked of the system itself: past Python and its modules."""

import ctypes
import platform
import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(platform.machine() != "x86_64", reason="numbers of calls are those of x86_64")

BEGIN = """
import ctypes, os, signal
from pathlib import Path
from porter.sandbox.confine import confine
confine(Path({folder!r}), programs={programs})
call = ctypes.CDLL(None, use_errno=True).syscall
"""
REFUSED = {
    "a signal to the parent's thread": "call(234, os.getppid(), os.getppid(), 9)",
    "a signal to any thread": "call(200, os.getppid(), 9)",
    "a queued signal to a thread": "call(297, os.getppid(), os.getppid(), 9, ctypes.create_string_buffer(128))",
    "limits of its own, the old way": "call(160, 0, ctypes.create_string_buffer(b'\\xff' * 16, 16))",
    "sockets through a ring": "call(425, 4, ctypes.create_string_buffer(120))",
    "a namespace of its own": "call(272, 0x10000000)",
    "files of another process": "call(438, 0, 0, 0)",
    "the other numbers of calls": "call(0x40000000 | 41, 1, 1, 0)",
    "a socket": "call(41, 1, 1, 0)",
}


def ran(folder, code, programs=False) -> subprocess.CompletedProcess:
    text = BEGIN.format(folder=str(folder), programs=programs) + code
    return subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.parametrize("programs", [False, True])
@pytest.mark.parametrize("code", REFUSED.values(), ids=REFUSED)
def test_a_call_is_refused(tmp_path, code, programs):
    done = ran(tmp_path, f"print({code} == -1 and ctypes.get_errno() in (1, 38))", programs)
    assert done.stdout.strip() == "True", done.stderr


def test_memory_of_others_is_not_read_by_what_starts_no_program(tmp_path):
    assert ran(tmp_path, "print(call(310, os.getppid(), 0, 0, 0, 0, 0), ctypes.get_errno())").stdout.split() == [
        "-1",
        "1",
    ]


def test_a_process_may_end_itself(tmp_path):
    assert ran(tmp_path, "os.abort()").returncode == -6
    assert ran(tmp_path, "signal.raise_signal(signal.SIGTERM)").returncode == -15


def test_the_parent_s_memory_is_no_file_to_read(tmp_path):
    if ctypes.CDLL(None).syscall(444, None, 0, 1) < 1:
        pytest.skip("the system has no Landlock")
    done = ran(tmp_path, "open(f'/proc/{os.getppid()}/mem', 'rb')")
    assert "PermissionError" in done.stderr
