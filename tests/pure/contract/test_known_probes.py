"""Settling a contract that was broken off goes on where it was, but for runs that hang on a limit."""

from dataclasses import replace

import pytest

from porter.contract.model.contract import Contract, Role, ScalarArg
from porter.contract.model.questions import extent_question
from porter.contract.probe.confirm import confirm
from porter.contract.probe.known_probes import KnownProbes
from porter.execution.job import Fault, FaultKind, LaunchRecord, Run, Touched

LAUNCHED = (LaunchRecord("k", (1, 1, 1), (32, 1, 1), 0, 3),)


class BrokenOff(BaseException):
    """The time is over."""


class Original:
    """Touches `n` floats of each of two buffers, in runs of `seconds`; is broken off at its run number `last`."""

    def __init__(self, seconds=0.01, last=1000):
        self.seconds, self.last, self.sizes = seconds, last, list[int]()

    def __call__(self, job):
        """The run of a job."""
        if len(self.sizes) == self.last:
            raise BrokenOff
        count = job.arguments[2].value
        self.sizes.append(count)
        touched = (Touched(4 * count, 0, 0), Touched(0, 4 * count, 0))
        outputs = tuple(value for value in job.arguments[:2])
        return Run(True, 0, outputs, (), (), touched, LAUNCHED, (), "", "", self.seconds)


@pytest.fixture
def drafted(contract, tensor) -> Contract:
    """A contract that does not say how long its buffers are."""
    arguments = (tensor("x", "n"), tensor("y", "n", role=Role.INOUT), ScalarArg("n", "int", "n"))
    return replace(contract(*arguments), questions=tuple(extent_question(name) for name in "xy"))


def probes_of(drafted, original, known):
    """Returns how many runs settling makes, and what it finds."""
    before = len(original.sizes)
    found = confirm(drafted, original, {}, known).contract
    return len(original.sizes) - before, [t.shape for t in found.tensors]


def test_one_that_was_broken_off_is_not_begun_anew(drafted):
    alone, shapes = probes_of(drafted, Original(), KnownProbes())
    assert shapes == [("n",), ("n",)]
    known, broken = KnownProbes(), Original(last=5)
    with pytest.raises(BrokenOff):
        confirm(drafted, broken, {}, known)
    again, same = probes_of(drafted, Original(), known)
    assert same == shapes
    assert again == alone - 5


def test_in_brief_those_that_took_long_are_made_again(drafted):
    known, slow = KnownProbes(), Original(seconds=0.5)
    alone, _ = probes_of(drafted, slow, known)
    brief, _ = probes_of(drafted, Original(), known.within(0.25))
    assert brief == probes_of(drafted, Original(), KnownProbes())[0]
    longer, _ = probes_of(drafted, Original(seconds=0.5), known.within(1.0))
    assert longer < alone


@pytest.mark.parametrize(("kind", "is_made_again"), [(FaultKind.TIMEOUT, True), (FaultKind.OUT_OF_BOUNDS, False)])
def test_one_that_reached_its_limit_may_go_on(kind, is_made_again):
    known, made = KnownProbes(), []

    def make():
        made.append(kind)
        return Run(False, 1, (), (), (), (), (), (Fault(kind, "op.cu", 3, "k", "broken"),), "", "", 0.1)

    known.get(("n", 3), make)
    known.get(("n", 3), make)
    assert (len(made) == 2) == is_made_again
