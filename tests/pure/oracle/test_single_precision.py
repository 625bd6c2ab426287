"""Outputs of doubles that an original computes in floats, known from other workloads of the same choice."""

from dataclasses import replace
from pathlib import Path

from porter.contract.model.contract import Contract, Entry, EntryKind, Role, TensorArg, Workload
from porter.contract.model.dtype import DType
from porter.execution.job import Job, Run
from porter.oracle.outputs import Outputs
from porter.oracle.reference import Expected, examine
from porter.oracle.single_precision import as_seen_before, in_single_precision
from porter.source.parse import parse
from porter.source_text import Source

PROGRAM = parse(Source(Path("k.cu"), "__global__ void k(double* y, int n) { y[0] = 0; }\n"))
CONTRACT = Contract(
    "k", "other", Entry(EntryKind.POINTER, "k"), (TensorArg("y", Role.OUT, DType.FLOAT64, ("n",)),), ("n",), (),
    (Workload("small", {"n": 3}, 1),), {},
)  # fmt: skip


def refused(_: Job) -> Run:
    """A twin whose floats take more shared memory than there is."""
    return Run(False, 1, (), (), (), (), (), (), "", "", 0.0)


def test_what_one_workload_showed_holds_where_the_twin_refuses_the_sizes():
    large = examine(CONTRACT, PROGRAM, refused)
    of = {"small": {"dtypes": {}}, "half": {"dtypes": {"y": DType.FLOAT16}}}
    shown, other, asked = (
        Expected(Workload(name, {"n": 3}, 1, **of[kind]), Outputs(()), None, single=single)
        for name, kind, single in (
            ("small", "small", frozenset({"y"})), ("half", "half", frozenset()), ("large", "small", frozenset()),
        )
    )  # fmt: skip

    def reference(*expected: Expected):
        return replace(large, expected=expected)

    before = reference(shown, other)
    known = as_seen_before(reference(asked), before)
    assert known.expected[0].single == {"y"}
    assert in_single_precision(known, refused, refused).expected[0].single == {"y"}, "what is known is kept"
    assert not as_seen_before(reference(other), before).expected[0].single
