"""What host code may do while its calls are planned: each function is a launcher of one kernel, `y = 2 * x`."""

import re
from pathlib import Path

import numpy as np
import pytest

from porter.contract.model.dtype import DType
from porter.execution.job import FaultKind, Job, Limits, TensorValue
from porter_triton.planned_calls import Function
from porter_triton.proof import calls_of

_TEXT = Path(__file__).with_name("planned_calls.py.txt").read_text()
HEAD, *_PIECES = re.split(r"^(?=# --- )", _TEXT, flags=re.MULTILINE)
_HEADS = {piece.partition("\n")[0].removeprefix("# --- "): piece for piece in _PIECES}
HONEST = {head: piece for head, piece in _HEADS.items() if ":" not in head}
CHEATS = {head: piece for head, piece in _HEADS.items() if ":" in head and not head.endswith("WRONG")}
WRONG = {head: piece for head, piece in _HEADS.items() if head.endswith("WRONG")}


@pytest.fixture
def runs(tmp_path):
    """`runs(body)`: four calls of `forward(x)` on 300 numbers, and the faults that show after all of them."""

    def called(body, permitted=frozenset(), count=300, calls=4):
        (tmp_path / "module").mkdir()
        (tmp_path / "work").mkdir()
        path = tmp_path / "module" / "candidate.py"
        path.write_text(HEAD + body)
        job = Job((TensorValue(DType.FLOAT32, (count,), numbers(count)),))
        with calls_of(path, tmp_path / "work", Limits(cpu_s=10.0)) as made:
            function = Function("forward", permitted=permitted)
            return [made.run(function, job) for _ in range(calls)], made.concluded(function)

    return called


@pytest.fixture
def run(runs):
    """`run(body)`: the faults of these calls, and whether all answers are right."""

    def judged(body, permitted=frozenset(), count=300, calls=4):
        done, idle = runs(body, permitted, count, calls)
        right = all(r.finished and np.allclose(r.results[0].storage, 2 * numbers(count), rtol=1e-6) for r in done)
        return [*(fault for r in done for fault in r.faults), *idle], right

    return judged


def numbers(count):
    return np.linspace(-1, 1, count, dtype=np.float32)


@pytest.mark.parametrize("body", HONEST.values(), ids=HONEST)
def test_honest_host_code_is_planned(run, body):
    assert run(body) == ([], True)


@pytest.mark.parametrize("head", CHEATS)
def test_what_no_plan_has_a_step_for_is_refused(run, head):
    faults, _ = run(CHEATS[head])
    assert FaultKind[head.rpartition(": ")[2]] in {fault.kind for fault in faults}


@pytest.mark.parametrize("head", WRONG)
def test_the_plan_that_answers_farthest_off_is_the_one_that_is_judged(run, head):
    _, right = run(WRONG[head], calls=2)
    assert not right


def test_what_the_original_does_on_the_host_is_in_the_plan(run):
    body = "def forward(x):\n    return launch(x, torch.empty_like(x)) * 1\n"
    assert run(body, permitted=frozenset(("mul",))) == ([], True)


def test_a_refusal_is_told_with_the_line_of_the_module(run):
    faults, _ = run("def forward(x):\n    y = launch(x, torch.empty_like(x))\n    return y.relu()\n")
    text = (HEAD + "def forward(x):\n    y\n    return y.relu()\n").splitlines()
    assert {(Path(fault.file).name, text[fault.line - 1].strip()) for fault in faults} == {
        ("candidate.py", "return y.relu()")
    }


def test_the_sides_of_branches_of_host_code_are_in_the_coverage(runs):
    body = """
def block(n):
    return 128 if n > 1000 else 64


def forward(x):
    if x.dim() == 0:
        raise ValueError("it has no axis")
    return launch(x, x.new_empty([e for e in x.shape if e != 0][:block(x.numel())]))
"""
    (first, *_), _ = runs(body, calls=1)
    described = [side.described.partition(": ")[2] for side in first.coverage.missing]
    assert described == ["`n > 1000` is never true", "`e != 0` is never false"]


def test_a_call_that_plans_too_much_does_not_refuse_a_smaller_one(tmp_path):
    path = tmp_path / "candidate.py"
    path.write_text(HEAD + "def forward(x):\n    return [launch(x, torch.empty_like(x)) for _ in x.split(1)][-1]\n")
    long, short = (Job((TensorValue(DType.FLOAT32, (count,), numbers(count)),)) for count in (6_000, 30))
    with calls_of(path, tmp_path, Limits(cpu_s=10.0)) as made:
        assert "more than 5000 steps" in made.plan(Function("forward"), long)
        assert made.run(Function("forward"), short).finished
