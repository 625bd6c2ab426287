"""Tests at which sizes another value of a number shows, and that few runs at larger ones tell that."""

from collections import Counter

import numpy as np
import pytest

from porter.contract.model.contract import Distribution, Role, ScalarArg, Workload
from porter.contract.model.dtype import DType
from porter.contract.probe.other_values import other_values
from porter.execution.job import LaunchRecord, Run, TensorValue

TINY, ODD = 3, 131
LAUNCHED = (LaunchRecord("k", (1, 1, 1), (32, 1, 1), 0, 3),)


class Original:
    """Answers with those of its numbers that show at the sizes it is run at, and counts runs by size."""

    def __init__(self, shown, refused=()):
        self.shown, self.refused, self.runs = shown, refused, Counter[int]()

    def exact(self, contract, sizes, **_):
        """The run of a contract with the values that it holds."""
        self.runs[sizes["n"]] += 1
        values = {a.name: float(a.value) for a in contract.arguments if isinstance(a, ScalarArg)}
        answer = np.array([values[name] for name in self.shown[sizes["n"]]], np.float32)
        output = TensorValue(DType.FLOAT32, answer.shape, answer)
        return Run(True, 0, (output,), (), (), (), LAUNCHED, (), "", "", 0.0)

    def clean(self, contract, sizes, contents=Distribution.DECLARED):
        """Returns whether it takes these sizes."""
        return sizes["n"] not in self.refused

    def unwritten(self, contract, sizes):
        """Returns whether it leaves anything unwritten."""
        return False

    def ordered(self, contract, sizes):
        """Returns whether the order of threads changes nothing."""
        return True


@pytest.fixture
def numbered(contract, tensor):
    """A contract with three numbers and a tiny and an odd workload."""
    numbers = [ScalarArg(name, "int", "1") for name in ("a", "b", "c")]
    workloads = (Workload("tiny", {"n": TINY}, 1), Workload("odd", {"n": ODD}, 2))
    return contract(tensor("y", "n", role=Role.OUT), *numbers, workloads=workloads)


@pytest.mark.parametrize(
    ("tiny", "odd", "chosen", "runs_at_odd"),
    [
        ("abc", "abc", TINY, 0),  # nothing is left that larger sizes could show
        ("ab", "ab", TINY, 3),  # one run that takes the values, told and without `c`
        ("", "", TINY, 5),
        ("ab", "abc", ODD, 6),
        ("a", "b", TINY, 6),  # another one shows, but no more of them
        ("a", "bc", ODD, 6),
    ],
)
def test_larger_sizes_are_taken_where_more_numbers_show_and_only_asked_about_these(
    numbered, tiny, odd, chosen, runs_at_odd
):
    original = Original({TINY: tiny, ODD: odd})
    (workload,) = other_values(numbered, original, {})
    assert workload.sizes == {"n": chosen}
    assert workload.scalars == {"a": 2, "b": 3, "c": 4}
    assert original.runs[ODD] == runs_at_odd


def test_sizes_that_the_original_does_not_take_show_nothing(numbered):
    (workload,) = other_values(numbered, Original({TINY: "", ODD: "abc"}, refused=(TINY,)), {})
    assert workload.sizes == {"n": ODD}
    (workload,) = other_values(numbered, Original({TINY: "", ODD: "abc"}, refused=(ODD,)), {})
    assert workload.sizes == {"n": TINY}
