"""Processes of a suite: what they answer, however large the environment is, and how their end is told."""

import pytest

from porter.suite.children import Children
from porter.suite.result import ERROR, TIMEOUT

FINDING = "PORT1003"


def ran(statement):
    """Returns the words of a module that runs a statement."""
    return ("timeit", "-n", "1", "-r", "1", statement)


def test_a_command_answers_with_its_document():
    assert Children(1, 60.0).ask("porter", "explain", FINDING, "--json")["code"] == FINDING


def test_an_environment_of_any_size_is_handed_on(monkeypatch):
    names = [f"PORTER_TEST_{number}" for number in range(4)]
    for name in names:
        monkeypatch.setenv(name, "x" * 60_000)
    told = f"print(json.dumps({{name: len(os.environ[name]) for name in {names}}}), flush=True)"
    answer = Children(1, 60.0).ask(*ran(f"import json, os; {told}; os._exit(0)"))
    assert answer == dict.fromkeys(names, 60_000)


@pytest.mark.parametrize(
    ("statement", "outcome", "said"),
    [
        ("import time; time.sleep(60)", TIMEOUT, "no answer in 1 s"),
        ("import os; os.kill(os.getpid(), 9)", ERROR, "killed: most likely the machine ran out of memory"),
        ("raise OSError('the disk is full')", ERROR, "OSError: the disk is full"),
        ("import os; os._exit(7)", ERROR, "ended with exit code 7 and no message"),
    ],
)
def test_a_process_without_an_answer_says_why(statement, outcome, said):
    answer = Children(1, 1.0 if outcome == TIMEOUT else 60.0).ask(*ran(statement))
    assert (answer["outcome"], answer["error"]["message"]) == (outcome, said)
