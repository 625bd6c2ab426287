"""Output that nobody takes: a full disk behind it, a reader that went away, a stream that the caller closed."""

import subprocess
import sys

import pytest

PORTER = [sys.executable, "-m", "porter"]


def redirected(where, *arguments):
    """A command line as a shell runs it with that redirection behind it."""
    shell = ["sh", "-c", f'"$@" {where}', "sh", *PORTER, *arguments]
    return subprocess.run(shell, check=False, capture_output=True, text=True)


@pytest.mark.parametrize("flags", [(), ("--json",)])
def test_output_that_does_not_fit_is_the_machines_fault(flags):
    done = redirected("> /dev/full", "explain", "PORT1003", *flags)
    assert done.returncode == 3
    assert done.stderr.splitlines()[0] == "error: the machine gave up: No space left on device"
    assert "Traceback" not in done.stderr


def test_a_failure_that_cannot_be_told_as_json_is_told_on_standard_error():
    done = redirected("> /dev/full", "explain", "PORT9999", "--json")
    assert done.returncode == 2
    assert done.stderr.startswith("error: no finding has the code 'PORT9999'\n")
    assert "Traceback" not in done.stderr


def test_a_reader_that_goes_away_hears_no_complaint():
    with subprocess.Popen([*PORTER, "explain"], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 1


@pytest.mark.parametrize("closed", [">&-", "<&- >&- 2>&-"])
@pytest.mark.parametrize("flags", [(), ("--json",)])
def test_what_is_said_to_a_closed_stream_is_lost_and_no_more(closed, flags):
    done = redirected(closed, "explain", "PORT1003", *flags)
    assert (done.returncode, done.stderr) == (0, "")
