"""The number of its parameters says how a candidate's function is called."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from porter.contract.model.contract import Contract, Entry, EntryKind, Role, ScalarArg, TensorArg, Workload
from porter.contract.model.dtype import DType
from porter.evaluate.judge.calling import Called
from porter.evaluate.judge.judge import Candidate
from porter.evaluate.judge.ported import Signature
from porter.evaluate.model.outcome import NotBuilt
from porter.execution.job import FaultKind, Run, ScalarValue, TensorValue
from porter.oracle.jobs import job
from porter_triton.callables import functions_of

X, Y = TensorArg("x", Role.IN, DType.FLOAT32, ("n",)), TensorArg("y", Role.OUT, DType.FLOAT32, ("n",))
N, SCALE = ScalarArg("n", "int", "n"), ScalarArg("scale", "float", "0.5")
TINY = Workload("tiny", {"n": 3}, 1)


def contract(*arguments, kind=EntryKind.POINTER, name="op"):
    return Contract(name, "other", Entry(kind, name), arguments, ("n",), (), (TINY,), {})


class Doubles:
    """A candidate that doubles x: into the tensor behind it if it is given one, else as its result."""

    warp_sizes = ()
    runs_programs = False

    def __init__(self, **functions):
        self.functions = functions
        self.given = []

    def named(self, entry):
        return entry.name if entry.name in self.functions else ""

    def signatures(self, function):
        return (self.functions[function],) if function in self.functions else ()

    def candidates(self, contracts):
        return tuple((Candidate(None, self.execute),) for _ in contracts)

    def execute(self, given):
        self.given.append(given.arguments)
        tensors = [a for a in given.arguments if isinstance(a, TensorValue)]
        x, *others = sorted(tensors, key=lambda a: bool((a.storage.view(np.uint32) == 0xFFFFFFFF).all()))
        doubled = replace(x, storage=x.storage * 2)
        written = tuple(doubled if any(a is other for other in others) else a for a in tensors)
        outputs, results = (written, ()) if others else ((x,), (doubled,))
        return Run(True, 0, outputs, results, (), (), (), (), "", "", 0.0)


def takes(*parameters, required=None, variadic=False):
    return Signature(parameters, len(parameters) if required is None else required, variadic)


def called(candidate, asked, entry=""):
    (found,) = Called(candidate, entry).candidates([asked])
    return found if isinstance(found, NotBuilt) else found[0].execute(job(asked, TINY))


@pytest.mark.parametrize(
    ("signature", "arguments"),
    [
        (takes("a", "b", "c", "d"), 4),
        (takes("a", "b", "c"), 3),
        (takes("a"), 1),
        (takes("x", "n", "scale", required=1), 3),
        (takes("x", "eps", required=1), 1),
        (takes(required=0, variadic=True), 4),
        (takes("scale", "x"), 2),
        (takes("y", "x", "scale"), 3),
        (takes("x", "scale", "block", required=2), 2),
    ],
    ids=[
        "everything",
        "inputs and numbers",
        "inputs",
        "names agree with numbers",
        "another default",
        "any number",
        "by name",
        "outputs by name",
        "a name of its own",
    ],
)
def test_outputs_come_back_in_their_places(signature, arguments):
    candidate = Doubles(forward=signature)
    run = called(candidate, contract(X, Y, N, SCALE))
    assert [len(given) for given in candidate.given] == [arguments]
    x, y = run.outputs
    assert np.array_equal(y.storage, x.storage * 2)
    assert run.results == ()


@pytest.mark.parametrize(
    ("signature", "arguments"),
    [
        (takes("a", "b", "c", "d", "e"), 5),
        (takes("a", "b", "c", "d", "stream", required=4), 4),
        (takes("a", "b", "c", "d"), 4),
        (takes("a", "b", "c"), 3),
        (takes("a"), 1),
    ],
    ids=["everything", "a stream by default", "no stream", "inputs and numbers", "inputs"],
)
def test_a_stream_is_left_out_before_an_output(signature, arguments):
    candidate = Doubles(forward=signature)
    run = called(candidate, contract(X, Y, N, SCALE, ScalarArg("stream", "cudaStream_t", "0")))
    assert [len(given) for given in candidate.given] == [arguments]
    x, y = run.outputs
    assert np.array_equal(y.storage, x.storage * 2)


def test_numbers_are_handed_over_in_order():
    candidate = Doubles(forward=takes("a", "b", "c"))
    called(candidate, contract(X, N, Y, SCALE))
    assert [a.value for a in candidate.given[0] if isinstance(a, ScalarValue)] == [3, 0.5]


def test_the_function_is_the_entry_that_is_given_or_named_or_forward():
    both = Doubles(op=takes("x", "y"), forward=takes("x"))
    for entry, count in (("", 2), ("forward", 1), ("op", 2)):
        called(both, contract(X, Y), entry)
        assert len(both.given[-1]) == count


@pytest.mark.parametrize(
    ("functions", "entry", "message"),
    [
        ({}, "", "defines no function 'op' or 'forward' (another: --entry)"),
        ({"op": takes("x", "y")}, "other", "defines no function 'other'"),
        (
            {"forward": takes("a", "b", "c", "d")},
            "",
            "forward(a, b, c, d) does not take (x, y, n) or (x, n) or (x), which",
        ),
        ({"forward": takes()}, "", "forward() does not take"),
    ],
)
def test_what_cannot_be_called_says_what_was_expected(functions, entry, message):
    assert message in called(Doubles(**functions), contract(X, Y, N), entry).because


def test_a_result_that_is_missing_is_a_fault_of_the_candidate():
    silent = Doubles(forward=takes("x"))
    silent.execute = lambda given: Run(True, 0, given.arguments, (), (), (), (), (), "", "", 0.0)
    run = called(silent, contract(X, Y))
    assert not run.finished
    assert [(f.kind, f.message) for f in run.faults] == [
        (FaultKind.HOST_CHECK, "forward has to return 1 tensors (y), and returned 0")
    ]


def test_one_function_does_not_answer_for_several_entries():
    found = Called(Doubles(forward=takes("x"))).candidates([contract(X, Y), contract(X, Y, name="other")])
    assert all("'forward' cannot answer for each of op, other" in because.because for because in found)


def test_a_pointer_counts_elements_whatever_their_shape():
    square = Doubles(forward=takes("x"))
    plain = square.execute
    square.execute = lambda given: (
        run := plain(given),
        replace(run, results=tuple(replace(r, shape=(3, 1), storage=r.storage.reshape(3, 1)) for r in run.results)),
    )[1]
    assert called(square, contract(X, Y)).outputs[1].shape == (3,)
    assert called(square, contract(X, Y, kind=EntryKind.TORCH)).outputs[1].shape == (3, 1)


def test_what_is_returned_for_a_null_pointer_counts_for_nothing():
    candidate = Doubles(forward=takes("x"))
    asked = contract(X, replace(Y, optional=True))
    ((found,),) = Called(candidate).candidates([asked])
    run = found.execute(job(asked, replace(TINY, scalars={"y": 0})))
    assert run.finished
    assert run.outputs[1].null


def test_signatures_are_read_from_the_text_of_a_module_and_the_files_beside_it(tmp_path):
    (tmp_path / "inner.py").write_text("def softmax(x, *, eps=1e-5): ...\n")
    main = tmp_path / "main.py"
    main.write_text(
        "from inner import softmax as forward\nsame = forward\ndef f(x, n=1, *rest): ...\ng = lambda a: a\n"
    )
    found = functions_of(main)
    assert found["forward"] == found["same"] == takes("x")
    assert found["f"] == takes("x", "n", required=1, variadic=True)
    assert found["g"] == takes("a")
    Path(main).write_text("def broken(:\n")
    assert functions_of(main) == {}
