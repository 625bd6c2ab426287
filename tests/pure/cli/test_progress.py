"""What a command is doing, off a terminal: a line now and then."""

import io
import time

from porter.cli.progress import lines_now_and_then


def test_a_log_gets_the_current_step_now_and_then():
    log = io.StringIO()
    with lines_now_and_then(log, period_s=0.02) as show:
        show("building softmax")
        time.sleep(0.1)
        show("comparing softmax")
        time.sleep(0.1)
    lines = log.getvalue().splitlines()
    assert lines[0] == "[0 s] building softmax"
    assert lines[-1] == "[0 s] comparing softmax"
    assert len(lines) < 12


def test_what_is_quick_says_nothing_and_nothing_is_said_after_the_end():
    log = io.StringIO()
    with lines_now_and_then(log, period_s=0.05) as show:
        show("reading softmax.cu")
    time.sleep(0.1)
    assert not log.getvalue()


def test_a_log_that_nobody_reads_ends_nothing():
    log = io.StringIO()
    log.close()
    with lines_now_and_then(log, period_s=0.01):
        time.sleep(0.05)
