"""The border of evaluation: records that are read as they were written, on whichever machine, and their schema."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from porter.branch_coverage import BranchCoverage, Side
from porter.contract.model.contract import Workload
from porter.contract.model.dtype import DType
from porter.diagnostics.findings import Finding, Severity
from porter.evaluate.model.outcome import Checked, Crashed, Fidelity, NotBuilt, NotVerified, Refused, Verified, Wrong
from porter.evaluate.model.speed import Baseline, Measured
from porter.evolve.candidate import File
from porter.evolve.scored import Measure, Score
from porter.evolve.scoring.cost import Cost
from porter.evolve.scoring.evaluation import Evaluation, EvaluationRequest, Problem, Program, content_of, digest_of
from porter.evolve.scoring.evaluation_schema import schema
from porter.execution.job import Fault, FaultKind
from porter.launch_plan.wire import WireError, decode, encode_portable
from porter.measure.environment import DeviceState, Environment
from porter.measure.interleave import Ratio, Stopped
from porter.measure.timing import Timing
from porter.source_text import Source, Span

STATE = DeviceState(1980, 2619, 300.0, 45, (), 0)
ENVIRONMENT = Environment("H100", "GPU-1", "570", "12.8", 132, 50 << 20, 1980, "2.13", "3.6", "", "1", "", STATE, STATE)
WORKLOAD = Workload("odd", {"n": 1003, "is": 2}, 1, dtypes={"x": DType.FLOAT32})
MEASURED = Measured(
    WORKLOAD, Fidelity.NATIVE, Timing((1.5, 2.0)), (Baseline("seed", Timing((3.0,)), Ratio(0.5, (0.4, 0.6))),), (), "",
    Stopped.NARROW, 0, 8024, 3e12, ENVIRONMENT,
)  # fmt: skip
CHECKED = Checked("odd", None, float("nan"), float("inf"), True)
SIDES = frozenset({Side("a.py", 3, 1, "true", "n > 1"), Side("a.py", 3, 1, "false", "n > 1")})
VERIFIED = Verified((CHECKED,), "rows of one were not compared", ("sm_90",), BranchCoverage(SIDES, SIDES))
SCORE = Score(Measure.NATIVE, 2.0, 1.9, 2.1)
COST = Cost(3.0, ("a launch",), 1e6, 4, "abc")
FINDING = Finding("PORT6001", Severity.ERROR, "it calls the library", Span(0, 1, 3, 1), source=Source(Path("a.py"), ""))
OUTCOMES = [
    Wrong("element 3", (replace(CHECKED, max_abs_error=0.5),)),
    Crashed("out of bounds", (), (Fault(FaultKind.OUT_OF_BOUNDS, "a.cu", 3, "k", "7 of 4", fatal=True),)),
    NotBuilt("no such name", "a.cu:1: error"),
    NotVerified("too slow", too_slow=True),
    Refused("PORT6001", (FINDING,)),
]
REQUEST = EvaluationRequest("a" * 64, "b" * 64, 7, Fidelity.EMULATED, 60.0)
PROBLEM = Problem("a.cu", (File("a.cu", "int x;"),), "", "triton", "sm_90", (), "", False, Program(()), 20.0)


@pytest.mark.parametrize("outcome", OUTCOMES, ids=lambda outcome: outcome.label)
def test_every_outcome_crosses_the_border_whole(outcome):
    evaluation = Evaluation(outcome, environment={"torch": "2.13"}, seconds=1.5)
    assert decode(Evaluation, encode_portable(evaluation)) == evaluation


def test_samples_and_what_is_no_number_cross_the_border_in_json_that_everybody_reads():
    evaluation = Evaluation(VERIFIED, SCORE, "twice as fast", "abc", (MEASURED,), (COST,))
    text = encode_portable(evaluation)
    json.loads(text, parse_constant=pytest.fail)
    read = decode(Evaluation, text)
    assert read.times == (MEASURED,)
    assert encode_portable(read) == text
    (checked,) = read.outcome.checked
    assert checked.max_abs_error != checked.max_abs_error
    assert checked.max_rel_error == float("inf")
    assert read.outcome.coverage == VERIFIED.coverage


def test_equal_contents_have_one_digest_whatever_they_hold():
    first, second = Program((File("a", "x"),)), Program((File("a", "y"),))
    assert digest_of(content_of(first)) != digest_of(content_of(second))
    assert digest_of(content_of(PROBLEM)) == digest_of(content_of(replace(PROBLEM)))
    assert decode(Problem, content_of(PROBLEM)) == PROBLEM


@pytest.mark.parametrize(
    ("said", "instead"),
    [
        ('"version":2', '"version":1'), ('"deadline_s":60.0', '"deadline_s":0'), ('"seed":7', '"seed":"7"'),
        ('"deadline_s":60.0', '"deadline_s":"NaN"'), ('"seed":7', '"seed":7,"more":1'), ("emulated", "imagined"),
    ],
)  # fmt: skip
def test_a_request_that_is_none_is_refused(said, instead):
    text = encode_portable(REQUEST)
    assert decode(EvaluationRequest, text) == REQUEST
    assert said in text
    with pytest.raises(WireError):
        decode(EvaluationRequest, text.replace(said, instead))


def test_only_what_is_verified_has_a_score():
    with pytest.raises(ValueError, match="only what is verified has a score"):
        Evaluation(NotVerified("too slow"), SCORE)


def test_the_schema_knows_every_key_that_is_written():
    definitions = schema()["$defs"]
    written = [Evaluation(outcome) for outcome in OUTCOMES]
    written += [Evaluation(VERIFIED, SCORE, times=(MEASURED,), costs=(COST,)), REQUEST, PROBLEM]
    for record in written:
        stack = [json.loads(encode_portable(record))]
        while stack:
            value = stack.pop()
            if isinstance(value, dict) and isinstance(value.get("is"), str):
                assert value.keys() == definitions[value["is"]]["properties"].keys()
            stack.extend(value.values() if isinstance(value, dict) else value if isinstance(value, list) else ())
