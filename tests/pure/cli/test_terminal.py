"""Colours for a terminal, plain text for a pipe."""

import os
import subprocess
import sys

import pytest

ESCAPE = b"\x1b["


def on_a_terminal(*arguments):
    """What a command line prints to a terminal of its own."""
    ours, theirs = os.openpty()
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "80"}
    environment.pop("NO_COLOR", None)
    command = [sys.executable, "-m", "porter", *arguments]
    with subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, env=environment) as process:
        os.close(theirs)
        shown = b""
        try:
            while data := os.read(ours, 4096):
                shown += data
        except OSError:  # the other end is closed
            pass
        os.close(ours)
    return process.returncode, shown


def test_a_terminal_gets_colours():
    code, shown = on_a_terminal("explain", "PORT1003")
    assert code == 0
    assert ESCAPE in shown
    code, shown = on_a_terminal("explain", "PORT9999")
    assert code == 2
    assert ESCAPE in shown
    assert b"error: " in shown


@pytest.mark.parametrize("arguments", [["explain", "PORT1003"], ["doctor"], ["explain"]])
def test_a_pipe_gets_plain_text(porter, arguments):
    assert "\x1b" not in porter(*arguments).stdout


def test_json_on_a_terminal_is_json():
    _, shown = on_a_terminal("explain", "PORT1003", "--json")
    assert ESCAPE not in shown
    assert shown.lstrip().startswith(b"{")
