"""A proof that is broken off is not verified at the limit, and the caller's affair before."""

import time
from dataclasses import dataclass

import pytest

from porter.evaluate.judge.prove import Prover
from porter.evaluate.model.outcome import NotVerified
from porter.measure.deadline import Deadline


@dataclass(frozen=True)
class Endless(Prover):
    """Proves nothing, for as long as it may."""

    def _proofs(self, contracts, steps):
        steps("waiting")
        time.sleep(30)
        yield from ()


@pytest.fixture
def prove(sum_contract):
    def proving(deadline):
        return Endless(None, None, {}, None, deadline=deadline).prove([sum_contract], lambda _: None)

    return proving


def test_at_the_limit_an_entry_is_not_verified(prove):
    deadline = Deadline(0.1)
    with deadline.running():
        (proof,) = prove(deadline)
    assert isinstance(proof.entry.outcome, NotVerified)
    assert "while waiting" in proof.entry.outcome.because


def test_at_the_end_of_a_span_of_the_caller_nothing_goes_on_in_it(prove):
    deadline, after = Deadline(30.0), []
    with deadline.running():
        with deadline.span(0.1) as span:
            after.append(prove(deadline))
        assert span.passed
        assert not deadline.passed
    assert after == []
